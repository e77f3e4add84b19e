//! `dump-incomplete`: a dump that ends before its end mark.

use crate::code::{Code, Page, Severity};

/// IN024 `dump-incomplete`.
pub static DUMP_INCOMPLETE: Code = Code {
    code: "IN024",
    name: "dump-incomplete",
    severity: Severity::Error,
    page: Page {
        what: "A database dump that stops inside a statement, inside the rows of a table, or before the \
               mark that closes it.",
        why: "A dump that was cut by a full disk or a lost connection looks like a complete one with fewer \
               rows. Nobody misses rows that they never saw.",
        example: r"```sql
COPY public.messages (id, content) FROM stdin;
1	hello

```",
        does: "Keeps the rows that are whole, rejects the one that was cut, and reports where the dump \
               ends.",
        fix: "Dump again and check the exit code of the dump program; a plain dump ends with a comment \
               that says it is complete.",
    },
};
