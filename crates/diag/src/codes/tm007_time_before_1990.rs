//! `time-before-1990`: a message from before there were chats.

use crate::code::{Code, Page, Severity};

/// TM007 `time-before-1990`.
pub static TIME_BEFORE_1990: Code = Code {
    code: "TM007",
    name: "time-before-1990",
    severity: Severity::Warning,
    page: Page {
        what: "Times of messages before 1990: mostly 1970-01-01, the zero of many clocks. One finding a \
               conversation, at the first such message, with their number as count.",
        why: "It stands for a time that is missing. Conversations begin decades too early, and \
               whatever is sorted or selected by time goes wrong.",
        example: r#"```json
{"message_id":"m1","sender":"u1","create_time":"1970-01-01T00:00:00Z","content":"hello"}
```"#,
        does: "Keeps the time. Orders and time spans go by it.",
        fix: "Leave the time out where it is not known.",
    },
};
