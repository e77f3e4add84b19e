//! `oversize-rendering`.

use crate::code::{Code, Page, Severity};

/// DI003 `oversize-rendering`.
pub static OVERSIZE_RENDERING: Code = Code {
    code: "DI003",
    name: "oversize-rendering",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
