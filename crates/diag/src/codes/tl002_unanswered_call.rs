//! `unanswered-call`: a tool call without a result.

use crate::code::{Code, Page, Severity};

/// TL002 `unanswered-call`.
pub static UNANSWERED_CALL: Code = Code {
    code: "TL002",
    name: "unanswered-call",
    severity: Severity::Warning,
    page: Page {
        what: "A tool call that no result answers.",
        why: "Every API wants a result for each call before the conversation goes on. A run that was \
               aborted, or a result stored elsewhere, leaves a call open.",
        example: r#"```json
{"message_id":"m2","sender":"bot","role":"assistant","content":"","extra":{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]}}
```"#,
        does: "Keeps the call with status `unanswered`. What a rendering does with it is `policy.orphans`: \
               repair it and declare the loss, drop it, or reject the rendering. Calls that no turn follows, where none has a \
               result, are what the conversation ends with, and stay as they are.",
        fix: "Store a result for a call that failed or was cancelled, too.",
    },
};
