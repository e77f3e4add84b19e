//! `repeated-entry`.

use crate::code::{Code, Page, Severity};

/// IN023 `repeated-entry`.
pub static REPEATED_ENTRY: Code = Code {
    code: "IN023",
    name: "repeated-entry",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
