//! `not-a-regular-file`: an input that is a FIFO, a device or a socket.

use crate::code::{Code, Page, Severity};

/// IN013 `not-a-regular-file`.
pub static NOT_A_REGULAR_FILE: Code = Code {
    code: "IN013",
    name: "not-a-regular-file",
    severity: Severity::Error,
    page: Page {
        what: "A path that names neither a file nor a folder but a FIFO, a device or a socket, or a file that the \
               kernel makes up as it is read, as those below `/proc`.",
        why: "A run hashes its inputs first and reads them afterwards; a FIFO can be read only once, and a \
               device may never end.",
        example: r"```text
mkfifo feed.jsonl
chatmill run pipeline.toml
```",
        does: "Refuses the input, which counts as one rejected record; other inputs are read. `check`, \
               `render`, `tokens` and `inspect` read a FIFO that is named explicitly, and `-`.",
        fix: "Save the stream to a file first.",
    },
};
