//! `lone-surrogate`: half of an escaped character.

use crate::code::{Code, Page, Severity};

/// IN003 `lone-surrogate`.
pub static LONE_SURROGATE: Code = Code {
    code: "IN003",
    name: "lone-surrogate",
    severity: Severity::Warning,
    page: Page {
        what: "An escape such as `\\uD83D`, or a unit of UTF-16, without its second half. It names no character.",
        why: "Programs that count in UTF-16 cut an emoji in two when they shorten a preview. Half of it \
               cannot be written as UTF-8, and strict parsers refuse the whole record.",
        example: r#"```json
{"message_id":"m2","content":"well done \uD83D"}
```"#,
        does: "Reads each such half as U+FFFD (�), says where it stood, and keeps the rest of the message. \
               Hashes and reject heads use the original bytes.",
        fix: "Cut texts at characters, not at UTF-16 units.",
    },
};
