//! `compressed-message`: a message whose text was shortened to save tokens.

use crate::code::{Code, Page, Severity};

/// SR016 `compressed-message`.
pub static COMPRESSED_MESSAGE: Code = Code {
    code: "SR016",
    name: "compressed-message",
    severity: Severity::Note,
    page: Page {
        what: "A stored message that a context manager shortened: its row holds a stub, the metadata says \
               so.",
        why: "The stored text is not what was said, and tool calls of the row may be gone.",
        example: r#"```json
{"type":"assistant","content":"First, I will…\n... (truncated)","metadata":{"compressed":true}}
```"#,
        does: "Keeps what the row holds and what the model was sent; `policy.compressed` decides which of \
               them is rendered.",
        fix: "Keep the original text beside the shortened one.",
    },
};
