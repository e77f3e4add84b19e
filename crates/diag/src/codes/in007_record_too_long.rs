//! `record-too-long`.

use crate::code::{Code, Page, Severity};

/// IN007 `record-too-long`.
pub static RECORD_TOO_LONG: Code = Code {
    code: "IN007",
    name: "record-too-long",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
