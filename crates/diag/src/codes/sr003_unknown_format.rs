//! `unknown-format`: a file that no source recognises.

use crate::code::{Code, Page, Severity};

/// SR003 `unknown-format`.
pub static UNKNOWN_FORMAT: Code = Code {
    code: "SR003",
    name: "unknown-format",
    severity: Severity::Error,
    page: Page {
        what: "JSON whose structure fits none of the sources that chatmill knows.",
        why: "Guessing would produce conversations that nobody held.",
        example: r#"```json
{"temperature":21.5,"unit":"C"}
```"#,
        does: "Rejects the file or entry as one record and goes on. `chatmill inspect` shows what was looked \
               for.",
        fix: "Name the source with `--source` if you know it; keep other files out of the glob.",
    },
};
