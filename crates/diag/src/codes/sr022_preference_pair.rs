//! `preference-pair`: a record that compares two answers.

use crate::code::{Code, Page, Severity};

/// SR022 `preference-pair`.
pub static PREFERENCE_PAIR: Code = Code {
    code: "SR022",
    name: "preference-pair",
    severity: Severity::Note,
    page: Page {
        what: "A row with a preferred answer and a rejected one: `chosen` and `rejected`, `chosen_messages` and `rejected_messages`, `preferred_output` and `non_preferred_output`.",
        why: "A conversation has one answer: what makes the row worth having is the comparison of both.",
        example: r#"```json
{"prompt":"Is it open on Sunday?","chosen":"From ten to four.","rejected":"Perhaps."}
```"#,
        does: "Reads the question with the better answer as the conversation. Both answers are rows of the table `alternatives`, as `chosen` and `rejected`, with their scores where the row has them; no dialect writes the worse one.",
        fix: "Nothing. To train on preferences, take the pairs from `alternatives`.",
    },
};
