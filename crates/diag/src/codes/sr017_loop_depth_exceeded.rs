//! `loop-depth-exceeded`: agents that answer each other beyond the limit of the room.

use crate::code::{Code, Page, Severity};

/// SR017 `loop-depth-exceeded`.
pub static LOOP_DEPTH_EXCEEDED: Code = Code {
    code: "SR017",
    name: "loop-depth-exceeded",
    severity: Severity::Warning,
    page: Page {
        what: "An answer whose chain of agents is deeper than the room allows, or in which an agent stands \
               twice.",
        why: "Agents that trigger each other can go on for ever; what they say then is seldom worth \
               training on.",
        example: r#"```json
{"type":"response","fromUsername":"coder","responseDepth":4,"respondingChain":["coder","reviewer","coder"]}
```"#,
        does: "Keeps the message and reports it.",
        fix: "Let agents check depth and chain before they answer.",
    },
};
