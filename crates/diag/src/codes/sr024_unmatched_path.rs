//! `unmatched-path`: a path of the field map that leads nowhere.

use crate::code::{Code, Page, Severity};

/// SR024 `unmatched-path`.
pub static UNMATCHED_PATH: Code = Code {
    code: "SR024",
    name: "unmatched-path",
    severity: Severity::Warning,
    page: Page {
        what: "A path of `[field_map]` that matches nothing in the first records of a file.",
        why: "What it was to name is then missing from every message: no times, no speakers, or no words at all.",
        example: r#"```toml
[field_map]
messages = "$.turns"
text = "$.body"
```

The messages of the file have `text` and no `body`."#,
        does: "Reads what the other paths lead to, and keeps what no path names among the extra fields. A record in which `messages` matches nothing is rejected.",
        fix: "Write the path as it is in the file; the finding names those that are there. A path that only some files have may stay.",
    },
};
