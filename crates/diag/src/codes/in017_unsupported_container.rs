//! `unsupported-container`.

use crate::code::{Code, Page, Severity};

/// IN017 `unsupported-container`.
pub static UNSUPPORTED_CONTAINER: Code = Code {
    code: "IN017",
    name: "unsupported-container",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
