//! `dangling-reference`.

use crate::code::{Code, Page, Severity};

/// RF001 `dangling-reference`.
pub static DANGLING_REFERENCE: Code = Code {
    code: "RF001",
    name: "dangling-reference",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
