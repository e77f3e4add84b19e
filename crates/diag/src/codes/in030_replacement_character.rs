//! `replacement-character`: text that was lost before it was written.

use crate::code::{Code, Page, Severity};

/// IN030 `replacement-character`.
pub static REPLACEMENT_CHARACTER: Code = Code {
    code: "IN030",
    name: "replacement-character",
    severity: Severity::Warning,
    page: Page {
        what: "U+FFFD in a text, as a character or as an escape: what a program writes in place of \
               bytes that it could not read. A run of them is one finding.",
        why: "What stood there is lost, in this file for good. Words with holes are learned as they \
               are, and names no longer match.",
        example: r#"```json
{"message_id":"m1","sender":"u1","content":"see you at the caf\ufffd"}
```"#,
        does: "Keeps the character as it stands.",
        fix: "Export again, and read the original with the encoding that it has; U+FFFD appears where \
               Windows-1252 or a cut file is read as UTF-8.",
    },
};
