//! `timestamp-naive`: a time without an offset.

use crate::code::{Code, Page, Severity};

/// TM002 `timestamp-naive`.
pub static TIMESTAMP_NAIVE: Code = Code {
    code: "TM002",
    name: "timestamp-naive",
    severity: Severity::Note,
    page: Page {
        what: "Times without `Z` or offset: one finding a conversation, at the first of them, with their \
               number as count.",
        why: "The same text is another instant in every time zone.",
        example: r#"```json
{"message_id":"m1","create_time":"2026-03-02T09:00:00","content":"hi"}
```"#,
        does: "Reads them in the conversation's `default_timezone` (a zone name or an offset). Where there is \
               none the instants stay unknown, the texts are kept, and the finding is a warning.",
        fix: "Write the offset into each time, or `default_timezone` into the metadata.",
    },
};
