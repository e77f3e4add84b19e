//! `document-too-large`.

use crate::code::{Code, Page, Severity};

/// IN020 `document-too-large`.
pub static DOCUMENT_TOO_LARGE: Code = Code {
    code: "IN020",
    name: "document-too-large",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
