//! `encrypted-reasoning`: thoughts of a model that only its maker can read.

use crate::code::{Code, Page, Severity};

/// SR033 `encrypted-reasoning`.
pub static ENCRYPTED_REASONING: Code = Code {
    code: "SR033",
    name: "encrypted-reasoning",
    severity: Severity::Note,
    page: Page {
        what: "Reasoning of which the record holds `encrypted_content` and perhaps a summary, but not the text. One finding counts all of a session.",
        why: "Whoever trains or evaluates with what a model thought finds nothing there, or a summary only.",
        example: r#"```json
{"type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"gAAAAAB"}}
```"#,
        does: "Keeps the encrypted text among the extra fields of the message and never renders it; a summary is read as reasoning.",
        fix: "Nothing: only the maker of the model can decrypt it.",
    },
};
