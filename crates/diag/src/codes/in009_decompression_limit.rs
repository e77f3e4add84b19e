//! `decompression-limit`.

use crate::code::{Code, Page, Severity};

/// IN009 `decompression-limit`.
pub static DECOMPRESSION_LIMIT: Code = Code {
    code: "IN009",
    name: "decompression-limit",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
