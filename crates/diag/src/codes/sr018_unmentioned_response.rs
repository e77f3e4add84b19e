//! `unmentioned-response`: an agent that answers without being mentioned.

use crate::code::{Code, Page, Severity};

/// SR018 `unmentioned-response`.
pub static UNMENTIONED_RESPONSE: Code = Code {
    code: "SR018",
    name: "unmentioned-response",
    severity: Severity::Note,
    page: Page {
        what: "An answer of an agent whose name does not stand in the message that triggered it.",
        why: "In these rooms agents answer when they are mentioned. An answer without a mention hints at a \
               missing message.",
        example: r#"```json
{"type":"message","text":"Is anybody there?"}
{"type":"response","fromUsername":"coder","isAgentMessage":true,"responseDepth":1,"text":"Yes."}
```"#,
        does: "Keeps the message and notes it.",
        fix: "Nothing, when the room is set up that way.",
    },
};
