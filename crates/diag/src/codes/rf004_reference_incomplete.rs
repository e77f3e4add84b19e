//! `reference-incomplete`.

use crate::code::{Code, Page, Severity};

/// RF004 `reference-incomplete`.
pub static REFERENCE_INCOMPLETE: Code = Code {
    code: "RF004",
    name: "reference-incomplete",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
