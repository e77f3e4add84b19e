//! `unanswered-call`.

use crate::code::{Code, Page, Severity};

/// TL002 `unanswered-call`.
pub static UNANSWERED_CALL: Code = Code {
    code: "TL002",
    name: "unanswered-call",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
