//! Messages that share an id: a repeat is dropped, and a different message under the same id gets a qualified id.
//!
//! Messages without an id are never compared: people do write the same thing twice.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use chatmill_diag::{Code, Finding, codes, cut};
use chatmill_model::{Alternative, Message, MessageKind};

/// The changes of positions in a conversation when repeated messages are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// The number of messages that were dropped because they repeat an earlier one.
    pub dropped: u64,
    /// The number of notices among them.
    pub dropped_notices: u64,
    /// The new position of each message; for a dropped one, that of the message it repeats. Empty if none was dropped.
    moved: Vec<u32>,
}

impl Repeats {
    /// Translates a position from before linking.
    pub fn position(&self, before: u32) -> u32 {
        // If no message was dropped, all positions are unchanged.
        self.moved.get(before as usize).copied().unwrap_or(before)
    }

    /// Translates the places of alternatives to positions after linking; dropped messages leave their place.
    pub(crate) fn translate_places(&self, alternatives: &mut [Alternative]) {
        if self.moved.is_empty() || alternatives.is_empty() {
            return;
        }
        // For each position, the number of messages before it that are left; a dropped message has the position of the one it repeats.
        let (mut left, mut before) = (vec![0], 0);
        for moved in &self.moved {
            before = before.max(moved + 1);
            left.push(before);
        }
        let translated = |position: u32| *cut::at(&left, (position as usize).min(self.moved.len()));
        for alternative in alternatives {
            alternative.place = translated(alternative.place.start)..translated(alternative.place.end);
        }
    }
}

/// The handling of a message.
enum Handling {
    Keep,
    Drop { repeats: usize },
    Rename(String),
}

/// Drops repeats, qualifies ids that are taken, renumbers positions.
pub(crate) fn drop_and_qualify(messages: &mut Vec<Message>, findings: &mut Vec<Finding>) -> Repeats {
    let repeats = match handlings(messages) {
        None => Repeats::default(),
        Some(handlings) => apply(handlings, messages, findings),
    };
    for (position, message) in (0..).zip(messages.iter_mut()) {
        message.position = position;
    }
    repeats
}

/// Decides the handling of each message; `None` if every id occurs once.
fn handlings(messages: &[Message]) -> Option<Vec<Handling>> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(messages.len());
    let mut taken = false;
    for (index, message) in messages.iter().enumerate() {
        if let Some(id) = &message.id {
            taken |= *first.entry(id).or_insert(index) != index;
        }
    }
    if !taken {
        return None;
    }

    let mut bodies: HashMap<Body<'_>, usize> = HashMap::with_capacity(messages.len());
    let mut next_number: HashMap<&str, u32> = HashMap::new();
    let mut assigned: HashSet<String> = HashSet::new();
    let mut handlings = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        let Some(id) = message.id.as_deref() else {
            handlings.push(Handling::Keep);
            continue;
        };
        let original = *bodies.entry(Body(message)).or_insert(index);
        if original != index {
            handlings.push(Handling::Drop { repeats: original });
        } else if first.get(id) == Some(&index) {
            handlings.push(Handling::Keep);
        } else {
            // The counter never goes back, so the search costs at most one step per id in the conversation.
            let number = next_number.entry(id).or_insert(2);
            let mut qualified = format!("{id}~{number}");
            while first.contains_key(qualified.as_str()) || assigned.contains(&qualified) {
                *number += 1;
                qualified = format!("{id}~{number}");
            }
            *number += 1;
            assigned.insert(qualified.clone());
            handlings.push(Handling::Rename(qualified));
        }
    }
    Some(handlings)
}

/// The finding for a message with a shared id, under its new position or id.
fn finding(code: &'static Code, text: &str, position: u32, id: Option<&str>, message: &Message) -> Finding {
    Finding::new(code, text)
        .at_message(position, id, "")
        .marking(message.id.as_deref().unwrap_or_default())
        .at_span(message.origin.start, message.origin.end)
}

fn apply(handlings: Vec<Handling>, messages: &mut Vec<Message>, findings: &mut Vec<Finding>) -> Repeats {
    let mut dropped = 0;
    let mut dropped_notices = 0;
    let mut moved: Vec<u32> = Vec::with_capacity(handlings.len());
    let mut remaining = Vec::with_capacity(messages.len());
    for (mut message, handling) in messages.drain(..).zip(handlings) {
        let position = remaining.len() as u32;
        match handling {
            Handling::Drop { repeats } => {
                let target = *cut::at(&moved, repeats);
                let id = message.id.as_deref();
                let text = "the message repeats an earlier one and is left out";
                findings.push(finding(&codes::REPEATED_ROW, text, target, id, &message));
                moved.push(target);
                dropped += 1;
                dropped_notices += u64::from(message.kind == MessageKind::Notice);
                continue;
            }
            Handling::Rename(qualified) => {
                let text = "the id is that of an earlier message with another body";
                let id = Some(qualified.as_str());
                findings.push(finding(
                    &codes::DUPLICATE_MESSAGE_ID,
                    text,
                    position,
                    id,
                    &message,
                ));
                message.id = Some(qualified);
            }
            Handling::Keep => {}
        }
        moved.push(position);
        remaining.push(message);
    }
    *messages = remaining;
    if dropped == 0 {
        moved.clear();
    }
    Repeats {
        dropped,
        dropped_notices,
        moved,
    }
}

/// A message, compared by all its fields except position and origin.
struct Body<'m>(&'m Message);

impl PartialEq for Body<'_> {
    fn eq(&self, other: &Self) -> bool {
        // Taken apart field by field, so that a new field cannot be forgotten.
        let Message {
            id,
            external_id,
            position: _,
            unstated,
            sender,
            sender_name,
            role,
            kind,
            source_type,
            timestamp,
            parts,
            references,
            mentions,
            weight,
            model,
            answer,
            usage,
            earlier_copy,
            extra,
            origin: _,
        } = self.0;
        *id == other.0.id
            && *external_id == other.0.external_id
            && *sender == other.0.sender
            && *sender_name == other.0.sender_name
            && *role == other.0.role
            && *kind == other.0.kind
            && *source_type == other.0.source_type
            && *timestamp == other.0.timestamp
            && *parts == other.0.parts
            && *references == other.0.references
            && *mentions == other.0.mentions
            && *weight == other.0.weight
            && *model == other.0.model
            && *answer == other.0.answer
            && *usage == other.0.usage
            && *earlier_copy == other.0.earlier_copy
            && *extra == other.0.extra
            && *unstated == other.0.unstated
    }
}

impl Eq for Body<'_> {}

impl Hash for Body<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // All compared fields are hashed: messages that differ only in other fields would all be compared with each other.
        let message = self.0;
        (
            &message.id,
            &message.external_id,
            &message.sender,
            &message.sender_name,
        )
            .hash(state);
        (
            message.role,
            message.kind,
            &message.source_type,
            &message.timestamp,
        )
            .hash(state);
        (
            &message.parts,
            &message.references,
            &message.mentions,
            &message.extra,
        )
            .hash(state);
        (&message.model, &message.usage, &message.unstated).hash(state);
        let earlier = message.earlier_copy.as_ref();
        earlier
            .map(|earlier| (&earlier.usage, &earlier.extra))
            .hash(state);
        // Equal weights have equal bits, except for the two zeros.
        let weight = message.weight.map(|weight| (weight.value() + 0.0).to_bits());
        weight.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::hash_map::RandomState;
    use std::hash::BuildHasher as _;

    use chatmill_model::{Extra, MessageOrigin, RawJson, Role, Usage, Weight};

    use super::*;

    /// Messages with the same hash are compared with each other, however many there are.
    #[test]
    fn messages_that_differ_in_anything_have_another_hash() {
        let plain = || Message::new(Role::User, 0, MessageOrigin::default());
        let extra = |number: usize| Extra(vec![("n".to_owned(), RawJson(number.to_string()))]);
        let by_extra = (0..200).map(|number| Message {
            extra: extra(number),
            ..plain()
        });
        let by_mention = (0..200).map(|number| Message {
            mentions: vec![number.to_string()],
            ..plain()
        });
        let by_sender = (0..200).map(|number| Message {
            sender: Some(number),
            ..plain()
        });
        let by_model = (0..200).map(|number| Message {
            model: Some(number.to_string().into()),
            ..plain()
        });
        let by_weight = (1..200_u32).map(|number| Message {
            weight: Weight::new(f64::from(number)),
            ..plain()
        });
        let by_usage = (0..200).map(|number| Message {
            usage: Some(Usage {
                output: Some(number),
                ..Usage::default()
            }),
            ..plain()
        });
        let messages: Vec<Message> = by_extra
            .chain(by_mention)
            .chain(by_sender)
            .chain(by_model)
            .chain(by_weight)
            .chain(by_usage)
            .collect();
        let state = RandomState::new();
        let hashes: HashSet<u64> = messages
            .iter()
            .map(|message| state.hash_one(Body(message)))
            .collect();
        assert_eq!(hashes.len(), messages.len());
        let [zero, other] = [0.0, -0.0].map(|weight| Message {
            weight: Weight::new(weight),
            ..plain()
        });
        assert!(Body(&zero) == Body(&other));
        assert_eq!(state.hash_one(Body(&zero)), state.hash_one(Body(&other)));
    }
}
