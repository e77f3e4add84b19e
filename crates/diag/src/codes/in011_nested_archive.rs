//! `nested-archive`.

use crate::code::{Code, Page, Severity};

/// IN011 `nested-archive`.
pub static NESTED_ARCHIVE: Code = Code {
    code: "IN011",
    name: "nested-archive",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
