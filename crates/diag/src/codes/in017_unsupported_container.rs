//! `unsupported-container`: a container that chatmill recognises but cannot read.

use crate::code::{Code, Page, Severity};

/// IN017 `unsupported-container`.
pub static UNSUPPORTED_CONTAINER: Code = Code {
    code: "IN017",
    name: "unsupported-container",
    severity: Severity::Error,
    page: Page {
        what: "A file or entry that is packed in a way chatmill does not read: 7z, rar, an encrypted zip \
               entry, a rare zip method, a sparse tar entry, or a zip that comes through a pipe or inside a \
               compressed stream.",
        why: "Its bytes are not text, and what they hold is unknown.",
        example: r"```text
zip --encrypt chats.zip chats.jsonl
```",
        does: "Rejects this file or entry and names the container; other entries and inputs are read.",
        fix: "Pack as zip (stored, deflate, bzip2 or zstd) or tar, without a password, or compress with \
               gzip, zstd, bzip2, xz or lz4.",
    },
};
