//! `preview-mismatch`: a preview that disagrees with its target.

use crate::code::{Code, Page, Severity};

/// RF005 `preview-mismatch`.
pub static PREVIEW_MISMATCH: Code = Code {
    code: "RF005",
    name: "preview-mismatch",
    severity: Severity::Warning,
    page: Page {
        what: "A preview shows a text that is not the target's text or a beginning of it, or another sender (by id or \
               name), time or type. A cut, an ellipsis at the end, other white space and a medium's marker are not a \
               disagreement, nor is the same instant written otherwise.",
        why: "Either the target was edited after it was quoted, or the reference goes to the wrong message.",
        example: r#"```json
[{"message_id":"m1","sender":"u1","content":"ship on Friday"},
 {"message_id":"m2","sender":"u2","content":"ok","refer_list":[{"message_id":"m1","content":"ship on Monday"}]}]
```"#,
        does: "Keeps both. Renderings quote the target as it stands in the conversation; the preview stays in \
               `message_references`.",
        fix: "If messages are edited in place, export the edit history. If ids are reused, see \
               `duplicate-message-id`.",
    },
};
