//! Pairing of tool calls with their results.
//!
//! Four rules, the surest first; each takes what the ones before it left:
//!
//! 1. equal ids;
//! 2. equal ids in the metadata of the source, which may stand against an id of the other side;
//! 3. a result that names the message of its call takes a call of that message, by name and order;
//! 4. order and name, backwards only: a result whose call was cut off must not take the next call of the same tool.

mod ids;
mod order;

use chatmill_model::{CallStatus, Message, MessageKind, PairedBy, Pairing, Part, PartPlace};

/// A call or a result, in order of appearance.
struct Step<'m> {
    place: PartPlace,
    /// Number of the round it stands in: a run of calls and the run of results directly after it. 0: in none.
    round: u32,
    is_call: bool,
    id: Option<&'m str>,
    metadata_id: Option<&'m str>,
    /// Id of the message that made the call, where a result names it.
    caller: Option<&'m str>,
    name: Option<&'m str>,
    /// Whether it is a further result for the id of an answered call.
    is_duplicate: bool,
    partner: Option<(usize, PairedBy)>,
}

/// Pairs every call and every result; calls in order of appearance, results without a pair where they stand.
pub fn pair(messages: &[Message]) -> Vec<Pairing> {
    let mut steps = steps(messages);
    if steps.is_empty() {
        return Vec::new();
    }
    ids::pair(&mut steps);
    ids::pair_by_metadata(&mut steps);
    let belongs_elsewhere = order::pair_by_caller(&mut steps, messages);
    order::pair_by_order(&mut steps, &belongs_elsewhere);
    steps.iter().filter_map(|step| pairing(step, &steps)).collect()
}

/// Lists calls and results with their rounds.
fn steps(messages: &[Message]) -> Vec<Step<'_>> {
    #[derive(PartialEq)]
    enum Run {
        None,
        Calls,
        Results,
    }
    let mut steps = Vec::new();
    let mut round = 0;
    let mut run = Run::None;
    for message in messages {
        let before = steps.len();
        for (part, content) in (0..).zip(&message.parts) {
            let (is_call, id, metadata_id, caller, name) = match content {
                Part::ToolCall(call) => (true, &call.id, &call.metadata_id, &None, &call.name),
                Part::ToolResult(result) => (
                    false,
                    &result.call_id,
                    &result.metadata_id,
                    &result.caller,
                    &result.name,
                ),
                _ => continue,
            };
            if is_call {
                round += u32::from(run != Run::Calls);
                run = Run::Calls;
            } else if run != Run::None {
                run = Run::Results;
            }
            steps.push(Step {
                place: PartPlace {
                    position: message.position,
                    part,
                },
                round: if run == Run::None { 0 } else { round },
                is_call,
                id: id.as_deref(),
                metadata_id: metadata_id.as_deref(),
                caller: caller.as_deref(),
                name: name.as_deref(),
                is_duplicate: false,
                partner: None,
            });
        }
        if steps.len() == before && message.kind == MessageKind::Message {
            run = Run::None;
        }
    }
    steps
}

fn is_open(steps: &[Step<'_>], index: usize) -> bool {
    steps.get(index).is_some_and(|step| step.partner.is_none())
}

fn join(steps: &mut [Step<'_>], call: usize, result: usize, rule: PairedBy) {
    for (index, partner) in [(call, result), (result, call)] {
        if let Some(step) = steps.get_mut(index) {
            step.partner = Some((partner, rule));
            step.is_duplicate = false;
        }
    }
}

/// The row of a call, or of a result without a pair; a paired result has none of its own.
fn pairing(step: &Step<'_>, steps: &[Step<'_>]) -> Option<Pairing> {
    let partner = step
        .partner
        .and_then(|(index, rule)| Some((steps.get(index)?, rule)));
    match (step.is_call, partner) {
        (true, Some((result, rule))) => Some(Pairing {
            call: Some(step.place),
            result: Some(result.place),
            status: if result.place < step.place {
                CallStatus::Early
            } else if result.round == step.round {
                CallStatus::Paired
            } else {
                CallStatus::Late
            },
            paired_by: Some(rule),
        }),
        (true, None) => Some(Pairing {
            call: Some(step.place),
            result: None,
            status: CallStatus::Unanswered,
            paired_by: None,
        }),
        (false, Some(_)) => None,
        (false, None) => Some(Pairing {
            call: None,
            result: Some(step.place),
            status: if step.is_duplicate {
                CallStatus::Duplicate
            } else {
                CallStatus::Orphaned
            },
            paired_by: None,
        }),
    }
}
