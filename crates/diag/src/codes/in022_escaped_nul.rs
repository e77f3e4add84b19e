//! `escaped-nul`: a NUL character in a text.

use crate::code::{Code, Page, Severity};

/// IN022 `escaped-nul`.
pub static ESCAPED_NUL: Code = Code {
    code: "IN022",
    name: "escaped-nul",
    severity: Severity::Note,
    page: Page {
        what: "The escape `\\u0000` in a string.",
        why: "It is valid JSON, but PostgreSQL refuses it, C programs end the text there, and people do not \
               type it.",
        example: r#"```json
{"message_id":"m1","content":"a\u0000b"}
```"#,
        does: "Keeps the character exactly, in the tables and in JSON renderings.",
        fix: "Remove it where the text is stored, unless it carries a meaning.",
    },
};
