//! `byte-order-mark`: a byte order mark at the beginning.

use crate::code::{Code, Page, Severity};

/// IN016 `byte-order-mark`.
pub static BYTE_ORDER_MARK: Code = Code {
    code: "IN016",
    name: "byte-order-mark",
    severity: Severity::Note,
    page: Page {
        what: "The bytes EF BB BF before the first record.",
        why: "Some programs put them before UTF-8 text. JSON does not allow them, and strict parsers stop \
               there.",
        example: r#"```text
\xEF\xBB\xBF{"version":"1.0.0"}
```"#,
        does: "Counts them as a separator and reads what follows. A mark inside the text stays text.",
        fix: "Save as UTF-8 without a byte order mark.",
    },
};
