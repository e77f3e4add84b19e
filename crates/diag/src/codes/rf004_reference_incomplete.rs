//! `reference-incomplete`: a preview that does not say who spoke, or what.

use crate::code::{Code, Page, Severity};

/// RF004 `reference-incomplete`.
pub static REFERENCE_INCOMPLETE: Code = Code {
    code: "RF004",
    name: "reference-incomplete",
    severity: Severity::Warning,
    page: Page {
        what: "The target of a reference is not in the conversation and its preview lacks the author or the \
               text; or an object reference has no `message_id` at all, which the format's validators refuse.",
        why: "The preview is all that is known of the target. Without an author a quotation reads `Someone \
               said:`, without text it is empty.",
        example: r#"```json
{"message_id":"m2","content":"agreed","refer_list":[{"message_id":"m_deleted","content":"ship on Friday"}]}
```"#,
        does: "Keeps what the preview shows; a reference with neither id nor text is left out. Where the \
               target is in the conversation a short preview is complete enough and nothing is reported; a \
               bare id is a `dangling-reference` only.",
        fix: "Write `sender`, `sender_name` and `content` into references that must stand on their own.",
    },
};
