//! `unreadable-input`: an input that does not let itself be opened.

use crate::code::{Code, Page, Severity};

/// IN014 `unreadable-input`.
pub static UNREADABLE_INPUT: Code = Code {
    code: "IN014",
    name: "unreadable-input",
    severity: Severity::Error,
    page: Page {
        what: "A file or folder that does not let itself be read: it is closed to this user, or leads nowhere.",
        why: "What was not read cannot be accounted for, and a dataset must name exactly the bytes that it \
               was made of.",
        example: r"```text
chmod 000 chats.jsonl
```",
        does: "Counts the input as one rejected record, says why, and goes on with the other inputs. An error of \
               the system, such as a failing disk, is never this finding, and neither is a file that changes \
               or vanishes while a run reads it: both end the run with exit code 3.",
        fix: "Give the user who runs chatmill the right to read the file.",
    },
};
