//! `unplaced-media`: media beside the messages that have no mark in them, or marks without media.

use crate::code::{Code, Page, Severity};

/// MD003 `unplaced-media`.
pub static UNPLACED_MEDIA: Code = Code {
    code: "MD003",
    name: "unplaced-media",
    severity: Severity::Warning,
    page: Page {
        what: "A record has `images`, `videos` or `audios` beside its messages, and the messages have more or fewer marks (`<image>`, `<video>`, `<audio>`) than there are media.",
        why: "Which picture belongs where is then a guess, and a mark that stays in the text is trained as if it were a word.",
        example: r#"```json
{"messages":[{"role":"user","content":"<image>What is it?"}],"images":["a.png","b.png"]}
```"#,
        does: "Puts media where marks stand, in their order, as far as there are both. Media that are left over stay among the extra fields of the conversation, and marks that are left over stay text.",
        fix: "Write one mark for each medium.",
    },
};
