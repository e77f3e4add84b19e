//! `reference-cycle`.

use crate::code::{Code, Page, Severity};

/// RF003 `reference-cycle`.
pub static REFERENCE_CYCLE: Code = Code {
    code: "RF003",
    name: "reference-cycle",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
