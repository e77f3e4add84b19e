//! `conflicting-message`: one message id of one conversation, and two bodies.

use crate::code::{Code, Page, Severity};

/// AS005 `conflicting-message`.
pub static CONFLICTING_MESSAGE: Code = Code {
    code: "AS005",
    name: "conflicting-message",
    severity: Severity::Warning,
    page: Page {
        what: "A conversation whose id an earlier one has, and a message in it whose id that one has, \
               too, with another sender or another body: in another file, or in another record of the \
               same file.",
        why: "Two exports of one room contradict each other: a message was edited or redacted between \
               them, or ids were given out twice. One of the two is not what was said.",
        example: r#"As the first line of `a.jsonl`, and with `bye` in place of `hello` as the first line of `b.jsonl`:

```json
{"version":"1.0.0","conversation_meta":{"group_id":"room-8"},"conversation_list":[{"message_id":"m1","sender":"u1","content":"hello"}]}
```"#,
        does: "`chatmill check` reports it, once a conversation, at the first such message, with their \
               number as count. Both conversations stay as they are.",
        fix: "Deliver one export of each room: the later one where messages were edited, the earlier \
               one where they were lost.",
    },
};
