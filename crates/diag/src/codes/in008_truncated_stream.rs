//! `truncated-stream`.

use crate::code::{Code, Page, Severity};

/// IN008 `truncated-stream`.
pub static TRUNCATED_STREAM: Code = Code {
    code: "IN008",
    name: "truncated-stream",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
