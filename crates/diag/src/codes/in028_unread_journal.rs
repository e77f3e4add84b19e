//! `unread-journal`: a database with a journal beside it that was not read.

use crate::code::{Code, Page, Severity};

/// IN028 `unread-journal`.
pub static UNREAD_JOURNAL: Code = Code {
    code: "IN028",
    name: "unread-journal",
    severity: Severity::Warning,
    page: Page {
        what: "A SQLite database beside which a file ending in `-wal` or `-journal` lies that is not empty.",
        why: "The newest rows may stand in that file only, or the database may hold half of a change. The \
              database is read as it lies there, so that the dataset is made of exactly the bytes that were \
              hashed.",
        example: r"```text
chat.db  chat.db-shm  chat.db-wal (412 KiB)
```",
        does: "Reads the rows of the database file and says how many bytes lie beside it.",
        fix: "Close the program that uses the database, or copy it with \
              `sqlite3 chat.db \".backup copy.db\"`, and read the copy.",
    },
};
