//! Thumbs: users' ratings of answers in a chat program, in the message or in a separate file.
//!
//! An answer with a thumb is labelled among the alternatives at its place. An answer that was rated bad stays in the conversation,
//! because the chat went on from there, but is not trained on. A thumb is about the whole answer: all messages up to the next question.

use std::collections::{HashMap, HashSet};

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::Value;
use chatmill_model::{AlternativeOrigin, Judgement, Role, Weight};

use crate::layout::list::ListReader;

/// The rating of an answer by a person.
#[derive(Debug)]
pub(crate) struct Thumb<'d> {
    /// The id of a message of the answer.
    pub message: String,
    /// Whether the answer was rated good.
    pub is_good: bool,
    /// The path of the thumb in the record.
    pub path: String,
    /// The thumb, as a place for findings.
    pub value: Value<'d>,
}

/// Labels the answers that have thumbs; of several thumbs for one answer the last is used. `met` are the ids of messages that thumbs
/// were found for in this branch and others: a thumb without its message labels nothing.
pub(crate) fn apply<'d>(list: &mut ListReader<'d, '_>, thumbs: &[Thumb<'d>], met: &mut HashSet<String>) {
    if thumbs.is_empty() {
        return;
    }
    let labels: HashMap<&str, bool> = thumbs
        .iter()
        .map(|thumb| (thumb.message.as_str(), thumb.is_good))
        .collect();
    let mut found = HashSet::new();
    label_others(list, &labels, &mut found);
    label_own(list, &labels, &mut found);
    let is_new = |message: &String| found.contains(message) && !met.contains(message);
    for thumb in thumbs.iter().filter(|thumb| is_new(&thumb.message)) {
        let text = if thumb.is_good {
            "a person rated the answer good: it has that label among the alternatives"
        } else {
            "a person rated the answer bad: it has that label among the alternatives, and is not trained on"
        };
        let finding = Finding::new(&codes::LABELLED_ANSWER, text).at_path(thumb.path.clone());
        list.notes.push(finding, Some(thumb.value));
    }
    met.extend(found);
}

/// Labels the answers that are not in the conversation.
fn label_others(list: &mut ListReader<'_, '_>, labels: &HashMap<&str, bool>, met: &mut HashSet<String>) {
    for alternative in &mut list.alternatives {
        for message in alternative.messages.iter().flatten() {
            let id = message.id.as_deref().filter(|_| message.role != Role::User);
            if let Some((id, is_good)) = id.and_then(|id| labels.get_key_value(id)) {
                alternative.judgement.label = Some(*is_good);
                met.insert((*id).to_owned());
            }
        }
    }
}

/// Labels the answers of the conversation.
fn label_own(list: &mut ListReader<'_, '_>, labels: &HashMap<&str, bool>, met: &mut HashSet<String>) {
    let own = list.alternatives.iter().enumerate();
    let own = own.filter(|(_, alternative)| alternative.messages.is_none());
    let mut places: HashMap<usize, usize> = own
        .map(|(index, alternative)| (alternative.place.start as usize, index))
        .collect();
    let shared: HashSet<usize> = list.shared.iter().copied().collect();
    let asks = |role: Role| matches!(role, Role::User | Role::System);
    // The beginning of the answer that the present message belongs to, and the alternative at its place.
    let (mut begin, mut place) = (0, None);
    for position in 0..list.messages.len() {
        let Some(message) = list.messages.get(position) else {
            break;
        };
        if asks(message.role) {
            (begin, place) = (position + 1, None);
        }
        place = places.get(&position).copied().or(place);
        let Some((id, is_good)) = message.id.as_deref().and_then(|id| labels.get_key_value(id)) else {
            continue;
        };
        if message.role == Role::User {
            continue;
        }
        met.insert((*id).to_owned());
        if shared.contains(&position) {
            // The earlier branch has the label.
            continue;
        }
        if place.is_none() {
            let rest = list
                .messages
                .iter()
                .skip(position)
                .position(|next| asks(next.role));
            let end = rest.map_or(list.messages.len(), |rest| position + rest);
            let origin = if *is_good {
                AlternativeOrigin::Chosen
            } else {
                AlternativeOrigin::Rejected
            };
            place = Some(list.alternatives.len());
            places.insert(begin, list.alternatives.len());
            list.alternatives(begin..end, Some((origin, Judgement::default())), []);
        }
        if let Some(alternative) = place.and_then(|place| list.alternatives.get_mut(place)) {
            alternative.judgement.label = Some(*is_good);
        }
    }
    let bad = list
        .alternatives
        .iter()
        .filter(|alternative| alternative.messages.is_none() && alternative.judgement.label == Some(false));
    let bad: HashSet<usize> = bad.map(|alternative| alternative.place.start as usize).collect();
    let mut is_bad = false;
    for (position, message) in list.messages.iter_mut().enumerate() {
        is_bad = (is_bad && !asks(message.role)) || bad.contains(&position);
        if is_bad && message.role == Role::Assistant {
            message.weight = Weight::new(0.0);
        }
    }
}
