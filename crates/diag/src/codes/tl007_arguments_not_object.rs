//! `arguments-not-object`.

use crate::code::{Code, Page, Severity};

/// TL007 `arguments-not-object`.
pub static ARGUMENTS_NOT_OBJECT: Code = Code {
    code: "TL007",
    name: "arguments-not-object",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
