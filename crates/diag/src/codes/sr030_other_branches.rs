//! `other-branches`: branches of a tree that are not read.

use crate::code::{Code, Page, Severity};

/// SR030 `other-branches`.
pub static OTHER_BRANCHES: Code = Code {
    code: "SR030",
    name: "other-branches",
    severity: Severity::Note,
    page: Page {
        what: "A conversation that is a tree: a question was edited, or an answer asked for again, and only some of the branches are read.",
        why: "What stands in the other branches was said, too, and is in no table.",
        example: r#"```json
{"current_node":"c","mapping":{"a":{"parent":null},"b":{"parent":"a"},"c":{"parent":"a"}}}
```"#,
        does: "Reads the branch that people see, or the one that `branches` in `[sources.chatgpt-export]` names, and says how many are left out.",
        fix: "Nothing, where one branch is enough. With `branches = \"all\"` each branch is a conversation.",
    },
};
