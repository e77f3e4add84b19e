//! `personal-data`: something that leads to a person.

use crate::code::{Code, Page, Severity};

/// PT004 `personal-data`.
pub static PERSONAL_DATA: Code = Code {
    code: "PT004",
    name: "personal-data",
    severity: Severity::Warning,
    page: Page {
        what: "E-mail addresses, telephone numbers, IP addresses, card numbers and IBANs, one finding for each \
               kind and message; names of the roster, one note for each conversation. Only a pipeline with \
               `[redact]` looks for them. The finding never quotes what it found.",
        why: "What leads to a person is learnt by a model and said again, and who publishes a dataset answers for \
              what is in it.",
        example: r#"```json
{"conversation_meta":{"name":"Room","user_details":{"u1":{"full_name":"Ann"}}},"conversation_list":[{"sender":"u1","content":"write to ann@mail.example"}]}
```"#,
        does: "Counts it with its place. With `mode = \"replace\"` it is replaced by a pseudonym wherever it \
               stands, each replacement is a loss, and the finding is a note.",
        fix: "Leave it out of the export, or let chatmill replace it.",
    },
};
