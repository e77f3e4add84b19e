//! `split-tool-call`: a tool call that was stored in pieces.

use crate::code::{Code, Page, Severity};

/// SR019 `split-tool-call`.
pub static SPLIT_TOOL_CALL: Code = Code {
    code: "SR019",
    name: "split-tool-call",
    severity: Severity::Warning,
    page: Page {
        what: "A list of tool calls in which pieces of one streamed call stand as calls of their own: \
               without id and name, with a piece of the arguments each.",
        why: "Read as they stand, they are one call with empty arguments and many calls that cannot be \
               answered.",
        example: r#"```json
{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"read","arguments":""}},{"id":null,"function":{"name":null,"arguments":"{}"}}]}
```"#,
        does: "Joins the pieces to the call before them.",
        fix: "Assemble streamed calls before they are stored.",
    },
};
