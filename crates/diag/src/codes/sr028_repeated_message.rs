//! `repeated-message`: the same message several times in a row.

use crate::code::{Code, Page, Severity};

/// SR028 `repeated-message`.
pub static REPEATED_MESSAGE: Code = Code {
    code: "SR028",
    name: "repeated-message",
    severity: Severity::Warning,
    page: Page {
        what: "A message that says the same as the one directly before it, by the same speaker, under \
               another id or none: 16 characters of text at least, or a call or medium. People do say \
               short words twice. Each run of them is one finding.",
        why: "Something was sent or stored twice. The repeats are paid for, and a model learns to \
               repeat itself.",
        example: r#"```json
[{"message_id":"m1","sender":"u1","content":"When does the train leave?"},{"message_id":"m2","sender":"u1","content":"When does the train leave?"}]
```"#,
        does: "Keeps all of them, each with its place.",
        fix: "Store a message once, under the id that its sender gave it, however often it is \
               delivered.",
    },
};
