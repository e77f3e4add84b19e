//! `columns-unknown`: rows of a table whose columns are not named.

use crate::code::{Code, Page, Severity};

/// IN025 `columns-unknown`.
pub static COLUMNS_UNKNOWN: Code = Code {
    code: "IN025",
    name: "columns-unknown",
    severity: Severity::Error,
    page: Page {
        what: "Rows of a table that is to be read, without column names: neither the statement nor a \
               `CREATE TABLE` before it names them.",
        why: "Without names a reader would have to guess which value is the text and which the sender.",
        example: r"```sql
INSERT INTO messages VALUES (1, 'hello');
```",
        does: "Rejects each such row.",
        fix: "Dump with `--column-inserts`, or with the schema in the same file; or name the columns as \
               `definition` of a `[table_map]` in the pipeline file.",
    },
};
