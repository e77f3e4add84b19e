//! `incomplete-export`: an export that says it holds something else.

use crate::code::{Code, Page, Severity};

/// SR032 `incomplete-export`.
pub static INCOMPLETE_EXPORT: Code = Code {
    code: "SR032",
    name: "incomplete-export",
    severity: Severity::Warning,
    page: Page {
        what: "An export that states how many messages it holds, and holds more or fewer; or one of which a part is not there, such as the list of members.",
        why: "A part may be missing, or the file was edited.",
        example: r#"```json
{"guild":{"id":"1"},"channel":{"id":"2"},"messages":[],"messageCount":5}
```"#,
        does: "Reads what is there, and says what is not.",
        fix: "Export again, and put all parts of the export into one input.",
    },
};
