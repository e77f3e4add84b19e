//! `empty-message`.

use crate::code::{Code, Page, Severity};

/// SR009 `empty-message`.
pub static EMPTY_MESSAGE: Code = Code {
    code: "SR009",
    name: "empty-message",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
