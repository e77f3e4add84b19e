//! `invalid-json`.

use crate::code::{Code, Page, Severity};

/// IN001 `invalid-json`.
pub static INVALID_JSON: Code = Code {
    code: "IN001",
    name: "invalid-json",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
