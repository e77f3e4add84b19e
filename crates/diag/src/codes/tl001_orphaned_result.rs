//! `orphaned-result`: a tool result that no call asked for.

use crate::code::{Code, Page, Severity};

/// TL001 `orphaned-result`.
pub static ORPHANED_RESULT: Code = Code {
    code: "TL001",
    name: "orphaned-result",
    severity: Severity::Warning,
    page: Page {
        what: "A tool result whose call id no call of the conversation has.",
        why: "Every API refuses a result without its call. Usually the beginning of the conversation was cut \
               off.",
        example: r#"```json
{"message_id":"m2","sender":"bot","role":"tool","content":"12 °C","extra":{"tool_call_id":"call_9","name":"weather"}}
```"#,
        does: "Keeps the result with status `orphaned`. What a rendering does with it is `policy.orphans`: \
               repair it and declare the loss, drop it, or reject the rendering.",
        fix: "Cut conversations between turns, never between a call and its result.",
    },
};
