//! `role-conflict`: a message and the roster disagree on a role.

use crate::code::{Code, Page, Severity};

/// PT002 `role-conflict`.
pub static ROLE_CONFLICT: Code = Code {
    code: "PT002",
    name: "role-conflict",
    severity: Severity::Warning,
    page: Page {
        what: "`role` of a message says one thing and `role` of its sender in `user_details` another; or a \
               message answers a call (`tool_call_id`) without the role `tool`; or the type or role of a database row \
               and the role in its content disagree.",
        why: "Whether a turn is the model's or a person's decides what a model is trained to say.",
        example: r#"```json
{"conversation_meta":{"user_details":{"u1":{"role":"user"}}},"conversation_list":[{"sender":"u1","role":"assistant","content":"hi"}]}
```"#,
        does: "Takes the role that the message states, and only for this message. What answers a call is its \
               result.",
        fix: "Correct the roster. If one account serves both a person and a bot, give the bot its own id.",
    },
};
