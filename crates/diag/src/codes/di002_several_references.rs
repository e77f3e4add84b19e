//! `several-references`.

use crate::code::{Code, Page, Severity};

/// DI002 `several-references`.
pub static SEVERAL_REFERENCES: Code = Code {
    code: "DI002",
    name: "several-references",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
