//! `duplicate-key`: an object that has the same key twice.

use crate::code::{Code, Page, Severity};

/// IN005 `duplicate-key`.
pub static DUPLICATE_KEY: Code = Code {
    code: "IN005",
    name: "duplicate-key",
    severity: Severity::Error,
    page: Page {
        what: "The same key twice in one object. Escaped spellings count as equal: `\"id\"` and `\"\\u0069d\"` are \
               one key.",
        why: "Parsers disagree on which value counts, so two programs would read two different messages from \
               the same bytes.",
        example: r#"```json
{"message_id":"m1","content":"yes","content":"no"}
```"#,
        does: "Rejects a message that has a known field twice: that message only, with its own byte range. A \
               record whose top level has one twice is rejected whole. In the metadata and the roster the \
               last value counts; where the source text is kept as it stands, as in `extra`, a repeated key \
               is a note.",
        fix: "Write records from a map or a struct, so that a key cannot occur twice.",
    },
};
