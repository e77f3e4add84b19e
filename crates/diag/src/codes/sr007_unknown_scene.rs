//! `unknown-scene`: a scene that the format does not know.

use crate::code::{Code, Page, Severity};

/// SR007 `unknown-scene`.
pub static UNKNOWN_SCENE: Code = Code {
    code: "SR007",
    name: "unknown-scene",
    severity: Severity::Warning,
    page: Page {
        what: "A `scene` other than `assistant` and `group_chat` and the words of the older and newer shapes \
               (`company`, `work`, `solo`, `team`).",
        why: "The scene tells a room from a conversation with an assistant; programs choose their way of \
               reading by it.",
        example: r#"```json
{"conversation_meta":{"name":"Room","scene":"webinar","user_details":{}}}
```"#,
        does: "Reads the conversation with scene `unknown`. The word itself is kept.",
        fix: "Write `assistant` for one person with an assistant, `group_chat` for anything else.",
    },
};
