//! `empty-input`: a file without any record.

use crate::code::{Code, Page, Severity};

/// IN015 `empty-input`.
pub static EMPTY_INPUT: Code = Code {
    code: "IN015",
    name: "empty-input",
    severity: Severity::Warning,
    page: Page {
        what: "A file, stream or archive entry that is empty or holds only white space.",
        why: "Usually an export that failed, or one that found nothing. It is not wrong, but somebody may \
               have expected more.",
        example: r"```text
: > chats.jsonl
```",
        does: "Counts no record. In `check` the file's verdict is `empty`; where no input holds a conversation, every command that \
               reads ends with exit code 1.",
        fix: "Look at the program that wrote the file; leave empty files out of the glob when they are \
               normal.",
    },
};
