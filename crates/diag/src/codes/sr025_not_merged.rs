//! `not-merged`: files that are to be merged, of a source whose records are whole conversations.

use crate::code::{Code, Page, Severity};

/// SR025 `not-merged`.
pub static NOT_MERGED: Code = Code {
    code: "SR025",
    name: "not-merged",
    severity: Severity::Warning,
    page: Page {
        what: "`merge = true` stands in an `[[input]]`, and a file in it is of a source whose records are whole conversations.",
        why: "Conversations of the same id in two files stay two; the second gets another id. Nobody who asked for one would expect that.",
        example: r#"```toml
[[input]]
path = "rooms/"
merge = true
```

`rooms/` holds files of `group-chat`."#,
        does: "Reads each record as a conversation. Where `source` names such a source, the plan is refused instead.",
        fix: "Leave `merge` out, or write the rooms as rows, which are gathered by their conversation.",
    },
};
