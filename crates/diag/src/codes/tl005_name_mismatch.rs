//! `name-mismatch`.

use crate::code::{Code, Page, Severity};

/// TL005 `name-mismatch`.
pub static NAME_MISMATCH: Code = Code {
    code: "TL005",
    name: "name-mismatch",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
