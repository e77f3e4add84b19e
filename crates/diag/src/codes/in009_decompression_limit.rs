//! `decompression-limit`: a stream that expands beyond all proportion.

use crate::code::{Code, Page, Severity};

/// IN009 `decompression-limit`.
pub static DECOMPRESSION_LIMIT: Code = Code {
    code: "IN009",
    name: "decompression-limit",
    severity: Severity::Error,
    page: Page {
        what: "An input that grows further than allowed: more than `limits.decompressed_ratio` (200) times \
               its size once it has passed `limits.decompressed_floor` (1 GiB), more than \
               `limits.decompressed_ceiling` (1 TiB), columns of Parquet or Arrow that unfold to more \
               values than `limits.unfolded_floor` (1,000,000) and `limits.unfolded_ratio` (64 for each byte of the \
               input) allow, a zstd window larger than `limits.zstd_window_log` (2^27 bytes), more bzip2 streams one after another than `limits.members` (10,000, or one for \
               each KiB of the input), or a database inside an archive, a compression or a pipe that is longer than \
               `limits.spool` (16 GiB).",
        why: "A few kilobytes can hold a terabyte of zeros, and a megabyte of empty bzip2 streams takes as long \
               as hundreds of megabytes of chats. A kilobyte of Parquet can say the same \
               message a million times. Such a file is an attack or an accident, never a chat archive.",
        example: r"```text
head -c 10G /dev/zero | gzip > bomb.gz
```",
        does: "Stops this input at the limit. Records read so far stay, the rest is one reject; other inputs \
               are read. A window that is too large is refused before it is allocated.",
        fix: "Decompress the file yourself and look at it. If it is genuine, raise the limit that the \
               finding names.",
    },
};
