//! `conversation-too-large`.

use crate::code::{Code, Page, Severity};

/// AS003 `conversation-too-large`.
pub static CONVERSATION_TOO_LARGE: Code = Code {
    code: "AS003",
    name: "conversation-too-large",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
