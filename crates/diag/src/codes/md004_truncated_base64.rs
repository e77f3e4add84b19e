//! `truncated-base64`: a medium whose Base64 was cut or damaged.

use crate::code::{Code, Page, Severity};

/// MD004 `truncated-base64`.
pub static TRUNCATED_BASE64: Code = Code {
    code: "MD004",
    name: "truncated-base64",
    severity: Severity::Warning,
    page: Page {
        what: "A medium inside the record, or behind a `data:` address, whose Base64 has a length that \
               no Base64 has, an equals sign too few, or a character that does not belong there. What \
               is cut at a fourth character cannot be told from what is whole.",
        why: "The picture or sound cannot be opened, and APIs refuse the request.",
        example: r#"```json
{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KG"}}]}
```"#,
        does: "Keeps the text as it is.",
        fix: "Store media as files, or in a column without a limit of length.",
    },
};
