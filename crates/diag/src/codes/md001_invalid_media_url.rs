//! `invalid-media-url`: a medium whose address cannot be opened.

use crate::code::{Code, Page, Severity};

/// MD001 `invalid-media-url`.
pub static INVALID_MEDIA_URL: Code = Code {
    code: "MD001",
    name: "invalid-media-url",
    severity: Severity::Warning,
    page: Page {
        what: "A picture, sound, video, file or link whose URL is not http, https or data, nor one of a cloud's \
               storage (`gs`, `s3`); or a marker `[Image: …]` or `[Audio: …]` in a text, or in the text \
               that a reference quotes, that holds no http or https URL.",
        why: "A model or a service that is handed such an address cannot fetch it, and many refuse the whole \
               request.",
        example: r#"```json
{"message_id":"m1","sender":"u1","type":"text","content":"look [Image: cat.png]"}
```"#,
        does: "Keeps the medium and its address as written; a marker stays as text.",
        fix: "Upload the file and write its URL; put a bare file name into `extra.file_name`.",
    },
};
