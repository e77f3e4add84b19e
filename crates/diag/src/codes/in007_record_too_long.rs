//! `record-too-long`: a line, an array element or a row beyond the limit.

use crate::code::{Code, Page, Severity};

/// IN007 `record-too-long`.
pub static RECORD_TOO_LONG: Code = Code {
    code: "IN007",
    name: "record-too-long",
    severity: Severity::Error,
    page: Page {
        what: "A line of JSON lines, or an element of a top-level array, that is longer than `limits.record` \
               (64 MiB).",
        why: "A record has to be held in memory. Without a limit a single endless line would take the whole \
               machine.",
        example: r#"```text
{"content":"aaaa … 64 MiB without a line break … "}
```"#,
        does: "Rejects the record without holding it, and goes on at the next boundary. Records before and \
               after it are read.",
        fix: "Keep attachments outside the record and link them. For a file that is one large document see \
               `document-too-large`.",
    },
};
