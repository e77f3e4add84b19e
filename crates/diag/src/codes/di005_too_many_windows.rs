//! `too-many-windows`: a conversation that is cut into more windows than the limit.

use crate::code::{Code, Page, Severity};

/// DI005 `too-many-windows`.
pub static TOO_MANY_WINDOWS: Code = Code {
    code: "DI005",
    name: "too-many-windows",
    severity: Severity::Error,
    page: Page {
        what: "A conversation that `[window]` cuts into more than `limits.windows` (10,000) renderings for one perspective.",
        why: "With `per_turn` every rendering repeats what stands before it. A room of a hundred thousand messages would \
              become billions.",
        example: r"```toml
[window]
per_turn = true      # and one room holds 12,000 answers of the bot
```",
        does: "Renders the oldest windows, as many as the limit allows, in every dialect, and leaves the others out. The finding \
               counts the renderings that are missing; conversations and messages are complete in the other tables.",
        fix: "Raise `limits.windows`, together with `[window] history` or `max_tokens` so that each rendering stays small.",
    },
};
