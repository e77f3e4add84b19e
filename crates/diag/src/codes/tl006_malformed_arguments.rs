//! `malformed-arguments`.

use crate::code::{Code, Page, Severity};

/// TL006 `malformed-arguments`.
pub static MALFORMED_ARGUMENTS: Code = Code {
    code: "TL006",
    name: "malformed-arguments",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
