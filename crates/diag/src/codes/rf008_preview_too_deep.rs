//! `preview-too-deep`: previews inside previews, too many levels of them.

use crate::code::{Code, Page, Severity};

/// RF008 `preview-too-deep`.
pub static PREVIEW_TOO_DEEP: Code = Code {
    code: "RF008",
    name: "preview-too-deep",
    severity: Severity::Note,
    page: Page {
        what: "A reference whose preview holds a `refer_list` with a preview, and so on, more than \
               `limits.preview_depth` (16) levels below it.",
        why: "Each answer that embeds what it answers whole doubles the file; a chain of them grows without \
               end.",
        example: r#"```json
{"message_id":"m5","refer_list":[{"message_id":"m4","refer_list":[{"message_id":"m3","refer_list":[ … ]}]}]}
```"#,
        does: "Keeps the preview with the levels up to the limit and leaves the deeper ones out. Only author \
               and text of the outermost preview are ever quoted.",
        fix: "Write inner references as ids, or leave `refer_list` out of previews.",
    },
};
