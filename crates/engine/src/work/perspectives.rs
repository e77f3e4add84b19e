//! The perspectives of a conversation: the participants who are rendered as the assistant.

use std::collections::BTreeSet;

use chatmill_dialect::auto_perspective;
use chatmill_model::{Conversation, Linked, Participant, ParticipantKind};

use crate::pipeline::{PerspectiveChoice, PerspectiveRule};

/// The most names in an error.
const MAX_NAMES: usize = 12;

/// Adds the names of a conversation's participants (the id if there is no name) to the names for an error.
pub(crate) fn add_names(names: &mut BTreeSet<String>, conversation: &Conversation) {
    let participants = conversation.participants.iter();
    let participants = participants.map(|one| one.name.as_ref().unwrap_or(&one.id));
    // One more name shows that there are others.
    names.extend(participants.take(MAX_NAMES + 1).cloned());
    shorten_names(names);
}

/// Removes the names beyond those in an error, except one.
pub(crate) fn shorten_names(names: &mut BTreeSet<String>) {
    while names.len() > MAX_NAMES + 1 {
        names.pop_last();
    }
}

/// Returns the names as in a message; empty for none.
pub(crate) fn list_names(names: &BTreeSet<String>) -> String {
    let listed: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| format!("`{name}`"))
        .collect();
    let more = if names.len() > MAX_NAMES {
        " and others"
    } else {
        ""
    };
    match listed.as_slice() {
        [] => String::new(),
        _ => format!("; there are {}{more}", listed.join(", ")),
    }
}

/// Returns the assistant of each rendering of a conversation,
/// and the number of configured participants that are absent.
pub fn perspectives(linked: &Linked, speaker: &PerspectiveChoice) -> (Vec<Option<usize>>, u64) {
    let participants = &linked.conversation.participants;
    match speaker {
        PerspectiveChoice::Rule(PerspectiveRule::Auto) => (vec![auto_perspective(linked)], 0),
        PerspectiveChoice::Rule(PerspectiveRule::None) => (vec![None], 0),
        PerspectiveChoice::Rule(rule @ (PerspectiveRule::EachAgent | PerspectiveRule::EachParticipant)) => {
            let is_meant = |one: &Participant| {
                *rule == PerspectiveRule::EachParticipant || one.kind == ParticipantKind::Agent
            };
            let meant = (0..).zip(participants).filter(|(_, one)| is_meant(one));
            let meant: Vec<Option<usize>> = meant.map(|(index, _)| Some(index)).collect();
            (if meant.is_empty() { vec![None] } else { meant }, 0)
        }
        PerspectiveChoice::Participants(names) => {
            let mut found: Vec<Option<usize>> = Vec::new();
            let mut absent = 0;
            for name in names {
                let by_id = participants.iter().position(|one| one.id == *name);
                let is_named = |one: &Participant| one.name.as_ref() == Some(name);
                match by_id.or_else(|| participants.iter().position(is_named)) {
                    None => absent += 1,
                    Some(index) if found.contains(&Some(index)) => {}
                    Some(index) => found.push(Some(index)),
                }
            }
            (found, absent)
        }
    }
}
