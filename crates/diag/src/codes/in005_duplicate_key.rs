//! `duplicate-key`.

use crate::code::{Code, Page, Severity};

/// IN005 `duplicate-key`.
pub static DUPLICATE_KEY: Code = Code {
    code: "IN005",
    name: "duplicate-key",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
