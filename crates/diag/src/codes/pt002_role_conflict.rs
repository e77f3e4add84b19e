//! `role-conflict`.

use crate::code::{Code, Page, Severity};

/// PT002 `role-conflict`.
pub static ROLE_CONFLICT: Code = Code {
    code: "PT002",
    name: "role-conflict",
    severity: Severity::Warning,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
