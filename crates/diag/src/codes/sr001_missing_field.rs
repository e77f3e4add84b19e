//! `missing-field`: a field that the format requires is not there.

use crate::code::{Code, Page, Severity};

/// SR001 `missing-field`.
pub static MISSING_FIELD: Code = Code {
    code: "SR001",
    name: "missing-field",
    severity: Severity::Error,
    page: Page {
        what: "A message, a reference or the metadata lacks a field that the format's own importer insists \
               on: `message_id`, `sender`, `type`, `content` of a message, `name` and `user_details` of the \
               metadata, or the `version` of the record. Null or empty instead of absent is a warning, because \
               the importer lets it through; so is a message without `create_time`, which the importer refuses \
               and the document's own examples lack.",
        why: "The importer refuses the whole file for a missing field.",
        example: r#"```json
{"message_id":"m1","create_time":"2026-03-02T09:00:00Z","sender":"u1","type":"text"}
```

There is no `content`."#,
        does: "Keeps the message with what it has; a missing id stays null. Nothing is invented in its place. \
               A record without `conversation_list` is rejected.",
        fix: "Write the field, with an empty string where there really is nothing.",
    },
};
