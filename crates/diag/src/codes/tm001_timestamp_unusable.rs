//! `timestamp-unusable`: a time that cannot be read.

use crate::code::{Code, Page, Severity};

/// TM001 `timestamp-unusable`.
pub static TIMESTAMP_UNUSABLE: Code = Code {
    code: "TM001",
    name: "timestamp-unusable",
    severity: Severity::Warning,
    page: Page {
        what: "A time that is not ISO 8601, or that does not exist, such as the thirtieth of February.",
        why: "The format's own reader takes the current time instead, silently, so that every import gives \
               another result.",
        example: r#"```json
{"message_id":"m1","create_time":"yesterday evening","content":"hi"}
```"#,
        does: "Keeps the text in `created_at_raw` and leaves `created_at` null. The message stays where it \
               stood; a time is never invented.",
        fix: "Write times as `2026-03-02T09:00:00+02:00`.",
    },
};
