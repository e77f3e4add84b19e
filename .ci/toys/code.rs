//! `toy-word`: a word that no tide table knows.

use crate::code::{Code, Page, Severity};

/// DI007 `toy-word`.
pub static TOY_WORD: Code = Code {
    code: "DI007",
    name: "toy-word",
    severity: Severity::Note,
    page: Page {
        what: "A message with the word xyzzy, which no tide table knows.",
        why: "Nothing happens when somebody says it.",
        example: "```json\n{\"content\":\"I said xyzzy\"}\n```",
        does: "Keeps the message as it stands.",
        fix: "Nothing is wrong with the data.",
    },
};
