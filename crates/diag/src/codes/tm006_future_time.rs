//! `future-time`: a message from the future.

use crate::code::{Code, Page, Severity};

/// TM006 `future-time`.
pub static FUTURE_TIME: Code = Code {
    code: "TM006",
    name: "future-time",
    severity: Severity::Warning,
    page: Page {
        what: "Times of messages that are later than the day of the check (`--now`; in a pipeline file \
               `now` in `[limits]`, without which a run does not look). One finding a conversation, at \
               the first such message, with their number as count.",
        why: "Nobody has written it yet: the clock was wrong, a date was made up, or a placeholder \
               such as 2999 stands for a missing time.",
        example: r#"```json
{"message_id":"m1","sender":"u1","create_time":"2999-12-31T00:00:00Z","content":"hello"}
```"#,
        does: "Keeps the time. Orders and time spans go by it.",
        fix: "Write the time at which the message was stored, and none where it is not known.",
    },
};
