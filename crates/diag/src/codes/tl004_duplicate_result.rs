//! `duplicate-result`.

use crate::code::{Code, Page, Severity};

/// TL004 `duplicate-result`.
pub static DUPLICATE_RESULT: Code = Code {
    code: "TL004",
    name: "duplicate-result",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
