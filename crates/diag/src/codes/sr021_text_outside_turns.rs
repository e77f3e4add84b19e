//! `text-outside-turns`: text of a transcript that is nobody's.

use crate::code::{Code, Page, Severity};

/// SR021 `text-outside-turns`.
pub static TEXT_OUTSIDE_TURNS: Code = Code {
    code: "SR021",
    name: "text-outside-turns",
    severity: Severity::Error,
    page: Page {
        what: "Text of a ChatML transcript that stands before the first turn, between two turns or behind the last \
               one. White space and `<|endoftext|>` are none.",
        why: "Nobody knows who said it. Often a closing token stands too early, because somebody typed one.",
        example: r"```text
<|im_start|>user
Write <|im_end|> at the end of each turn.<|im_end|>
```",
        does: "Rejects the text with its place and keeps the turns.",
        fix: "Escape control tokens in what people say, and write text inside of turns only.",
    },
};
