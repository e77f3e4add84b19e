//! `broken-tree`: a tree of messages that is none.

use crate::code::{Code, Page, Severity};

/// SR031 `broken-tree`.
pub static BROKEN_TREE: Code = Code {
    code: "SR031",
    name: "broken-tree",
    severity: Severity::Warning,
    page: Page {
        what: "A message that stands below one that is not in the record, below itself, or in a circle; or a record that names a last message that it does not hold.",
        why: "What was said before the message is not known: the branch begins in the middle.",
        example: r#"```json
{"current_node":"b","mapping":{"b":{"parent":"a","message":{"author":{"role":"user"}}}}}
```"#,
        does: "Begins a branch there. A circle is cut above its first message in the order of the file.",
        fix: "Export again; a file that was edited or cut by another tool loses such messages.",
    },
};
