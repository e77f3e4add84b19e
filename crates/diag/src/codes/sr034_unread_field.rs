//! `unread-field`: a field that the source neither reads nor lists as without meaning.

use crate::code::{Code, Page, Severity};

/// SR034 `unread-field`.
pub static UNREAD_FIELD: Code = Code {
    code: "SR034",
    name: "unread-field",
    severity: Severity::Warning,
    page: Page {
        what: "A field, a column or a member of a list that the source does not read, and that its page in `docs/sources.md` does \
               not list as without meaning. One finding for each input and key path, with the first place, how often it \
               stands there and in how many bytes. Places in lists are `[]`, keys of objects whose keys are ids are `*`, and where a \
               string holds JSON that is read, the path goes on with its keys: `$.content.remark`. A \
               warning where it holds words, that is a text with at least two of them; a note else.",
        why: "Formats grow, and files are made by programs that nobody has seen. What nobody reads may be what somebody said.",
        example: r#"```json
{"messages":[{"role":"user","content":"Which knot holds best?","translation":"Welcher Knoten hält am besten?"}]}
```"#,
        does: "Keeps the value in `extra` of the nearest message, else of the conversation. It is never text of a message. Of more \
               than `limits.unread_paths` paths in an input, the rest is one row with their number.",
        fix: "Nothing, where the field has nothing to say. Where it has, name the source that reads it (`--source`), or say in a \
              `[field_map]` where it stands.",
    },
};
