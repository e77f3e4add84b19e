//! `empty-input`.

use crate::code::{Code, Page, Severity};

/// IN015 `empty-input`.
pub static EMPTY_INPUT: Code = Code {
    code: "IN015",
    name: "empty-input",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
