//! `invalid-utf8`.

use crate::code::{Code, Page, Severity};

/// IN002 `invalid-utf8`.
pub static INVALID_UTF8: Code = Code {
    code: "IN002",
    name: "invalid-utf8",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
