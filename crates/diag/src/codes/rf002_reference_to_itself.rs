//! `reference-to-itself`.

use crate::code::{Code, Page, Severity};

/// RF002 `reference-to-itself`.
pub static REFERENCE_TO_ITSELF: Code = Code {
    code: "RF002",
    name: "reference-to-itself",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
