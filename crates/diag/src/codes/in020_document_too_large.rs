//! `document-too-large`: a file that is one JSON document beyond the limit.

use crate::code::{Code, Page, Severity};

/// IN020 `document-too-large`.
pub static DOCUMENT_TOO_LARGE: Code = Code {
    code: "IN020",
    name: "document-too-large",
    severity: Severity::Error,
    page: Page {
        what: "A file that is a single JSON document larger than `limits.document` (512 MiB).",
        why: "One document is one conversation and has to be held in memory whole.",
        example: r#"```text
chats.json: {"version":"1.0.0","conversation_list":[ … 600 MiB … ]}
```"#,
        does: "Rejects the document; other inputs are read. JSON lines and top-level arrays are read record \
               by record and may be of any size.",
        fix: "Write one conversation a line, or raise `limits.document` on a machine that has the memory.",
    },
};
