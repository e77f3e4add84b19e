//! `secret`: a credential in a chat.

use crate::code::{Code, Page, Severity};

/// PT005 `secret`.
pub static SECRET: Code = Code {
    code: "PT005",
    name: "secret",
    severity: Severity::Warning,
    page: Page {
        what: "Credentials: a user with a password in a URL, values of parameters like `token=` and `sig=`, keys of \
               well-known shapes (`sk-`, `ghp_`, `AKIA`, JSON Web Tokens), private keys. Only a pipeline with \
               `[redact]` looks for them. The finding never quotes what it found.",
        why: "Who reads the dataset, or asks a model that learnt from it, can use them.",
        example: r#"```json
{"conversation_meta":{"name":"Room","user_details":{"u1":{"full_name":"Ann"}}},"conversation_list":[{"sender":"u1","content":"https://files.example/a?token=7f3a9c"}]}
```"#,
        does: "Counts it with its place. With `mode = \"replace\"` it is replaced by a pseudonym wherever it \
               stands, each replacement is a loss, and the finding is a note.",
        fix: "Revoke the credential: whoever saw the chat has it.",
    },
};
