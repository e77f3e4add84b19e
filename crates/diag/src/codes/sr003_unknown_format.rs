//! `unknown-format`.

use crate::code::{Code, Page, Severity};

/// SR003 `unknown-format`.
pub static UNKNOWN_FORMAT: Code = Code {
    code: "SR003",
    name: "unknown-format",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
