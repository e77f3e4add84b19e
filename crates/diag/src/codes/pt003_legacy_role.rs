//! `legacy-role`: a role that had to be derived.

use crate::code::{Code, Page, Severity};

/// PT003 `legacy-role`.
pub static LEGACY_ROLE: Code = Code {
    code: "PT003",
    name: "legacy-role",
    severity: Severity::Note,
    page: Page {
        what: "Neither the message nor the roster has `user` or `assistant` as role (the roster holds a job \
               title, as in old archives, or nothing), and there is no `scene_desc.bot_ids` to go by.",
        why: "The format has no documented rule for such files, so the role is an assumption.",
        example: r#"```json
{"user_details":{"u1":{"full_name":"Ann","role":"Tech Lead"},"robot_001":{"full_name":"Helper","role":"Assistant"}}}
```"#,
        does: "Goes by the legacy rule: an id that contains `robot`, `assistant` or `bot` is an assistant, \
               everybody else a user. The rule takes `abbott` for a bot, too.",
        fix: "Write `role` as `user` or `assistant` and the job title as `custom_role`.",
    },
};
