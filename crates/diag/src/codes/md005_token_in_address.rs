//! `token-in-address`: the address of a file that opens more than the file.

use crate::code::{Code, Page, Severity};

/// MD005 `token-in-address`.
pub static TOKEN_IN_ADDRESS: Code = Code {
    code: "MD005",
    name: "token-in-address",
    severity: Severity::Warning,
    page: Page {
        what: "Addresses of files with an access token (`?t=xoxe-…`), as exports of Slack have them.",
        why: "Whoever sees such an address can open the files of the workspace until the export's token is revoked. \
              In a dataset, or in what a model learns, it is given away.",
        example: r#"```json
{"type":"message","ts":"1767600000.000100","user":"U1","text":"The plan","files":[{"id":"F1","name":"plan.png","url_private":"https://files.slack.example/F1/plan.png?t=xoxe-1-made-up"}]}
```"#,
        does: "Cuts the token out of everything that is kept of the message; the address stays.",
        fix: "Revoke the tokens of an export that left the house, in the settings of the workspace.",
    },
};
