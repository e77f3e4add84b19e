//! `legacy-role`.

use crate::code::{Code, Page, Severity};

/// PT003 `legacy-role`.
pub static LEGACY_ROLE: Code = Code {
    code: "PT003",
    name: "legacy-role",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
