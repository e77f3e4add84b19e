//! `malformed-arguments`: tool arguments that are not JSON.

use crate::code::{Code, Page, Severity};

/// TL006 `malformed-arguments`.
pub static MALFORMED_ARGUMENTS: Code = Code {
    code: "TL006",
    name: "malformed-arguments",
    severity: Severity::Warning,
    page: Page {
        what: "Arguments of a call that are text but not JSON. Empty text is a note. A tool that takes any text by its specification (`custom_tool_call`) is left alone.",
        why: "The call cannot be run again. Models that are cut off in the middle of a call leave such text.",
        example: r#"```json
{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\": \"Ky"}}
```"#,
        does: "Keeps the text as it is, in the tables and wherever a format takes text. Where an object is \
               required, empty text becomes `{}`; other text is repaired as the dialect declares.",
        fix: "Store the call after it is complete; write `{}` for a call without arguments.",
    },
};
