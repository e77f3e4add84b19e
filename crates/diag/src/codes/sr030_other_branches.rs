//! `other-branches`: branches of a tree that are not read.

use crate::code::{Code, Page, Severity};

/// SR030 `other-branches`.
pub static OTHER_BRANCHES: Code = Code {
    code: "SR030",
    name: "other-branches",
    severity: Severity::Note,
    page: Page {
        what: "A conversation that is a tree: a question was edited, or an answer asked for again, and only some of the branches are read.",
        why: "What stands in the other branches was said, too. No dialect writes it.",
        example: r#"```json
{"current_node":"c","mapping":{"a":{"parent":null},"b":{"parent":"a"},"c":{"parent":"a"}}}
```"#,
        does: "Reads the branch that people see, or the one that `branches` in the section of the source names, and says how many are left out. What stood in the place of a message that is read (an answer up to the next question, or another question with its answer) is kept in the table `alternatives`; what goes on further below there stands as it is in `extra` of the conversation. Turns of a session that were taken back are notices, each with its message in `extra`. Of the forks of a session 32 are conversations beside it; the turns of further ones are kept in it as notices, with what they cost.",
        fix: "Nothing, where one branch is enough. With `branches = \"all\"` each branch is a conversation.",
    },
};
