//! `repeated-row`.

use crate::code::{Code, Page, Severity};

/// AS002 `repeated-row`.
pub static REPEATED_ROW: Code = Code {
    code: "AS002",
    name: "repeated-row",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
