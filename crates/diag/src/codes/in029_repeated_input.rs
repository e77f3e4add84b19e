//! `repeated-input`: a file whose bytes an earlier one has.

use crate::code::{Code, Page, Severity};

/// IN029 `repeated-input`.
pub static REPEATED_INPUT: Code = Code {
    code: "IN029",
    name: "repeated-input",
    severity: Severity::Warning,
    page: Page {
        what: "A file that has the same bytes as an earlier one, whatever the two are called. Empty \
               files are not compared.",
        why: "Whatever it holds counts twice: in token counts, in bills, and in training, where a \
               model learns by heart what it sees twice.",
        example: r"The same export under two names:

```sh
cp room.json room-copy.json
```",
        does: "Reads both. Conversations with ids of their own are also `duplicate-conversation-id`. \
               `[dedup]` in the pipeline file leaves repeated conversations out.",
        fix: "Leave one of the two files out.",
    },
};
