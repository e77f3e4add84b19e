//! `time-goes-backwards`.

use crate::code::{Code, Page, Severity};

/// TM003 `time-goes-backwards`.
pub static TIME_GOES_BACKWARDS: Code = Code {
    code: "TM003",
    name: "time-goes-backwards",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
