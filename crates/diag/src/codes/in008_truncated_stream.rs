//! `truncated-stream`: a compressed stream or an archive that ends too early.

use crate::code::{Code, Page, Severity};

/// IN008 `truncated-stream`.
pub static TRUNCATED_STREAM: Code = Code {
    code: "IN008",
    name: "truncated-stream",
    severity: Severity::Error,
    page: Page {
        what: "A gzip, zstd, bzip2, xz or lz4 stream, or an archive, that stops before its end.",
        why: "What is missing may be one byte or half the archive. A reader that stops quietly would report \
               a clean, shorter input.",
        example: r"```text
head -c 1000 chats.jsonl.gz > cut.jsonl.gz
```",
        does: "Keeps every record that was whole before the cut. What was decoded of the record at the cut is \
               one reject with its byte range.",
        fix: "Copy or download the file again and compare its size or checksum.",
    },
};
