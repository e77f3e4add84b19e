//! `duplicate-result`: a second result for the same call.

use crate::code::{Code, Page, Severity};

/// TL004 `duplicate-result`.
pub static DUPLICATE_RESULT: Code = Code {
    code: "TL004",
    name: "duplicate-result",
    severity: Severity::Warning,
    page: Page {
        what: "A further result with the id of a call that has one already.",
        why: "An API takes one result for each call. A retry, or a stream that was stored twice, gives two.",
        example: r#"After an assistant message that made the call `call_1`:

```json
[{"role":"tool","content":"12 °C","extra":{"tool_call_id":"call_1"}},
 {"role":"tool","content":"13 °C","extra":{"tool_call_id":"call_1"}}]
```"#,
        does: "The first is the pair; the other stays with status `duplicate`.",
        fix: "Store the final result only, or give a retried call a new id.",
    },
};
