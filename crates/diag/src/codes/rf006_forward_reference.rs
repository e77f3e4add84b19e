//! `forward-reference`: a reference to a message that stands later.

use crate::code::{Code, Page, Severity};

/// RF006 `forward-reference`.
pub static FORWARD_REFERENCE: Code = Code {
    code: "RF006",
    name: "forward-reference",
    severity: Severity::Note,
    page: Page {
        what: "A reference to a message that comes after it in the file.",
        why: "Nobody answers what is yet to be said: the messages are probably not in the order of their \
               times.",
        example: r#"```json
[{"message_id":"m1","content":"as Li says below","refer_list":["m2"]},
 {"message_id":"m2","content":"we ship on Friday"}]
```"#,
        does: "Resolves the reference like any other and keeps the order of the file.",
        fix: "Sort the export by time, or accept it where people really point ahead (pinned messages, \
               summaries).",
    },
};
