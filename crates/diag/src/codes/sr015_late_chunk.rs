//! `late-chunk`: a piece of an answer that comes after its end.

use crate::code::{Code, Page, Severity};

/// SR015 `late-chunk`.
pub static LATE_CHUNK: Code = Code {
    code: "SR015",
    name: "late-chunk",
    severity: Severity::Note,
    page: Page {
        what: "A piece of a streamed answer that stands after the final answer.",
        why: "Appended to the final text, as some clients do, it repeats words that are already there.",
        example: r#"```json
{"type":"response","messageId":"r1","text":"At nine."}
{"type":"chunk","messageId":"r1","text":" nine."}
```"#,
        does: "Keeps the final answer as it is; the piece is counted as merged.",
        fix: "Nothing needs to be done: the final answer is whole.",
    },
};
