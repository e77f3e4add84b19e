//! `reference-elsewhere`: a reference into another file of the same room.

use crate::code::{Code, Page, Severity};

/// RF010 `reference-elsewhere`.
pub static REFERENCE_ELSEWHERE: Code = Code {
    code: "RF010",
    name: "reference-elsewhere",
    severity: Severity::Note,
    page: Page {
        what: "A reference to a message that is not in its conversation, but in another one of the same \
               id: in another file, or in another record of the same file.",
        why: "A room was cut into several exports. The answer stands in one of them and its question \
               in another, so that neither is whole.",
        example: r#"`m2` in the second line of a room that was cut in two:

```json
{"conversation_meta":{"group_id":"room-9"},"conversation_list":[{"message_id":"m1","sender":"u1","content":"shall we?"}]}
{"conversation_meta":{"group_id":"room-9"},"conversation_list":[{"message_id":"m2","sender":"u2","content":"we shall","refer_list":["m1"]}]}
```"#,
        does: "`chatmill check` says where the message is. The reference itself stays `dangling`, or \
               shows its preview.",
        fix: "Deliver a room as one conversation; sources of rows are joined by `merge = true` in the \
               pipeline file.",
    },
};
