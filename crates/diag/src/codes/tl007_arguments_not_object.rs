//! `arguments-not-object`: tool arguments that are JSON, but no object.

use crate::code::{Code, Page, Severity};

/// TL007 `arguments-not-object`.
pub static ARGUMENTS_NOT_OBJECT: Code = Code {
    code: "TL007",
    name: "arguments-not-object",
    severity: Severity::Warning,
    page: Page {
        what: "Arguments of a call that are an array, a string, a number or a constant.",
        why: "Tools take named arguments. APIs whose calls carry an object have no place for anything else.",
        example: r#"```json
{"id":"call_1","type":"function","function":{"name":"weather","arguments":"[\"Kyiv\"]"}}
```"#,
        does: "Keeps the source text. Dialects that require an object declare what they do with it.",
        fix: "Name the arguments: `{\"city\":\"Kyiv\"}`.",
    },
};
