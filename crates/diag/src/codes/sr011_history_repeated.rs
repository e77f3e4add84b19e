//! `history-repeated`: a cached block says again what stands before it.

use crate::code::{Code, Page, Severity};

/// SR011 `history-repeated`.
pub static HISTORY_REPEATED: Code = Code {
    code: "SR011",
    name: "history-repeated",
    severity: Severity::Warning,
    page: Page {
        what: "A cached block that repeats messages which stand before it in the same list; the \
               count says how many.",
        why: "The model reads, and somebody pays for, the same words twice; statistics count them \
               twice.",
        example: r#"```json
{"messages":[{"role":"user","content":"hi"},{"role":"user","content":[{"type":"text","text":"User: hi","cache_control":{"type":"ephemeral"}}]}]}
```"#,
        does: "Keeps both. Only a run of messages that begins where the block begins is compared, \
               word for word.",
        fix: "Send either the block or the messages that it stands for.",
    },
};
