//! `cached-block`: earlier conversation written out as one message for a prompt cache.

use crate::code::{Code, Page, Severity};

/// SR010 `cached-block`.
pub static CACHED_BLOCK: Code = Code {
    code: "SR010",
    name: "cached-block",
    severity: Severity::Note,
    page: Page {
        what: "A user message with a cache mark (`cache_control`) whose text is earlier \
               conversation: `User: …`, a blank line, `Assistant: …`, and so on.",
        why: "The words of several speakers stand in one message of the user. Whoever trains on \
               it, or counts turns, takes them for the user's own.",
        example: r#"```json
{"messages":[{"role":"user","content":[{"type":"text","text":"User: hi\n\nAssistant: Hello.","cache_control":{"type":"ephemeral"}}]}]}
```"#,
        does: "Keeps it as one user message with a cache mark. Its text is never searched for tool \
               calls or turns.",
        fix: "Export the messages that the block was made of; leave the block to the client that \
               sends them.",
    },
};
