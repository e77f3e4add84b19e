//! `unsafe-entry-name`.

use crate::code::{Code, Page, Severity};

/// IN012 `unsafe-entry-name`.
pub static UNSAFE_ENTRY_NAME: Code = Code {
    code: "IN012",
    name: "unsafe-entry-name",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
