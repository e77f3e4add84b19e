//! `pseudo-reference`: a reply that nobody made.

use crate::code::{Code, Page, Severity};

/// RF009 `pseudo-reference`.
pub static PSEUDO_REFERENCE: Code = Code {
    code: "RF009",
    name: "pseudo-reference",
    severity: Severity::Note,
    page: Page {
        what: "A row that names a message as the one it replies to, although its author replied to nothing: \
               the bot filled in the latest message of the room.",
        why: "Read as replies, such rows connect messages that have nothing to do with each other.",
        example: r#"```json
{"reply_to_message_id":811,"reply_excerpt":"see you"}
```"#,
        does: "Keeps the reference with status `pseudo`; no dialect quotes it.",
        fix: "Store a reply only where somebody replied.",
    },
};
