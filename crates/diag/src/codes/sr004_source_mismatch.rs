//! `source-mismatch`.

use crate::code::{Code, Page, Severity};

/// SR004 `source-mismatch`.
pub static SOURCE_MISMATCH: Code = Code {
    code: "SR004",
    name: "source-mismatch",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
