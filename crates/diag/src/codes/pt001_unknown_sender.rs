//! `unknown-sender`: somebody speaks whom the roster does not list.

use crate::code::{Code, Page, Severity};

/// PT001 `unknown-sender`.
pub static UNKNOWN_SENDER: Code = Code {
    code: "PT001",
    name: "unknown-sender",
    severity: Severity::Error,
    page: Page {
        what: "A message whose `sender` is not in `user_details`, or that names no sender. An unlisted sender \
               is reported once, at the first message, with the number of messages as count. An unlisted \
               author of a preview is a warning.",
        why: "Both validators of the format refuse a file with an unlisted sender: name and role of the \
               speaker are unknown. For the author of a preview only one of them does.",
        example: r#"```json
{"conversation_meta":{"name":"Room","user_details":{"u1":{"full_name":"Ann"}}},"conversation_list":[{"sender":"u2","content":"hello"}]}
```"#,
        does: "Keeps the message. The sender joins the participants of the conversation, after those who are \
               listed.",
        fix: "Write everybody who ever spoke into `user_details`, also those who have left.",
    },
};
