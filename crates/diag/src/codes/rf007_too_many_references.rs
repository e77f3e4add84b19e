//! `too-many-references`.

use crate::code::{Code, Page, Severity};

/// RF007 `too-many-references`.
pub static TOO_MANY_REFERENCES: Code = Code {
    code: "RF007",
    name: "too-many-references",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
