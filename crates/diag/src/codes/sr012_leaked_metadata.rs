//! `leaked-metadata`: a bot's text holds metadata that was meant for the model only.

use crate::code::{Code, Page, Severity};

/// SR012 `leaked-metadata`.
pub static LEAKED_METADATA: Code = Code {
    code: "SR012",
    name: "leaked-metadata",
    severity: Severity::Warning,
    page: Page {
        what: "A turn of the model whose text holds a `[meta]` line with ids and names, like those that gryag \
               puts before every message, or one of its ids alone: `chat_id`, `thread_id`, `message_id`, \
               `user_id`, `reply_to_message_id` or `reply_to_user_id`, then `=` or `:`, then a number, as words of \
               their own (`user_id: 123`). A line that is a part of its own before the turn is not a leak.",
        why: "The model has learnt to print what it was shown. Training on such turns teaches it more of the same, \
              and readers see ids that they were never meant to see.",
        example: r#"```json
{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"Hello! [meta] chat_id=-1 user_id=9"}]}]}
```"#,
        does: "Keeps the text as it is. Renderings leave lines and ids out, declared as a loss, unless the policy \
               `leaked_metadata` says `keep`.",
        fix: "Clean the model's answers before they are stored.",
    },
};
