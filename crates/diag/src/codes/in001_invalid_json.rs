//! `invalid-json`: a record that is not JSON.

use crate::code::{Code, Page, Severity};

/// IN001 `invalid-json`.
pub static INVALID_JSON: Code = Code {
    code: "IN001",
    name: "invalid-json",
    severity: Severity::Error,
    page: Page {
        what: "A record that no JSON parser accepts: a missing bracket, a raw line break inside a string, \
               `NaN`, a comment, two values on one line.",
        why: "Nothing in such a record can be trusted, not even where its next message begins.",
        example: r#"```json
{"version":"1.0.0","conversation_list":[{"content":"hello"}
```

The last two brackets are missing."#,
        does: "Rejects the record with its byte range, its hash and its first KiB. In JSON lines reading goes \
               on after the next line break, so that one broken line costs one reject and no neighbour.",
        fix: "Write the file again with a JSON encoder instead of joining text, and write each record in one \
               piece: a process that is killed while it writes leaves half a line.",
    },
};
