//! `not-accepted`: a conversation that a dialect's consumer would refuse.

use crate::code::{Code, Page, Severity};

/// DI004 `not-accepted`.
pub static NOT_ACCEPTED: Code = Code {
    code: "DI004",
    name: "not-accepted",
    severity: Severity::Error,
    page: Page {
        what: "A conversation whose rendering breaks a rule of a dialect that `check --for` names: a call that a turn \
               follows and no result answers, no turn left, the wrong side having the last word, control tokens that forge a turn. One finding \
               a conversation, dialect and rule, with the number of renderings as count.",
        why: "The API or trainer that speaks this dialect answers such a request with an error, or learns from a \
              broken turn.",
        example: r#"```sh
chatmill check fine-tuning.jsonl --for openai-chat
```

```json
{"messages":[{"role":"user","content":"Is the gate shut?"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"gate","arguments":"{}"}}]},{"role":"user","content":"Well?"}]}
```"#,
        does: "Judges the conversation as it stands: for the judgement `policy.orphans` is `reject` and \
               `policy.control_tokens` is `keep`. Nothing is changed. `run` repairs by its own policy, declares the loss, \
               and marks what it cannot repair as invalid in `renderings`.",
        fix: "Mend what the message names: store the missing result, end on the assistant's turn. Or let `run` repair \
              it, and `export --valid` leave out the rest.",
    },
};
