//! `entry-limit`: an archive with too many entries.

use crate::code::{Code, Page, Severity};

/// IN010 `entry-limit`.
pub static ENTRY_LIMIT: Code = Code {
    code: "IN010",
    name: "entry-limit",
    severity: Severity::Error,
    page: Page {
        what: "An archive with more entries than `limits.archive_entries` (1,000,000).",
        why: "Each entry costs time and bookkeeping even when it is empty; a small archive can list millions \
               of them.",
        example: r"```text
chats.zip: 1,000,001 entries
```",
        does: "Reads the entries up to the limit; what follows is rejected as a whole.",
        fix: "Pack several conversations into one JSON lines file, or split the archive.",
    },
};
