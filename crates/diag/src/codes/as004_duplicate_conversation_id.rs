//! `duplicate-conversation-id`: two conversations with one id.

use crate::code::{Code, Page, Severity};

/// AS004 `duplicate-conversation-id`.
pub static DUPLICATE_CONVERSATION_ID: Code = Code {
    code: "AS004",
    name: "duplicate-conversation-id",
    severity: Severity::Warning,
    page: Page {
        what: "The same conversation id a second time: in another input, or in the same one where \
               conversations are not merged.",
        why: "Tables are joined by that id; two conversations under one id would become one.",
        example: r#"As the first line of `a.jsonl`, and again of `b.jsonl`:

```json
{"version":"1.0.0","conversation_meta":{"group_id":"room-7", …}}
```"#,
        does: "Keeps all. The first in input order keeps the id; one of another input gets `~` and six \
               hexadecimal digits of that input's name, a repeat in the same input `~2`, `~3`. \
               `source_conversation_id` holds the original, and renderings carry it.",
        fix: "Give each export its own `id_prefix` in the pipeline file, or leave the older of two exports \
               out.",
    },
};
