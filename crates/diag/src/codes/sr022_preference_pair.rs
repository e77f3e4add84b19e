//! `preference-pair`: a record that compares two answers.

use crate::code::{Code, Page, Severity};

/// SR022 `preference-pair`.
pub static PREFERENCE_PAIR: Code = Code {
    code: "SR022",
    name: "preference-pair",
    severity: Severity::Warning,
    page: Page {
        what: "A row with a preferred answer and a rejected one: `chosen` and `rejected`, `chosen_messages` and `rejected_messages`, `preferred_output` and `non_preferred_output`.",
        why: "A conversation has one answer. What makes the row worth having, the comparison, has no place in it.",
        example: r#"```json
{"prompt":"Is it open on Sunday?","chosen":"From ten to four.","rejected":"Perhaps."}
```"#,
        does: "Reads the question with the better answer as the conversation. The other answer stays among its extra fields, as it is; no dialect writes it.",
        fix: "Nothing, where the better answers are what you want. To train on preferences, keep the file as it is and give it to the trainer.",
    },
};
