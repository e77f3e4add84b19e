//! `unknown-message-type`.

use crate::code::{Code, Page, Severity};

/// SR006 `unknown-message-type`.
pub static UNKNOWN_MESSAGE_TYPE: Code = Code {
    code: "SR006",
    name: "unknown-message-type",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
