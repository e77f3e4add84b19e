//! `corrupt-stream`: a compressed stream whose content does not fit its checksum.

use crate::code::{Code, Page, Severity};

/// IN018 `corrupt-stream`.
pub static CORRUPT_STREAM: Code = Code {
    code: "IN018",
    name: "corrupt-stream",
    severity: Severity::Error,
    page: Page {
        what: "A compressed stream or archive entry with an impossible code, a wrong checksum, or sizes that \
               contradict each other; a zip archive whose entries lie over one another.",
        why: "At least one bit is not what was written. From there on every text may be wrong. Entries that share \
              bytes are written by nobody but who wants them decompressed again and again.",
        example: r"```text
chats.jsonl.gz with one flipped bit
```",
        does: "Keeps the records that were whole before the damage was met and rejects the rest of the stream \
               with its byte range. Of a zip archive whose entries share bytes nothing is read.",
        fix: "Take the file from its source again, and test it with `gzip -t`, `zstd -t` or `unzip -t`.",
    },
};
