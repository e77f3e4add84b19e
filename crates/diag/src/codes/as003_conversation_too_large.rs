//! `conversation-too-large`: a conversation with too many messages.

use crate::code::{Code, Page, Severity};

/// AS003 `conversation-too-large`.
pub static CONVERSATION_TOO_LARGE: Code = Code {
    code: "AS003",
    name: "conversation-too-large",
    severity: Severity::Error,
    page: Page {
        what: "A conversation with more messages than `limits.messages_per_conversation` (1,000,000).",
        why: "A conversation is linked and rendered as a whole. Beyond a million messages it is usually a \
               whole server under one id.",
        example: r"```text
one conversation_list of 1,000,001 messages
```",
        does: "Rejects the conversation; its neighbours are read.",
        fix: "Export one room at a time, or split the room by month. Raise the limit on a machine that has \
               the memory.",
    },
};
