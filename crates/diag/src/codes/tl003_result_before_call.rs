//! `result-before-call`: a tool result that stands before its call.

use crate::code::{Code, Page, Severity};

/// TL003 `result-before-call`.
pub static RESULT_BEFORE_CALL: Code = Code {
    code: "TL003",
    name: "result-before-call",
    severity: Severity::Warning,
    page: Page {
        what: "A result whose call comes later in the file.",
        why: "The order of the file is not the order of events, most often because two rows have the same \
               time.",
        example: r#"```json
[{"role":"tool","content":"12 °C","extra":{"tool_call_id":"call_1"}},
 {"role":"assistant","content":"","extra":{"tool_calls":[{"id":"call_1","function":{"name":"weather","arguments":"{}"}}]}}]
```"#,
        does: "Pairs the two with status `early` and keeps the order of the file. Dialects that insist on the \
               order move the result and declare it.",
        fix: "Sort by time and then by sequence number.",
    },
};
