//! `arguments-not-string`.

use crate::code::{Code, Page, Severity};

/// TL008 `arguments-not-string`.
pub static ARGUMENTS_NOT_STRING: Code = Code {
    code: "TL008",
    name: "arguments-not-string",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
