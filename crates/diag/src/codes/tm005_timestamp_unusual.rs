//! `timestamp-unusual`: a time that is read with some leeway.

use crate::code::{Code, Page, Severity};

/// TM005 `timestamp-unusual`.
pub static TIMESTAMP_UNUSUAL: Code = Code {
    code: "TM005",
    name: "timestamp-unusual",
    severity: Severity::Note,
    page: Page {
        what: "A time that many readers refuse or take for another: `24:00:00`, a leap second, a lower-case `z`, white \
               space around it, more digits than microseconds; or a time without an offset that its zone has twice, or \
               not at all, because clocks change. One finding a conversation and kind, with their number as count.",
        why: "Another program may leave the time out, or read another instant.",
        example: r#"```json
{"message_id":"m1","create_time":"2026-03-02T24:00:00Z","content":"hi"}
```"#,
        does: "Reads `24:00:00` as the start of the next day and a leap second as the second after it. Digits beyond \
               microseconds are cut from `created_at` and stay in `created_at_raw`. Where clocks change, the offset from \
               before the change counts.",
        fix: "Write times as `2026-03-02T09:00:00+02:00`.",
    },
};
