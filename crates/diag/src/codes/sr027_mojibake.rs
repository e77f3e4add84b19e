//! `mojibake`: UTF-8 that was read as Windows-1252.

use crate::code::{Code, Page, Severity};

/// SR027 `mojibake`.
pub static MOJIBAKE: Code = Code {
    code: "SR027",
    name: "mojibake",
    severity: Severity::Warning,
    page: Page {
        what: "Text whose UTF-8 bytes were read as Windows-1252 or Latin-1 and written as UTF-8 again: \
               `Ã©` in place of `é`, `â€™` in place of `’`. The text that was meant is shown with the \
               finding. Names and titles are looked at, too.",
        why: "Words with such letters are other words to a model and cost several times the tokens; \
               people with such names are other people.",
        example: r#"```json
{"message_id":"m1","sender":"u1","content":"see you at the cafÃ©"}
```"#,
        does: "Keeps the text as it is: what was meant is a guess, if a good one.",
        fix: "Read files and database connections as UTF-8 where they are UTF-8, and export again.",
    },
};
