//! `several-references`: a message with more than one reference, for a dialect that knows one.

use crate::code::{Code, Page, Severity};

/// DI002 `several-references`.
pub static SEVERAL_REFERENCES: Code = Code {
    code: "DI002",
    name: "several-references",
    severity: Severity::Note,
    page: Page {
        what: "A message with several references, rendered as `tzurot`, whose document knows a single \
               referenced message.",
        why: "The document does not say what several references look like, so the service never sees such a \
               turn.",
        example: r#"```json
{"message_id":"m3","content":"both of you are right","refer_list":["m1","m2"]}
```"#,
        does: "Formats all of them in order, each with its own audio priority, and notes it.",
        fix: "Nothing is wrong with the data. Set `policy.references` to `drop` if the turns must look \
               exactly like the service's.",
    },
};
