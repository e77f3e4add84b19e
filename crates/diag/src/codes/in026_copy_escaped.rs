//! `copy-escaped`: JSON lines that carry the escapes of COPY on top.

use crate::code::{Code, Page, Severity};

/// IN026 `copy-escaped`.
pub static COPY_ESCAPED: Code = Code {
    code: "IN026",
    name: "copy-escaped",
    severity: Severity::Note,
    page: Page {
        what: "Lines of JSON that were exported with `COPY … TO` or `\\copy`, which doubles every \
               backslash.",
        why: "Such lines are not valid JSON, or worse, are valid and mean something else: a line break in \
               a text becomes a backslash and an `n`.",
        example: r#"```json
{"text":"she said \\"hello\\""}
```"#,
        does: "Takes the escapes off when the first lines of the file show that they are there, and says so \
               once for the file.",
        fix: "Export with `psql -At -c` instead, which writes values as they are.",
    },
};
