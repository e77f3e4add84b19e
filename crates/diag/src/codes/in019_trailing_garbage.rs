//! `trailing-garbage`.

use crate::code::{Code, Page, Severity};

/// IN019 `trailing-garbage`.
pub static TRAILING_GARBAGE: Code = Code {
    code: "IN019",
    name: "trailing-garbage",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
