//! Saying a conversation in the plan's dialects.

use chatmill_dialect::{Rendering, View, auto_perspective};
use chatmill_model::{Linked, ParticipantKind};

use crate::pipeline::{Speaker, SpeakerRule};
use crate::plan::Target;

/// Who speaks as the assistant in a conversation: one entry per rendering, and how many configured participants are absent.
pub fn perspectives(linked: &Linked, speaker: &Speaker) -> (Vec<Option<usize>>, u64) {
    let participants = &linked.conversation.participants;
    match speaker {
        Speaker::Rule(SpeakerRule::Auto) => (vec![auto_perspective(linked)], 0),
        Speaker::Rule(SpeakerRule::None) => (vec![None], 0),
        Speaker::Rule(SpeakerRule::EachAgent) => {
            let agents: Vec<Option<usize>> = participants
                .iter()
                .enumerate()
                .filter(|(_, participant)| participant.kind == ParticipantKind::Agent)
                .map(|(index, _)| Some(index))
                .collect();
            (if agents.is_empty() { vec![None] } else { agents }, 0)
        }
        Speaker::Rule(SpeakerRule::EachParticipant) => {
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
        Speaker::Participants(names) => {
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

/// Renders a conversation in one dialect for every perspective; `emit` gets the perspective's participant id (`""` for none).
pub fn render(
    linked: &Linked,
    target: Target,
    perspectives: &[Option<usize>],
    policy: &chatmill_dialect::Policy,
    history: chatmill_dialect::History,
    emit: &mut dyn FnMut(&str, Rendering<'_>),
) {
    let neutral = [None];
    let perspectives = if target.dialect.about().neutral {
        &neutral
    } else {
        perspectives
    };
    for perspective in perspectives {
        let participant = perspective.and_then(|index| linked.conversation.participants.get(index));
        let id = participant.map_or("", |participant| participant.id.as_str());
        let view = View {
            linked,
            perspective: *perspective,
            policy,
            profile: target.profile,
            history,
        };
        target.dialect.render(&view, &mut |rendering| emit(id, rendering));
    }
}
