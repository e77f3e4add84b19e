//! `forward-reference`.

use crate::code::{Code, Page, Severity};

/// RF006 `forward-reference`.
pub static FORWARD_REFERENCE: Code = Code {
    code: "RF006",
    name: "forward-reference",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
