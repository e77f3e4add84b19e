//! `malformed-row`: a row of a table that cannot be read.

use crate::code::{Code, Page, Severity};

/// IN027 `malformed-row`.
pub static MALFORMED_ROW: Code = Code {
    code: "IN027",
    name: "malformed-row",
    severity: Severity::Error,
    page: Page {
        what: "A row of a database dump or a CSV file that has more or fewer cells than its table has columns, or a \
               value that is not a literal: an expression whose result only a database could tell.",
        why: "Cells that slip by one column put the text of one field into another. A value that is guessed is worse \
               than one that is missing.",
        example: r"```csv
message_id,thread_id,content
1,7,hello,there
```",
        does: "Rejects the row with its place and reads on with the next one.",
        fix: "Quote cells that hold separators, quotes or line breaks; dump with the database's own program, which \
              writes literals only.",
    },
};
