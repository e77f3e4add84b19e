//! `several-references`: a message with more than one reference, for a dialect that knows one.

use crate::code::{Code, Page, Severity};

/// DI002 `several-references`.
pub static SEVERAL_REFERENCES: Code = Code {
    code: "DI002",
    name: "several-references",
    severity: Severity::Note,
    page: Page {
        what: "A message with several references. The `tzurot` dialect's document knows a single referenced message.",
        why: "That document does not say what several references look like, so its service never sees such a \
               turn; other dialects have a form for them.",
        example: r#"```json
{"message_id":"m3","content":"both of you are right","refer_list":["m1","m2"]}
```"#,
        does: "Keeps all of them. In `tzurot` they are formatted in order, each with its own audio priority.",
        fix: "Nothing is wrong with the data. Set `policy.references` to `drop` if the turns must look \
               exactly like the service's.",
    },
};
