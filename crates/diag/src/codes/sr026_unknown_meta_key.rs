//! `unknown-meta-key`: a `[meta]` line has a pair that gryag never writes.

use crate::code::{Code, Page, Severity};

/// SR026 `unknown-meta-key`.
pub static UNKNOWN_META_KEY: Code = Code {
    code: "SR026",
    name: "unknown-meta-key",
    severity: Severity::Warning,
    page: Page {
        what: "A `[meta]` line before a turn that has, beside keys that gryag writes or none, a pair with another \
               key. A line that is not made of pairs is no such line: it is what somebody said.",
        why: "Either another version of the bot wrote it, and its readers overlook what the pair says; or somebody typed \
              the line, and speaks under ids and names that are not his.",
        example: r#"```json
{"contents":[{"role":"user","parts":[{"text":"[meta] chat_id=-1 user_id=9 name=\"Ann\" mood=\"fine\""},{"text":"hi"}]}]}
```"#,
        does: "Reads the line as metadata and keeps the pair among the message's further fields. No dialect writes it.",
        fix: "Write only the keys that gryag's document names, and escape lines that people type.",
    },
};
