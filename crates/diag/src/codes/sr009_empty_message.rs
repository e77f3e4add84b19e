//! `empty-message`: a message without content.

use crate::code::{Code, Page, Severity};

/// SR009 `empty-message`.
pub static EMPTY_MESSAGE: Code = Code {
    code: "SR009",
    name: "empty-message",
    severity: Severity::Note,
    page: Page {
        what: "A message that has no part, or only empty text. A call, a result or a picture without words is \
               not empty.",
        why: "Several APIs refuse an empty turn, and the importer of the Group Chat Format wants some \
               content.",
        example: r#"```json
{"message_id":"m1","sender":"u1","type":"text","content":""}
```"#,
        does: "Keeps the message. A dialect that cannot carry an empty turn leaves it out and declares the \
               loss.",
        fix: "Leave deleted or empty messages out of the export, or say in `extra` what they were.",
    },
};
