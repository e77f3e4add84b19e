//! `empty-conversation`: a conversation in which nobody says anything.

use crate::code::{Code, Page, Severity};

/// SR008 `empty-conversation`.
pub static EMPTY_CONVERSATION: Code = Code {
    code: "SR008",
    name: "empty-conversation",
    severity: Severity::Warning,
    page: Page {
        what: "A conversation without a message. Notices such as `type: system` events do not count. An error where there are \
               messages and nothing of what they hold could be read.",
        why: "It trains and tests nothing. The format's own importer stops on an empty list.",
        example: r#"```json
{"version":"1.0.0","conversation_meta":{"name":"Room","user_details":{}},"conversation_list":[]}
```"#,
        does: "Keeps the conversation and its roster in the dataset. Rows that only tell who is present in one of Jaibber's \
               projects make no conversation, which is a note, and a warning where no project is named.",
        fix: "Leave out conversations in which nothing was written. Where something was and was not read, the file has \
              another format than its source: see what `chatmill inspect` says of it.",
    },
};
