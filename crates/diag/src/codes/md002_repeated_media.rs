//! `repeated-media`: the same medium stands in a message twice.

use crate::code::{Code, Page, Severity};

/// MD002 `repeated-media`.
pub static REPEATED_MEDIA: Code = Code {
    code: "MD002",
    name: "repeated-media",
    severity: Severity::Warning,
    page: Page {
        what: "An address that stands more than once among the media of a captured request, or once there and \
               once in the message that it quotes.",
        why: "The model is shown one picture or sound as if it were two, and it is paid for twice. A bot that \
              copies a quoted medium into the user's own content does this.",
        example: r#"```json
{"messageContent":[{"type":"text","text":"This?"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}],"referencedMessage":{"author":"Ann","content":"Look [Image: https://example.com/a.png]"}}
```"#,
        does: "Keeps every occurrence where it stands.",
        fix: "Attach a quoted medium either to the quote or to the message, not to both.",
    },
};
