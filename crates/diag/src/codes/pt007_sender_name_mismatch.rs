//! `sender-name-mismatch`: a message that calls its sender otherwise than the roster does.

use crate::code::{Code, Page, Severity};

/// PT007 `sender-name-mismatch`.
pub static SENDER_NAME_MISMATCH: Code = Code {
    code: "PT007",
    name: "sender-name-mismatch",
    severity: Severity::Warning,
    page: Page {
        what: "A message whose `sender_name` is neither name, second name nor id of the sender in the \
               roster; capitals, blanks and words for roles aside. Each sender is one finding, at the first message, \
               with the number of messages as count.",
        why: "Either somebody changed a name and the roster has only one of them, or messages were put \
               down to the wrong person.",
        example: r#"```json
{"conversation_meta":{"user_details":{"u1":{"full_name":"Ann"}}},"conversation_list":[{"sender":"u1","sender_name":"Bo","content":"hello"}]}
```"#,
        does: "Keeps both names. Renderings call the sender as the roster does.",
        fix: "Write the names of a room from one table; give a new person a new id.",
    },
};
