//! `unknown-version`.

use crate::code::{Code, Page, Severity};

/// SR005 `unknown-version`.
pub static UNKNOWN_VERSION: Code = Code {
    code: "SR005",
    name: "unknown-version",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
