//! `repeated-row`: a message that occurs twice, word for word.

use crate::code::{Code, Page, Severity};

/// AS002 `repeated-row`.
pub static REPEATED_ROW: Code = Code {
    code: "AS002",
    name: "repeated-row",
    severity: Severity::Note,
    page: Page {
        what: "A message with the id and the body of an earlier one; among rows of a database also one with the id of \
               an earlier one and another body, which is a warning.",
        why: "An export that was resumed or merged holds some messages twice. Counting both would inflate \
               every figure.",
        example: r#"```json
[{"message_id":"m1","sender":"u1","content":"hello"},
 {"message_id":"m1","sender":"u1","content":"hello"}]
```"#,
        does: "Keeps the first, leaves the repeat out and counts it as repeated in the ledger. Of two rows with \
               different bodies the one that was updated later stays.",
        fix: "Nothing needs to be done. If it happens often, look at how exports are merged.",
    },
};
