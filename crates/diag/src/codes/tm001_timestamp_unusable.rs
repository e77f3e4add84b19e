//! `timestamp-unusable`.

use crate::code::{Code, Page, Severity};

/// TM001 `timestamp-unusable`.
pub static TIMESTAMP_UNUSABLE: Code = Code {
    code: "TM001",
    name: "timestamp-unusable",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
