//! `empty-conversation`.

use crate::code::{Code, Page, Severity};

/// SR008 `empty-conversation`.
pub static EMPTY_CONVERSATION: Code = Code {
    code: "SR008",
    name: "empty-conversation",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
