//! `too-many-references`: a message with too many references.

use crate::code::{Code, Page, Severity};

/// RF007 `too-many-references`.
pub static TOO_MANY_REFERENCES: Code = Code {
    code: "RF007",
    name: "too-many-references",
    severity: Severity::Note,
    page: Page {
        what: "A message with more references than `limits.references_per_message` (10,000).",
        why: "Nobody answers ten thousand messages at once; such a list is a fault of the export, and costs \
               memory for each entry.",
        example: r#"```text
"refer_list": [ … 10,001 ids … ]
```"#,
        does: "Keeps the references up to the limit, drops the rest, and counts them.",
        fix: "Check what the list holds: often all messages of the room, or mentioned people. Raise the \
               limit if it is meant.",
    },
};
