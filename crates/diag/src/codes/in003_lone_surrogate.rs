//! `lone-surrogate`.

use crate::code::{Code, Page, Severity};

/// IN003 `lone-surrogate`.
pub static LONE_SURROGATE: Code = Code {
    code: "IN003",
    name: "lone-surrogate",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
