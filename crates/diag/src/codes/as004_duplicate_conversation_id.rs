//! `duplicate-conversation-id`.

use crate::code::{Code, Page, Severity};

/// AS004 `duplicate-conversation-id`.
pub static DUPLICATE_CONVERSATION_ID: Code = Code {
    code: "AS004",
    name: "duplicate-conversation-id",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
