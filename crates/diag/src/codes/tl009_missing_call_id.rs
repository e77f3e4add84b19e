//! `missing-call-id`.

use crate::code::{Code, Page, Severity};

/// TL009 `missing-call-id`.
pub static MISSING_CALL_ID: Code = Code {
    code: "TL009",
    name: "missing-call-id",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
