//! `name-mismatch`: a result that names another tool than its call.

use crate::code::{Code, Page, Severity};

/// TL005 `name-mismatch`.
pub static NAME_MISMATCH: Code = Code {
    code: "TL005",
    name: "name-mismatch",
    severity: Severity::Warning,
    page: Page {
        what: "A call and its result have the same id and different tool names.",
        why: "Some APIs pair by name and refuse the result. It may also belong to another call whose id was \
               reused.",
        example: r#"```json
[{"role":"assistant","extra":{"tool_calls":[{"id":"call_1","function":{"name":"weather","arguments":"{}"}}]}},
 {"role":"tool","content":"ok","extra":{"tool_call_id":"call_1","name":"calendar"}}]
```"#,
        does: "Pairs them by id and keeps both names.",
        fix: "Write the name of the call into the result, and give every call an id of its own.",
    },
};
