//! `result-before-call`.

use crate::code::{Code, Page, Severity};

/// TL003 `result-before-call`.
pub static RESULT_BEFORE_CALL: Code = Code {
    code: "TL003",
    name: "result-before-call",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
