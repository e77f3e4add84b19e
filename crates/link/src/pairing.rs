//! Pairs tool calls with their results.
//!
//! There are four rules, the most certain first; each takes the calls and results that the rules before it left:
//!
//! 1. equal ids;
//! 2. equal ids in the metadata of the source, which may also match an id of the other side;
//! 3. a result that names the message of its call takes a call of that message, by name and order;
//! 4. order and name, only backwards: a result without its call, which was cut off, must not take the next call of the same tool.
//!
//! A pair is late if any message but results, or another call, is between its two ends.
//!
//! Why: docs/decisions/2026-11-22-duplicate-call-ids.md.

mod ids;
mod order;

use std::collections::HashMap;

use chatmill_diag::cut;
use chatmill_model::{CallStatus, Message, MessageKind, PairedBy, Pairing, Part, PartPlace};

/// A call or a result, in order of appearance.
struct Step<'m> {
    place: PartPlace,
    /// The number of its round, which is a run of calls and the run of results directly after it; 0 outside of rounds.
    round: u32,
    is_call: bool,
    id: Option<&'m str>,
    metadata_id: Option<&'m str>,
    /// The position of the message that made the call, if a result names one and it exists.
    caller: Option<u32>,
    name: Option<&'m str>,
    /// The index of the participant who sent it.
    sender: Option<usize>,
    /// The number of messages with more than results: before a result's message, or up to and including a call's message.
    turns: u32,
    /// Whether it is another result for the id of an answered call.
    is_duplicate: bool,
    partner: Option<(usize, PairedBy)>,
}

/// Pairs every call and every result; calls in order of appearance, with results without a call at their places.
pub(crate) fn pair(messages: &[Message]) -> Vec<Pairing> {
    let mut steps = steps(messages);
    if steps.is_empty() {
        return Vec::new();
    }
    ids::pair(&mut steps);
    ids::pair_by_metadata(&mut steps);
    order::pair_by_caller(&mut steps);
    order::pair_by_order(&mut steps);
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
    let positions = callers(messages);
    let mut steps = Vec::new();
    let mut round = 0;
    let mut turns = 0;
    let mut run = Run::None;
    for message in messages {
        let before = steps.len();
        let has_more_than_results = u32::from(has_more_than_results(message));
        for (part, content) in (0..).zip(&message.parts) {
            let (is_call, id, metadata_id, caller, name) = match content {
                Part::ToolCall(call) => (true, &call.id, &call.metadata_id, None, &call.name),
                Part::ToolResult(result) => (
                    false,
                    &result.call_id,
                    &result.metadata_id,
                    result.caller.as_deref(),
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
                caller: caller.and_then(|caller| positions.get(caller).copied()),
                name: name.as_deref(),
                sender: message.sender,
                turns: turns + u32::from(is_call) * has_more_than_results,
                is_duplicate: false,
                partner: None,
            });
        }
        if steps.len() == before && message.kind == MessageKind::Message {
            run = Run::None;
        }
        turns += has_more_than_results;
    }
    steps
}

/// Whether a message is a turn with anything but results.
fn has_more_than_results(message: &Message) -> bool {
    let is_result = |part: &Part| matches!(part, Part::ToolResult(_) | Part::CacheMark);
    message.kind == MessageKind::Message && (message.parts.is_empty() || !message.parts.iter().all(is_result))
}

/// Positions of messages by their ids, then by their second ids; empty unless a result names its caller.
fn callers(messages: &[Message]) -> HashMap<&str, u32> {
    let names_one = |part: &Part| matches!(part, Part::ToolResult(result) if result.caller.is_some());
    let mut positions = HashMap::new();
    if messages.iter().flat_map(|message| &message.parts).any(names_one) {
        let ids = messages.iter().map(|message| (&message.id, message.position));
        let others = messages
            .iter()
            .map(|message| (&message.external_id, message.position));
        for (id, position) in ids.chain(others) {
            if let Some(id) = id {
                positions.entry(id.as_str()).or_insert(position);
            }
        }
    }
    positions
}

fn is_open(steps: &[Step<'_>], index: usize) -> bool {
    cut::at(steps, index).partner.is_none()
}

fn join(steps: &mut [Step<'_>], call: usize, result: usize, rule: PairedBy) {
    for (index, partner) in [(call, result), (result, call)] {
        let step = cut::at_mut(steps, index);
        step.partner = Some((partner, rule));
        step.is_duplicate = false;
    }
}

/// The row of a call, or of a result without a call; a paired result is in the row of its call.
fn pairing(step: &Step<'_>, steps: &[Step<'_>]) -> Option<Pairing> {
    let partner = step.partner.map(|(index, rule)| (cut::at(steps, index), rule));
    let status = match (step.is_call, partner) {
        (false, Some(_)) => return None,
        (false, None) if step.is_duplicate => CallStatus::Duplicate,
        (false, None) => CallStatus::Orphaned,
        (true, None) => CallStatus::Unanswered,
        (true, Some((result, _))) if result.place < step.place => CallStatus::Early,
        (true, Some((result, _))) if result.turns <= step.turns => CallStatus::Paired,
        (true, Some(_)) => CallStatus::Late,
    };
    let own = Some(step.place);
    let (call, result) = if step.is_call {
        (own, partner.map(|(result, _)| result.place))
    } else {
        (None, own)
    };
    Some(Pairing {
        call,
        result,
        status,
        paired_by: partner.map(|(_, rule)| rule),
    })
}
