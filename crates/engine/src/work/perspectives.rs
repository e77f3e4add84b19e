//! Whose eyes a conversation is rendered through.

use chatmill_dialect::auto_perspective;
use chatmill_model::{Linked, ParticipantKind};

use crate::pipeline::{PerspectiveChoice, PerspectiveRule};

/// Who speaks as the assistant in a conversation: one entry per rendering, and how many configured participants are absent.
pub fn perspectives(linked: &Linked, speaker: &PerspectiveChoice) -> (Vec<Option<usize>>, u64) {
    let participants = &linked.conversation.participants;
    match speaker {
        PerspectiveChoice::Rule(PerspectiveRule::Auto) => (vec![auto_perspective(linked)], 0),
        PerspectiveChoice::Rule(PerspectiveRule::None) => (vec![None], 0),
        PerspectiveChoice::Rule(PerspectiveRule::EachAgent) => {
            let agents: Vec<Option<usize>> = participants
                .iter()
                .enumerate()
                .filter(|(_, participant)| participant.kind == ParticipantKind::Agent)
                .map(|(index, _)| Some(index))
                .collect();
            (if agents.is_empty() { vec![None] } else { agents }, 0)
        }
        PerspectiveChoice::Rule(PerspectiveRule::EachParticipant) => {
            let everybody: Vec<Option<usize>> = (0..participants.len()).map(Some).collect();
            (
                if everybody.is_empty() {
                    vec![None]
                } else {
                    everybody
                },
                0,
            )
        }
        PerspectiveChoice::Participants(names) => {
            let mut found: Vec<Option<usize>> = Vec::new();
            let mut absent = 0;
            for name in names {
                let by_id = participants
                    .iter()
                    .position(|participant| participant.id == *name);
                let index = by_id.or_else(|| {
                    participants
                        .iter()
                        .position(|participant| participant.name.as_ref() == Some(name))
                });
                match index {
                    None => absent += 1,
                    Some(index) if found.contains(&Some(index)) => {}
                    Some(index) => found.push(Some(index)),
                }
            }
            (found, absent)
        }
    }
}
