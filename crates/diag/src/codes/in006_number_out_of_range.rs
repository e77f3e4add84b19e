//! `number-out-of-range`.

use crate::code::{Code, Page, Severity};

/// IN006 `number-out-of-range`.
pub static NUMBER_OUT_OF_RANGE: Code = Code {
    code: "IN006",
    name: "number-out-of-range",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
