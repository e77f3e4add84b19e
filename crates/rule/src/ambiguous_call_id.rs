//! `ambiguous-call-id`: a result follows several open calls with its id.

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Part, PartPlace};

use crate::walk::{Id, at_result, call_of};

/// Finds results that more than one call could claim.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    // Nearly every id is used once.
    let mut given: HashMap<&str, u64> = HashMap::new();
    for call in linked
        .pairings
        .iter()
        .filter_map(|pairing| call_of(linked, pairing))
    {
        if let Some(id) = call.1.known_id() {
            *given.entry(id).or_default() += 1;
        }
    }
    given.retain(|_, count| *count > 1);
    if given.is_empty() {
        return;
    }
    let answers: HashMap<PartPlace, (PartPlace, &str)> = linked
        .pairings
        .iter()
        .filter_map(|pairing| {
            let id = call_of(linked, pairing)?.1.known_id()?;
            given
                .contains_key(id)
                .then_some((pairing.result?, (pairing.call?, id)))
        })
        .collect();
    let mut open: HashMap<&str, u64> = HashMap::new();
    for message in &linked.conversation.messages {
        for (part, content) in (0..).zip(&message.parts) {
            let position = message.position;
            match content {
                Part::ToolCall(call) => {
                    if let Some(id) = call.known_id().filter(|id| given.contains_key(id)) {
                        *open.entry(id).or_default() += 1;
                    }
                }
                Part::ToolResult(result) => {
                    let answer = answers.get(&PartPlace { position, part });
                    let Some((call, id)) = answer.filter(|(call, _)| call.position <= position) else {
                        continue;
                    };
                    let count = open.entry(id).or_default();
                    if *count > 1 {
                        let (named, id, at) = (id, Id(id), call.position);
                        let text = format!(
                            "{count} open calls have the id {id}; the result is paired with the one at position {at}"
                        );
                        findings
                            .push(at_result(&codes::AMBIGUOUS_CALL_ID, message, result, text).naming(named));
                    }
                    *count = count.saturating_sub(1);
                }
                _ => {}
            }
        }
    }
}
