//! `unknown-scene`.

use crate::code::{Code, Page, Severity};

/// SR007 `unknown-scene`.
pub static UNKNOWN_SCENE: Code = Code {
    code: "SR007",
    name: "unknown-scene",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
