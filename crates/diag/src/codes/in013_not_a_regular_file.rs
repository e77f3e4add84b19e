//! `not-a-regular-file`.

use crate::code::{Code, Page, Severity};

/// IN013 `not-a-regular-file`.
pub static NOT_A_REGULAR_FILE: Code = Code {
    code: "IN013",
    name: "not-a-regular-file",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
