//! `misrecognised-input`: a file most of whose records or messages the source that was recognised, or named, cannot read.

use crate::code::{Code, Page, Severity};

/// SR035 `misrecognised-input`.
pub static MISRECOGNISED_INPUT: Code = Code {
    code: "SR035",
    name: "misrecognised-input",
    severity: Severity::Error,
    page: Page {
        what: "A file of several records of which more than half are whole, and rejected all the same: they have not the shape of the \
               format that was recognised in it, or that `--source` names. Or one of which more than half of the messages are empty \
               although words stand in them that nobody reads. That most lines of a log are notices (steps of agents, \
               joins, pieces of a stream) is no such case, for these are read; nor are many words beside those of messages, which \
               SR034 tells.",
        why: "A few records that are wrong are the fault of whoever wrote them. Most of them mean that the file is something \
              else, and what was read of it may be wrong, too.",
        example: r#"```json
{"conversations":[{"from":"human","value":"Which knot holds best?"},{"from":"gpt","value":"The bowline."}]}
{"conversations":"Which knot holds best?"}
{"conversations":"The bowline."}
```"#,
        does: "Reads what it can, rejects the rest record by record, and says so once for the file.",
        fix: "`chatmill inspect FILE` shows what spoke for the source. Name another one with `--source`, or with `source` in the \
              pipeline file; `chatmill sources` lists them, and a `[field_map]` reads what none of them does.",
    },
};
