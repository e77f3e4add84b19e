//! `preview-mismatch`.

use crate::code::{Code, Page, Severity};

/// RF005 `preview-mismatch`.
pub static PREVIEW_MISMATCH: Code = Code {
    code: "RF005",
    name: "preview-mismatch",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
