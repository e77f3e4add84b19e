//! `missing-call-id`: a tool call or a result without an id.

use crate::code::{Code, Page, Severity};

/// TL009 `missing-call-id`.
pub static MISSING_CALL_ID: Code = Code {
    code: "TL009",
    name: "missing-call-id",
    severity: Severity::Warning,
    page: Page {
        what: "A call without id, or a result that does not say which call it answers.",
        why: "Without ids, pairs are guesses as soon as two calls run at once.",
        example: r#"```json
{"role":"assistant","content":"","extra":{"tool_calls":[{"type":"function","function":{"name":"weather","arguments":"{}"}}]}}
```"#,
        does: "Pairs by order and name with the calls before it, and says so in `paired_by`. An id is never \
               invented in the tables.",
        fix: "Write the id that the API gave to the call, in the call and in its result.",
    },
};
