//! `arguments-not-string`: tool arguments that are an object where the format wants a string.

use crate::code::{Code, Page, Severity};

/// TL008 `arguments-not-string`.
pub static ARGUMENTS_NOT_STRING: Code = Code {
    code: "TL008",
    name: "arguments-not-string",
    severity: Severity::Warning,
    page: Page {
        what: "Arguments that stand in the record as a JSON value, where the format wants a string that holds \
               JSON.",
        why: "Programs that parse the string fail on the object, and the other way round.",
        example: r#"```json
{"id":"call_1","type":"function","function":{"name":"weather","arguments":{"city":"Kyiv"}}}
```"#,
        does: "Reads the value and keeps its source text. What is written in that format has a string again.",
        fix: "Encode the arguments as a JSON string.",
    },
};
