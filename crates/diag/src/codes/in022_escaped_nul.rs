//! `escaped-nul`.

use crate::code::{Code, Page, Severity};

/// IN022 `escaped-nul`.
pub static ESCAPED_NUL: Code = Code {
    code: "IN022",
    name: "escaped-nul",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
