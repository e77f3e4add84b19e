//! The rules by which agents may answer: not beyond a depth, not twice in a chain, not without being mentioned.

use std::collections::{HashMap, HashSet};

use chatmill_diag::{Finding, codes};

use super::event::{Capture, Event, EventKind, finding_at};

/// Looks for answers that break the rules of the room, among events in order.
pub(super) fn check(events: &[Event], response_depth: u32, findings: &mut Vec<Finding>) {
    // Unanswered calls, by participant and by the agent name of a task.
    let mut calls: HashMap<usize, u64> = HashMap::new();
    let mut tasks: HashMap<String, u64> = HashMap::new();
    for event in events {
        findings.extend(loops(event, response_depth));
        if let Some(agent) = event.sender.filter(|_| is_answer(event)) {
            let name = event.speaker.name.as_deref().unwrap_or_default().to_lowercase();
            let mut open = calls.get_mut(&agent).filter(|count| **count > 0);
            if open.is_none() {
                open = tasks.get_mut(&name).filter(|count| **count > 0);
            }
            if let Some(count) = open {
                *count -= 1;
            } else {
                let text = "no message since the agent's last answer mentions it";
                findings.push(finding_at(event, &codes::UNMENTIONED_RESPONSE, text, ""));
            }
        }
        let mentioned = event.mentioned.places.iter();
        for place in mentioned.filter(|place| Some(**place) != event.sender) {
            *calls.entry(*place).or_default() += 1;
        }
        if let Some(agent) = &event.task_agent {
            *tasks.entry(agent.to_lowercase()).or_default() += 1;
        }
    }
}

/// Whether an event answers a mention or a task, with or without a chain. The desktop client does not store
/// the kind of an entry.
fn is_answer(event: &Event) -> bool {
    let is_api = event.extra.iter().any(|(key, _)| key == "senderType");
    event.kind == EventKind::Final
        && matches!(event.word.as_deref(), Some("response" | "done"))
        && event.speaker.is_agent == Some(true)
        && (event.capture == Capture::Live || event.capture == Capture::Api && !is_api)
}

fn loops(event: &Event, response_depth: u32) -> Option<Finding> {
    let limit = u64::from(response_depth);
    let mut seen = HashSet::new();
    let is_twice = !event.chain.iter().all(|name| seen.insert(name.to_lowercase()));
    let chain = event.chain.len() as u64;
    let too_deep = |text: String, field| Some(finding_at(event, &codes::LOOP_DEPTH_EXCEEDED, text, field));
    if let Some(depth) = event.depth.filter(|depth| *depth > limit) {
        let text = format!("the answer has depth {depth}, the limit is {limit}");
        return too_deep(text, ".responseDepth");
    }
    let text = if is_twice {
        "an agent is in the chain twice".to_owned()
    } else if chain > limit {
        format!("the chain holds {chain} agents, the limit is {limit}")
    } else {
        return None;
    };
    too_deep(text, ".respondingChain")
}
