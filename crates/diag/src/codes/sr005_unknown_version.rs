//! `unknown-version`: a version that chatmill has not met.

use crate::code::{Code, Page, Severity};

/// SR005 `unknown-version`.
pub static UNKNOWN_VERSION: Code = Code {
    code: "SR005",
    name: "unknown-version",
    severity: Severity::Warning,
    page: Page {
        what: "A `version` other than those that the source is known to write.",
        why: "Fields may have changed their meaning since.",
        example: r#"```json
{"version":"9.9","conversation_meta":{"name":"Room","user_details":{}},"conversation_list":[]}
```"#,
        does: "Reads the record by its structure, as far as that goes; fields that it does not know are kept \
               in `extra`.",
        fix: "Check that the result is complete. If the format has changed, chatmill needs to learn the new \
               version.",
    },
};
