//! `reference-cycle`: references that lead back to where they began.

use crate::code::{Code, Page, Severity};

/// RF003 `reference-cycle`.
pub static REFERENCE_CYCLE: Code = Code {
    code: "RF003",
    name: "reference-cycle",
    severity: Severity::Warning,
    page: Page {
        what: "References that form a circle: a message refers to another which, directly or through others, \
               refers back to it.",
        why: "People answer what was said before, so at least one of these references is wrong. Quoting \
               along the circle would never end.",
        example: r#"```json
[{"message_id":"m1","content":"a","refer_list":["m2"]},
 {"message_id":"m2","content":"b","refer_list":["m1"]}]
```"#,
        does: "Marks every reference on the circle `cyclic` and keeps it; renderings quote none of them. The \
               search does not recurse and is linear, however long the circle.",
        fix: "Look for ids that were given out twice, or for a `refer_list` that holds answers instead of \
               what is answered.",
    },
};
