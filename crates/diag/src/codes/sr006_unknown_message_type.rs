//! `unknown-message-type`: a message type that the format does not know.

use crate::code::{Code, Page, Severity};

/// SR006 `unknown-message-type`.
pub static UNKNOWN_MESSAGE_TYPE: Code = Code {
    code: "SR006",
    name: "unknown-message-type",
    severity: Severity::Warning,
    page: Page {
        what: "A `type` other than `text`, `image`, `file`, `audio`, `video`, `link` and `system`; in lists of \
               parts, a part of a kind that its format does not have; in database rows, a type that their system never wrote.",
        why: "The format's importer stores any type as text; what the author meant by it is lost on the way.",
        example: r#"```json
{"message_id":"m1","sender":"u1","type":"sticker","content":":wave:"}
```"#,
        does: "Reads the content as text and keeps the word in `source_type`; a row without a message in it is a \
               notice. A part is kept whole among the \
               extra fields of its message.",
        fix: "Nothing, where the words are enough: they are read, and the rest is kept. Whoever writes the file uses a type \
              of its format, and puts details beside it.",
    },
};
