//! `entry-limit`.

use crate::code::{Code, Page, Severity};

/// IN010 `entry-limit`.
pub static ENTRY_LIMIT: Code = Code {
    code: "IN010",
    name: "entry-limit",
    severity: Severity::Error,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
