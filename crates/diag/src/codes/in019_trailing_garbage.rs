//! `trailing-garbage`: bytes after the end of a compressed stream.

use crate::code::{Code, Page, Severity};

/// IN019 `trailing-garbage`.
pub static TRAILING_GARBAGE: Code = Code {
    code: "IN019",
    name: "trailing-garbage",
    severity: Severity::Note,
    page: Page {
        what: "Bytes after a complete compressed stream that start no further one: padding, a signature, a \
               piece of another file.",
        why: "They are not part of the data, but somebody put them there.",
        example: r"```text
cat chats.jsonl.gz note.txt > both.jsonl.gz
```",
        does: "Reads every stream of the file (a gzip file may hold several), ignores what follows, and notes \
               it.",
        fix: "Cut the padding off, or write it into a file of its own.",
    },
};
