//! `unreadable-input`: an input that cannot be opened, or that changed while it was read.

use crate::code::{Code, Page, Severity};

/// IN014 `unreadable-input`.
pub static UNREADABLE_INPUT: Code = Code {
    code: "IN014",
    name: "unreadable-input",
    severity: Severity::Error,
    page: Page {
        what: "A file or folder that the operating system does not let chatmill read, or whose bytes changed \
               between the hash and the reading.",
        why: "What was not read cannot be accounted for, and a dataset must name exactly the bytes that it \
               was made of.",
        example: r"```text
chmod 000 chats.jsonl
```",
        does: "Counts the input as one rejected record, says why, and goes on with the other inputs.",
        fix: "Give the user who runs chatmill the right to read the file; do not write to inputs during a \
               run.",
    },
};
