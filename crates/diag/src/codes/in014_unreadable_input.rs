//! `unreadable-input`.

use crate::code::{Code, Page, Severity};

/// IN014 `unreadable-input`.
pub static UNREADABLE_INPUT: Code = Code {
    code: "IN014",
    name: "unreadable-input",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
