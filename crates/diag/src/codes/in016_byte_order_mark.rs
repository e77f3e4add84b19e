//! `byte-order-mark`: a byte order mark at the beginning.

use crate::code::{Code, Page, Severity};

/// IN016 `byte-order-mark`.
pub static BYTE_ORDER_MARK: Code = Code {
    code: "IN016",
    name: "byte-order-mark",
    severity: Severity::Note,
    page: Page {
        what: "A byte order mark before the first record: the bytes EF BB BF of UTF-8, or those of UTF-16 or UTF-32, \
               which the finding names.",
        why: "Some programs put it before text. JSON does not allow it and is UTF-8: strict parsers stop there.",
        example: r#"```text
\xEF\xBB\xBF{"version":"1.0.0"}
```"#,
        does: "Counts the mark of UTF-8 as a separator and reads what follows. Text in UTF-16 or UTF-32 is decoded: all \
               offsets in it are those of the decoded bytes, in UTF-8 and without the mark. A mark inside the text \
               stays text.",
        fix: "Save as UTF-8 without a byte order mark.",
    },
};
