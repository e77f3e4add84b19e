//! `special-token-in-text`.

use crate::code::{Code, Page, Severity};

/// DI001 `special-token-in-text`.
pub static SPECIAL_TOKEN_IN_TEXT: Code = Code {
    code: "DI001",
    name: "special-token-in-text",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
