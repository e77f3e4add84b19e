//! `link-not-followed`.

use crate::code::{Code, Page, Severity};

/// IN021 `link-not-followed`.
pub static LINK_NOT_FOLLOWED: Code = Code {
    code: "IN021",
    name: "link-not-followed",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
