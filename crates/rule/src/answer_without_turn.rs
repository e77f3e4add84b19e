//! `answer-without-turn`: an answer with logged usage that is not a turn.

use std::collections::BTreeMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Message, MessageKind, Part, Role, Usage};

use crate::walk::at_message;

/// Finds logged usage at messages that are not turns: one finding a conversation, at the first such message.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let messages = linked.conversation.messages.iter();
    let logged = messages.filter(|message| message.usage.is_some());
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut first = None;
    let mut answers = 0_u64;
    // A sum of several requests includes the answers without a whole usage.
    let (mut summed, mut incomplete, mut sum) = (0_u64, 0_u64, None);
    for message in logged {
        if let Some(requests) = message.usage.and_then(|usage| usage.requests) {
            summed += u64::from(requests);
            sum = sum.or(Some(message));
            continue;
        }
        answers += 1;
        incomplete += u64::from(!message.usage.is_some_and(Usage::is_whole));
        if let Some(kind) = kind_without_turn(message) {
            *kinds.entry(kind).or_default() += 1;
            first = first.or(Some(message));
        }
    }
    let unlogged = linked.conversation.messages.iter().filter(|message| {
        let is_answer = message.kind == MessageKind::Message && message.role == Role::Assistant;
        is_answer && message.usage.is_none()
    });
    let hidden = summed.saturating_sub(incomplete + unlogged.count() as u64);
    if hidden > 0 {
        answers += hidden;
        *kinds.entry("not recorded").or_default() += hidden;
        first = first.or(sum);
    }
    let Some(first) = first else { return };
    let without: u64 = kinds.values().sum();
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let turns = answers.saturating_sub(without);
    let text = format!(
        "the log counts {answers} model answers, {turns} of them turns; without a turn: {}",
        kinds.join(", ")
    );
    let mut finding = at_message(&codes::ANSWER_WITHOUT_TURN, first, text);
    finding.count = without;
    findings.push(finding);
}

/// The kind of a message with logged usage that is not a turn.
fn kind_without_turn(message: &Message) -> Option<&'static str> {
    if message.kind == MessageKind::Message {
        let is_content = |part: &Part| !matches!(part, Part::CacheMark);
        return (!message.parts.iter().any(is_content)).then_some("empty");
    }
    let word = message.source_type.as_deref().unwrap_or_default();
    let known = [
        ("compact", "compaction"),
        ("summar", "compaction"),
        ("title", "title"),
        ("abort", "aborted"),
        ("interrupt", "aborted"),
        ("error", "failed"),
        ("retr", "retried"),
        ("rewound", "undone"),
        ("token_count", "not recorded"),
    ];
    let found = known.iter().find(|(part, _)| word.contains(part));
    Some(found.map_or("event", |(_, kind)| kind))
}
