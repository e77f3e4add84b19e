//! `contradicting-roster`: two rosters of one conversation that disagree.

use crate::code::{Code, Page, Severity};

/// PT006 `contradicting-roster`.
pub static CONTRADICTING_ROSTER: Code = Code {
    code: "PT006",
    name: "contradicting-roster",
    severity: Severity::Warning,
    page: Page {
        what: "A participant who is listed under one id with another name or kind (person or machine) in an earlier \
               conversation of the same id.",
        why: "The files disagree on who somebody is: a name was changed between two exports, or an id \
               was given to somebody else. Turns of two people may be taken for those of one.",
        example: r#"As the first line of `a.jsonl`, and with `Bo` in place of `Ann` as the first line of `b.jsonl`:

```json
{"conversation_meta":{"group_id":"room-6","user_details":{"u1":{"full_name":"Ann"}}},"conversation_list":[{"sender":"u1","content":"hello"}]}
```"#,
        does: "`chatmill check` reports each such participant once a conversation. Each conversation \
               keeps its own roster.",
        fix: "Export all files of a room with one roster, and never give an id to a second person.",
    },
};
