//! `depth-exceeded`.

use crate::code::{Code, Page, Severity};

/// IN004 `depth-exceeded`.
pub static DEPTH_EXCEEDED: Code = Code {
    code: "IN004",
    name: "depth-exceeded",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
