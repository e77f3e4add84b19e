//! `corrupt-stream`.

use crate::code::{Code, Page, Severity};

/// IN018 `corrupt-stream`.
pub static CORRUPT_STREAM: Code = Code {
    code: "IN018",
    name: "corrupt-stream",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
