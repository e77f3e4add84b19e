//! `reference-to-itself`: a message that refers to itself.

use crate::code::{Code, Page, Severity};

/// RF002 `reference-to-itself`.
pub static REFERENCE_TO_ITSELF: Code = Code {
    code: "RF002",
    name: "reference-to-itself",
    severity: Severity::Warning,
    page: Page {
        what: "A reference whose target is the message that holds it. To answer one's own earlier message is \
               normal and is not meant.",
        why: "A program that follows references would never come to an end, and there is nothing to quote.",
        example: r#"```json
{"message_id":"m1","sender":"u1","content":"see above","refer_list":["m1"]}
```"#,
        does: "Keeps the reference with status `itself`; renderings do not quote it.",
        fix: "Check how the export fills `refer_list`: often the message's own id is taken for that of its \
               thread.",
    },
};
