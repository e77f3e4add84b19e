//! `too-many-perspectives`: a conversation with more people than may be the assistant in turn.

use crate::code::{Code, Page, Severity};

/// DI006 `too-many-perspectives`.
pub static TOO_MANY_PERSPECTIVES: Code = Code {
    code: "DI006",
    name: "too-many-perspectives",
    severity: Severity::Error,
    page: Page {
        what: "A conversation that `[perspective]` wants to render for more than `limits.perspectives` (1,000) participants.",
        why: "Every perspective renders the whole conversation again. A public channel of twenty thousand people would be \
              written twenty thousand times.",
        example: r#"```toml
[perspective]
as = "each-participant"      # and one channel has 1,200 members
```"#,
        does: "Renders the perspectives of the first participants in the order of the roster, as many as the limit allows, and \
               leaves the others out. The finding counts the perspectives that are missing; conversations and messages are \
               complete in the other tables.",
        fix: "Name the participants that are wanted (`as = [\"ann\", \"bo\"]`), ask for `each-agent`, or raise \
              `limits.perspectives`.",
    },
};
