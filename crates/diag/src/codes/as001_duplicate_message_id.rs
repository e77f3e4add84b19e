//! `duplicate-message-id`.

use crate::code::{Code, Page, Severity};

/// AS001 `duplicate-message-id`.
pub static DUPLICATE_MESSAGE_ID: Code = Code {
    code: "AS001",
    name: "duplicate-message-id",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
