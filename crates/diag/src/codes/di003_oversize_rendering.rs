//! `oversize-rendering`: a rendering beyond the limit.

use crate::code::{Code, Page, Severity};

/// DI003 `oversize-rendering`.
pub static OVERSIZE_RENDERING: Code = Code {
    code: "DI003",
    name: "oversize-rendering",
    severity: Severity::Error,
    page: Page {
        what: "A rendering that is larger than `limits.rendering` (256 MiB).",
        why: "It has to be held in memory to be counted, and nothing that reads datasets likes a cell of \
               that size.",
        example: r"```text
one conversation with 300 MiB of text, rendered as openai-chat
```",
        does: "Writes the row without content, as invalid, with this finding. Other dialects of the same \
               conversation go on.",
        fix: "Render a window (`[window] history`) instead of the whole conversation, or raise the limit.",
    },
};
