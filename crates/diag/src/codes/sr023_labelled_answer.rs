//! `labelled-answer`: a record that says whether an answer is good.

use crate::code::{Code, Page, Severity};

/// SR023 `labelled-answer`.
pub static LABELLED_ANSWER: Code = Code {
    code: "SR023",
    name: "labelled-answer",
    severity: Severity::Note,
    page: Page {
        what: "A row with an answer and a `label` (or `kto_tag`) that is true or false, as data for KTO have it.",
        why: "Read as a conversation, a bad answer would become an example to learn from, like a good one.",
        example: r#"```json
{"prompt":"Is it open on Sunday?","completion":"Perhaps.","label":false}
```"#,
        does: "Reads the question, and the answer where the label says that it is good. A bad answer is a row of the table `alternatives` and no message: the conversation ends with the question. A good one is a row there, too, with its label.",
        fix: "Nothing. To train on labelled answers, take them from `alternatives`.",
    },
};
