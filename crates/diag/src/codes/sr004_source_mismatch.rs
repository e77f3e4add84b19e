//! `source-mismatch`: a file that looks like another source than the one that was asked for.

use crate::code::{Code, Page, Severity};

/// SR004 `source-mismatch`.
pub static SOURCE_MISMATCH: Code = Code {
    code: "SR004",
    name: "source-mismatch",
    severity: Severity::Warning,
    page: Page {
        what: "`--source`, or `source` in the pipeline file, names one source and the content looks like \
               another.",
        why: "Reading one format as another gives empty or wrong conversations.",
        example: r"```text
chatmill check --source group-chat threads.json
```

`threads.json` holds rows of another system.",
        does: "Does what was asked and reads the file as the named source, and warns.",
        fix: "Leave `source` at `auto`, or give files of different systems their own `[[input]]`.",
    },
};
