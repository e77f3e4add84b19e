//! `duplicate-message-id`: two different messages with one id.

use crate::code::{Code, Page, Severity};

/// AS001 `duplicate-message-id`.
pub static DUPLICATE_MESSAGE_ID: Code = Code {
    code: "AS001",
    name: "duplicate-message-id",
    severity: Severity::Warning,
    page: Page {
        what: "Two messages of a conversation share an id, and their bodies differ.",
        why: "A reference to that id is ambiguous, and a store that goes by ids loses one of the messages. \
               Real archives have this.",
        example: r#"```json
[{"message_id":"m1","sender":"u1","content":"lunch?"},
 {"message_id":"m1","sender":"u2","content":"at noon"}]
```"#,
        does: "Keeps both. The second is called `m1~2`, a third `m1~3`; references go to the first. In Jaibber's rooms an id \
               is one message: the first row is kept, and the others count as repeated.",
        fix: "Give each message its own id; number them where they are stored, not where they are exported.",
    },
};
