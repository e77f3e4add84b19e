//! `byte-order-mark`.

use crate::code::{Code, Page, Severity};

/// IN016 `byte-order-mark`.
pub static BYTE_ORDER_MARK: Code = Code {
    code: "IN016",
    name: "byte-order-mark",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
