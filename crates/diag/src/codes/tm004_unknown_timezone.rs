//! `unknown-timezone`: a default time zone that nobody knows.

use crate::code::{Code, Page, Severity};

/// TM004 `unknown-timezone`.
pub static UNKNOWN_TIMEZONE: Code = Code {
    code: "TM004",
    name: "unknown-timezone",
    severity: Severity::Warning,
    page: Page {
        what: "A `default_timezone` that is neither a name of the IANA database (`Europe/Kyiv`) nor an offset \
               (`+02:00`).",
        why: "Every time without an offset depends on it.",
        example: r#"```json
{"conversation_meta":{"name":"Room","default_timezone":"Kyiv Time","user_details":{}}}
```"#,
        does: "Ignores it: naive times of this conversation have no instant. Times with an offset are not \
               affected.",
        fix: "Write an IANA name, or an offset where the zone has no name.",
    },
};
