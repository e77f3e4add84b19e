//! `unknown-timezone`.

use crate::code::{Code, Page, Severity};

/// TM004 `unknown-timezone`.
pub static UNKNOWN_TIMEZONE: Code = Code {
    code: "TM004",
    name: "unknown-timezone",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
