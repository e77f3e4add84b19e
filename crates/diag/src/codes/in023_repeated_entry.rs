//! `repeated-entry`: an archive that has two entries of the same name.

use crate::code::{Code, Page, Severity};

/// IN023 `repeated-entry`.
pub static REPEATED_ENTRY: Code = Code {
    code: "IN023",
    name: "repeated-entry",
    severity: Severity::Note,
    page: Page {
        what: "Two entries of an archive with one name. Programs that extract keep only the last; others show \
               only the first.",
        why: "The two may differ, so what an archive seems to hold depends on the program that opens it.",
        example: r"```text
chats.zip: chats.json, chats.json
```",
        does: "Reads both, under the same label, and notes the second. Conversations that are in both are \
               told apart by their ids.",
        fix: "Write the archive anew instead of adding to it.",
    },
};
