//! `missing-field`.

use crate::code::{Code, Page, Severity};

/// SR001 `missing-field`.
pub static MISSING_FIELD: Code = Code {
    code: "SR001",
    name: "missing-field",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
