//! `wrong-type`: a field of the wrong JSON type.

use crate::code::{Code, Page, Severity};

/// SR002 `wrong-type`.
pub static WRONG_TYPE: Code = Code {
    code: "SR002",
    name: "wrong-type",
    severity: Severity::Error,
    page: Page {
        what: "A field that is, for example, a number or an object where the format wants a string, or a \
               message that is not an object; also a number of logged tokens that is more than 2^53, which no bill can \
               hold.",
        why: "The value may still be meaningful, but the format's own importer would refuse it or misread \
               it.",
        example: r#"```json
{"message_id":"m1","sender":"u1","type":"text","content":42}
```"#,
        does: "Reads the rest of the message and leaves the field out; a number where an id or a text belongs \
               is read as written. A message that is not an object is rejected, that message only; a record whose \
               top level has the wrong shape is rejected whole.",
        fix: "Write texts and ids as strings and lists as arrays.",
    },
};
