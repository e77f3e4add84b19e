//! `arguments-against-schema`: arguments that the schema of their tool does not allow.

use crate::code::{Code, Page, Severity};

/// TL011 `arguments-against-schema`.
pub static ARGUMENTS_AGAINST_SCHEMA: Code = Code {
    code: "TL011",
    name: "arguments-against-schema",
    severity: Severity::Warning,
    page: Page {
        what: "A call whose arguments are an object that the JSON Schema forbids which the same record \
               declares for the tool: a field is missing, of the wrong type, or not among the values \
               that may be. One finding a call. Schemas that refer to other documents, or are no \
               schemas, are not gone by.",
        why: "The tool would have refused the call, or did. A model that is trained on it learns to \
               call tools wrongly.",
        example: r#"```json
{"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","required":["city"]}}}],"messages":[{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"town\":\"Oslo\"}"}}]}]}
```"#,
        does: "Keeps the call as it was made.",
        fix: "Store the definition that the model was given beside the call; leave calls out that the \
               tool refused.",
    },
};
