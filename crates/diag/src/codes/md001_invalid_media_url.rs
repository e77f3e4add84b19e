//! `invalid-media-url`.

use crate::code::{Code, Page, Severity};

/// MD001 `invalid-media-url`.
pub static INVALID_MEDIA_URL: Code = Code {
    code: "MD001",
    name: "invalid-media-url",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
