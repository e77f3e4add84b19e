//! `orphan-chunk`: a piece of an answer that was never begun.

use crate::code::{Code, Page, Severity};

/// SR014 `orphan-chunk`.
pub static ORPHAN_CHUNK: Code = Code {
    code: "SR014",
    name: "orphan-chunk",
    severity: Severity::Warning,
    page: Page {
        what: "A piece of a streamed answer whose beginning is not in the archive.",
        why: "Clients ignore such pieces; what was said before them is lost.",
        example: r#"```json
{"type":"chunk","messageId":"r9","text":" at nine."}
```"#,
        does: "Joins the pieces that belong together into a message, as far as they go, unless the whole \
               answer follows.",
        fix: "Begin the capture before the conversation, or store the final answers.",
    },
};
