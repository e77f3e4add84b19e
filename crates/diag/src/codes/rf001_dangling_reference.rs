//! `dangling-reference`: a reference to a message that is not there.

use crate::code::{Code, Page, Severity};

/// RF001 `dangling-reference`.
pub static DANGLING_REFERENCE: Code = Code {
    code: "RF001",
    name: "dangling-reference",
    severity: Severity::Warning,
    page: Page {
        what: "A reference to an id that no message of the conversation has, without a preview that shows \
               what it said.",
        why: "The answer is left without its question. Deleted messages and exports of a part of a room are \
               the usual causes.",
        example: r#"```json
{"message_id":"m2","sender":"u1","content":"agreed","refer_list":["m_deleted"]}
```"#,
        does: "Keeps the reference with status `dangling`. Renderings quote nothing for it and declare \
               `reference-unresolved`.",
        fix: "Export the room from its beginning, or write references with a preview (`content`, `sender`).",
    },
};
