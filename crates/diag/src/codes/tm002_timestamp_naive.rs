//! `timestamp-naive`.

use crate::code::{Code, Page, Severity};

/// TM002 `timestamp-naive`.
pub static TIMESTAMP_NAIVE: Code = Code {
    code: "TM002",
    name: "timestamp-naive",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
