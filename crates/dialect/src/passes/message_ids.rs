//! Ids of messages: the first turn of a message gets its id, where the dialect has a place for ids.

use std::collections::BTreeSet;

use chatmill_diag::cut;

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::transcript::turns::TurnPlan;

/// Declares ids that have no place.
pub(super) const DROPPED: Pass = Pass {
    loses: |profile| codes_if(!profile.keeps_message_ids, &[LossCode::MessageIdDropped]),
    run: |plan, transcript, profile| {
        if !profile.keeps_message_ids {
            let messages = transcript.messages().iter();
            plan.losses.whole_rendering(
                reasons::NO_PLACE_FOR_MESSAGE_IDS,
                messages.filter(|message| message.id.is_some()).count() as u64,
            );
        }
    },
};

/// Sets the ids of turns.
pub(super) const GIVEN: Pass = Pass {
    loses: super::no_losses,
    run: |plan, transcript, profile| {
        if profile.keeps_message_ids {
            let turns = plan.turns.iter().enumerate();
            let mut firsts: Vec<_> = turns
                .filter_map(|(index, turn)| Some((turn.position?, index)))
                .collect();
            firsts.sort_unstable();
            firsts.dedup_by_key(|(position, _)| *position);
            for (position, index) in firsts {
                let message = transcript.view().message(position);
                cut::at_mut(&mut plan.turns, index).message_id =
                    message.and_then(|message| message.id.as_deref());
            }
        }
    },
};

/// Returns the positions of the messages that have a turn, which gets their id.
pub(super) fn written(plan: &TurnPlan<'_>) -> BTreeSet<u32> {
    plan.turns.iter().filter_map(|turn| turn.position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, BEN, PLAIN, Sample, text};

    #[test]
    fn ids_without_a_place_are_counted_and_others_stand_on_the_first_turn() {
        let sample = Sample::new()
            .post(ANN, vec![text("a")])
            .post(BEN, vec![text("b")]);
        let (_, losses) = sample.after(&[&DROPPED, &GIVEN], &PLAIN);
        assert_eq!(losses, ["message-id-dropped all 2"]);
        let keeping = DialectProfile {
            keeps_message_ids: true,
            ..PLAIN
        };
        assert!(sample.after(&[&DROPPED, &GIVEN], &keeping).1.is_empty());
    }
}
