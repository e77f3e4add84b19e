//! `depth-exceeded`: arrays and objects nested too deep.

use crate::code::{Code, Page, Severity};

/// IN004 `depth-exceeded`.
pub static DEPTH_EXCEEDED: Code = Code {
    code: "IN004",
    name: "depth-exceeded",
    severity: Severity::Error,
    page: Page {
        what: "Arrays and objects inside each other, more levels than `limits.depth` (128) allows.",
        why: "No chat nests that deep. A recursive reader would exhaust its stack on such a record.",
        example: r"```text
[[[[ … 129 opening brackets … ]]]]
```",
        does: "Rejects the record at the first level too many. The scan does not recurse, so a depth of a \
               million costs no more than any other bytes.",
        fix: "Store nested previews and tool results as text or by id. If the data really is that deep, \
               raise `limits.depth`.",
    },
};
