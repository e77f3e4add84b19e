//! `link-not-followed`: a link that was left alone.

use crate::code::{Code, Page, Severity};

/// IN021 `link-not-followed`.
pub static LINK_NOT_FOLLOWED: Code = Code {
    code: "IN021",
    name: "link-not-followed",
    severity: Severity::Note,
    page: Page {
        what: "A symbolic or hard link or a device inside an archive, or a symbolic link in a folder of \
               inputs.",
        why: "Following a link can read files that nobody meant to hand over, or never end.",
        example: r"```text
chats.tar: latest.json -> /srv/private/chats.json
```",
        does: "Does not follow it, and notes it. The file that it points to is read only where it is an input \
               itself.",
        fix: "Name the target as an input of its own, or pack the file instead of the link.",
    },
};
