//! `number-out-of-range`: a number that no program holds exactly.

use crate::code::{Code, Page, Severity};

/// IN006 `number-out-of-range`.
pub static NUMBER_OUT_OF_RANGE: Code = Code {
    code: "IN006",
    name: "number-out-of-range",
    severity: Severity::Note,
    page: Page {
        what: "A number too long or too large for 64 bits or a double, such as `1e400` or thirty digits.",
        why: "Most readers round such a number without a word: an id that loses its last digits is another \
               id.",
        example: r#"```json
{"message_id":"m1","extra":{"file_size":123456789012345678901234567890}}
```"#,
        does: "Keeps the digits as they were written wherever the model keeps source text (ids, `extra`, \
               arguments). Nothing is rounded.",
        fix: "Write ids as strings. Check where a size or a counter of thirty digits came from.",
    },
};
