//! `unfinished-stream`: a streamed answer without its end.

use crate::code::{Code, Page, Severity};

/// SR013 `unfinished-stream`.
pub static UNFINISHED_STREAM: Code = Code {
    code: "SR013",
    name: "unfinished-stream",
    severity: Severity::Warning,
    page: Page {
        what: "An answer of which only the beginning or some pieces are in the archive: the message that \
               would have closed it is missing. Or a text in which a block of calls (`<function_calls>`) begins and \
               does not end.",
        why: "The text may stop in the middle of a sentence. As training data it teaches to stop there.",
        example: r#"```json
{"type":"chunk","responseId":"r1","text":"The bus leaves"}
```"#,
        does: "Joins the pieces in order, keeps the message and marks it. A block that does not end stays text.",
        fix: "Store the final answer, or an error event, for every answer that was begun.",
    },
};
