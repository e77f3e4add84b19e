//! `wrong-type`.

use crate::code::{Code, Page, Severity};

/// SR002 `wrong-type`.
pub static WRONG_TYPE: Code = Code {
    code: "SR002",
    name: "wrong-type",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
