//! `wrong-time-unit`: a time that was counted in another unit.

use crate::code::{Code, Page, Severity};

/// TM008 `wrong-time-unit`.
pub static WRONG_TIME_UNIT: Code = Code {
    code: "TM008",
    name: "wrong-time-unit",
    severity: Severity::Warning,
    page: Page {
        what: "Times of messages before 1990 or from 2100 on that lie between the two when they are \
               taken for seconds in place of milliseconds or microseconds, or the other way round. One \
               finding a conversation, at the first such message, with their number as count.",
        why: "A time in seconds that was read as milliseconds lies in January 1970; the other way \
               round, tens of thousands of years ahead.",
        example: r#"2026-03-02, in seconds that were read as milliseconds:

```json
{"message_id":"m1","sender":"u1","create_time":"1970-01-21T12:20:42Z","content":"hello"}
```"#,
        does: "Keeps the time. Orders and time spans go by it.",
        fix: "Mind the unit of the column when it is turned into a time.",
    },
};
