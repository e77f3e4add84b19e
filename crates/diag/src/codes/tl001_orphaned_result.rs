//! `orphaned-result`.

use crate::code::{Code, Page, Severity};

/// TL001 `orphaned-result`.
pub static ORPHANED_RESULT: Code = Code {
    code: "TL001",
    name: "orphaned-result",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
