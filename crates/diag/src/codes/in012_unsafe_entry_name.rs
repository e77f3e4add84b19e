//! `unsafe-entry-name`: an archive entry whose name would lead out of the folder.

use crate::code::{Code, Page, Severity};

/// IN012 `unsafe-entry-name`.
pub static UNSAFE_ENTRY_NAME: Code = Code {
    code: "IN012",
    name: "unsafe-entry-name",
    severity: Severity::Note,
    page: Page {
        what: "An entry name that is absolute, holds `..`, a backslash or a NUL, or is not UTF-8.",
        why: "A program that extracts such an entry would write outside its folder.",
        example: r"```text
chats.zip: ../../etc/cron.d/chats.json
```",
        does: "Reads the entry like any other. Names of entries are labels and never paths, and nothing is \
               extracted.",
        fix: "Pack with relative names. Be careful when you open this archive with another program.",
    },
};
