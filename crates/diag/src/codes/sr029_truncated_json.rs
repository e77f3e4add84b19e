//! `truncated-json`: a text that is the first half of a JSON value.

use crate::code::{Code, Page, Severity};

/// SR029 `truncated-json`.
pub static TRUNCATED_JSON: Code = Code {
    code: "SR029",
    name: "truncated-json",
    severity: Severity::Warning,
    page: Page {
        what: "The text of a message, or the result of a tool, that begins as a JSON object or a list \
               of objects and ends inside it.",
        why: "A column was too short, or a value was cut before it was stored. The rest is lost, and \
               what is left reaches the model as text: braces, field names and all.",
        example: r#"```json
{"message_id":"m1","type":"user","content":"{\"role\": \"user\", \"content\": \"when does the tr"}
```"#,
        does: "Keeps the text as it is.",
        fix: "Store such values in a column without a limit of length (`jsonb`, `text`), and export \
               again.",
    },
};
