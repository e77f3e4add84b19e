//! `unclosed-turn`: a turn of a transcript without its end.

use crate::code::{Code, Page, Severity};

/// SR020 `unclosed-turn`.
pub static UNCLOSED_TURN: Code = Code {
    code: "SR020",
    name: "unclosed-turn",
    severity: Severity::Warning,
    page: Page {
        what: "A turn of a ChatML transcript that is opened by `<|im_start|>` and not closed by `<|im_end|>`.",
        why: "The text may stop in the middle of a sentence, and a model that is trained on it learns not to stop.",
        example: r"```text
<|im_start|>user
When does the bus leave?
<|im_start|>assistant
At half past seven.<|im_end|>
```",
        does: "Ends the turn where the next one begins, or with the text, and keeps it. A turn of the assistant \
               that is opened at the end and says nothing asks for an answer: it is not a turn and no finding.",
        fix: "Write `<|im_end|>` after every turn, the last one too.",
    },
};
