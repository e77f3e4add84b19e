//! `nested-archive`: an archive inside an archive.

use crate::code::{Code, Page, Severity};

/// IN011 `nested-archive`.
pub static NESTED_ARCHIVE: Code = Code {
    code: "IN011",
    name: "nested-archive",
    severity: Severity::Warning,
    page: Page {
        what: "A zip or tar that is an entry of another archive.",
        why: "Archives in archives multiply every limit, and are the classic way to hide a bomb.",
        example: r"```text
export.zip
└── march.zip
    └── chats.jsonl
```",
        does: "Leaves the inner archive closed and rejects it as one record; the other entries are read. A \
               compressed file inside an archive (`chats.jsonl.gz`) is not an archive and is read.",
        fix: "Unpack the outer archive and give chatmill the inner ones.",
    },
};
