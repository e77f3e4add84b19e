//! `labelled-answer`: a record that says whether an answer is good.

use crate::code::{Code, Page, Severity};

/// SR023 `labelled-answer`.
pub static LABELLED_ANSWER: Code = Code {
    code: "SR023",
    name: "labelled-answer",
    severity: Severity::Error,
    page: Page {
        what: "A row with an answer and a `label` (or `kto_tag`) that is true or false, as data for KTO have it.",
        why: "Read as a conversation, a bad answer would become an example to learn from, like a good one.",
        example: r#"```json
{"prompt":"Is it open on Sunday?","completion":"Perhaps.","label":false}
```"#,
        does: "Rejects the record, whichever the label is.",
        fix: "Keep the rows whose label is true, without the label, as `prompt` and `completion`: `jq -c 'select(.label) | del(.label)' FILE`.",
    },
};
