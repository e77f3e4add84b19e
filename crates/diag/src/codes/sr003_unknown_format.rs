//! `unknown-format`: a file that no source recognises.

use crate::code::{Code, Page, Severity};

/// SR003 `unknown-format`.
pub static UNKNOWN_FORMAT: Code = Code {
    code: "SR003",
    name: "unknown-format",
    severity: Severity::Error,
    page: Page {
        what: "A file whose structure fits none of the sources that chatmill knows. Where it looks like a format that is \
               known and not read (an export of ChatGPT, Slack, Discord, Telegram, …), the finding names it.",
        why: "Guessing would produce conversations that nobody held.",
        example: r#"```json
{"temperature":21.5,"unit":"C"}
```"#,
        does: "Rejects each line, element or row of the file or entry, one document as one record, and goes on; a run that \
               meets a whole input like this ends with exit code 1, unless `limits.refused_inputs` allows it. \
               `chatmill inspect FILE` shows what it looks like.",
        fix: "`chatmill init FILE` proposes a `[field_map]` or a `[table_map]` for it, where its messages can be seen. Name the \
              source with `--source` if it is one of `chatmill sources`; keep other files out with `exclude`. Where the map \
              does not reach, write one JSON object a message with conversation, role and content: `table-rows` reads it.",
    },
};
