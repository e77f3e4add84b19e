//! `ambiguous-call-id`: a result whose id several open calls share.

use crate::code::{Code, Page, Severity};

/// TL010 `ambiguous-call-id`.
pub static AMBIGUOUS_CALL_ID: Code = Code {
    code: "TL010",
    name: "ambiguous-call-id",
    severity: Severity::Warning,
    page: Page {
        what: "A result that comes while its id is open more than once: several calls have it, and none of them is \
               answered yet.",
        why: "An id ties one result to one call. Where calls share it, only a guess can tell which answer belongs to \
               which question, and most APIs refuse the request.",
        example: r#"```json
[{"role":"assistant","tool_calls":[{"id":"call_0","function":{"name":"time","arguments":"{}"}},
                                   {"id":"call_0","function":{"name":"weather","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"call_0","name":"time","content":"12:00"},
 {"role":"tool","tool_call_id":"call_0","name":"weather","content":"rain"}]
```"#,
        does: "Takes the call that the result names by other means (the id in the metadata, the message that called), \
               else the one with the tool that the result names, else the one of the same speaker, else the first that is \
               open. Calls that were given up before come last. Renderings give the calls ids of their own.",
        fix: "Give every call an id of its own.",
    },
};
