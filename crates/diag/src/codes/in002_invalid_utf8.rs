//! `invalid-utf8`: a record whose bytes are not UTF-8.

use crate::code::{Code, Page, Severity};

/// IN002 `invalid-utf8`.
pub static INVALID_UTF8: Code = Code {
    code: "IN002",
    name: "invalid-utf8",
    severity: Severity::Error,
    page: Page {
        what: "Bytes that are not UTF-8: text in another encoding, an overlong form, or a character that was \
               cut in two.",
        why: "JSON is UTF-8. Guessing another encoding would silently change names and texts.",
        example: r#"```text
{"content":"caf\xE9"}
```

`\xE9` stands for the single byte E9, which is `é` in Latin-1 and nothing in UTF-8."#,
        does: "Rejects the record and names the offset of the first bad byte; the next record is read as if \
               nothing had happened.",
        fix: "Convert the export once, for example with `iconv -f latin1 -t utf-8`. Never cut text by bytes.",
    },
};
