//! `preview-too-deep`.

use crate::code::{Code, Page, Severity};

/// RF008 `preview-too-deep`.
pub static PREVIEW_TOO_DEEP: Code = Code {
    code: "RF008",
    name: "preview-too-deep",
    severity: Severity::Note,
    page: Page {
        what: "",
        why: "",
        example: "",
        does: "",
        fix: "",
    },
};
