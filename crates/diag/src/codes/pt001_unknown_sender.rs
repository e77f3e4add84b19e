//! `unknown-sender`.

use crate::code::{Code, Page, Severity};

/// PT001 `unknown-sender`.
pub static UNKNOWN_SENDER: Code = Code {
    code: "PT001",
    name: "unknown-sender",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
