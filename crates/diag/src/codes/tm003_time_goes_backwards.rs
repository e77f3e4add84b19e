//! `time-goes-backwards`: a message that is older than the one before it.

use crate::code::{Code, Page, Severity};

/// TM003 `time-goes-backwards`.
pub static TIME_GOES_BACKWARDS: Code = Code {
    code: "TM003",
    name: "time-goes-backwards",
    severity: Severity::Warning,
    page: Page {
        what: "The time of a message lies before that of the last message whose time is known. Each step back \
               is its own finding.",
        why: "Either the order or the time is wrong. Real archives have both.",
        example: r#"```json
[{"message_id":"m1","create_time":"2026-03-02T09:05:00Z","content":"one"},
 {"message_id":"m2","create_time":"2026-03-02T09:00:00Z","content":"two"}]
```"#,
        does: "Keeps the order of the file and the times as they are.",
        fix: "Sort by time where the order of the file means nothing; check the clocks where it does.",
    },
};
