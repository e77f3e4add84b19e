//! Passes: each fits one aspect of the turns to a dialect and declares what that loses.
//!
//! [`arrange`] takes the turns of a transcript and runs the passes over all of them, in the order of [`PASSES`]; a pass knows the dialect
//! only by its [`DialectProfile`]. The writer of the dialect then writes the turns and loses nothing more, so the profile alone determines
//! what a dialect may lose: [`loses`]. The profile and the type of a dialect are defined here, too. How a text, a name or a tool is changed
//! is the matter of the folders below; a pass decides when.

mod arguments;
mod blanks;
mod calls_last;
mod control_tokens;
mod definitions;
pub(crate) mod dialect;
mod empty;
mod history;
mod items;
mod joined_texts;
mod lines;
mod mark_count;
mod marks;
mod media;
mod merge;
mod message_ids;
pub(crate) mod messages_profile;
mod names;
mod notices;
pub(crate) mod profile;
mod results;
mod rounds;
mod split_calls;
mod start;
mod system_place;
mod thoughts;
mod tool_ids;
mod trim;
mod unmarkable;
mod vendor_items;

#[cfg(test)]
mod samples;

pub use start::SYNTHETIC_QUESTION;

use std::collections::BTreeSet;

use chatmill_model::Role;

use crate::loss::violation::Violation;
use crate::loss::{LossCode, reasons, united};
use crate::passes::profile::{DialectProfile, Results, SystemPlace};
use crate::transcript::turns::{Block, Kinds, Turn, TurnPlan};
use crate::transcript::{self, Transcript};

/// A step between the first draft of the turns and what the writer of a dialect writes.
struct Pass {
    /// The losses that it may declare for a dialect with this profile.
    loses: fn(&DialectProfile) -> &'static [LossCode],
    run: for<'a> fn(&mut TurnPlan<'a>, &Transcript<'a>, &DialectProfile),
}

/// All passes, in the order in which they run.
const PASSES: &[&Pass] = &[
    &message_ids::DROPPED,
    &vendor_items::PASS,
    &media::PASS,
    &thoughts::PASS,
    &notices::PASS,
    &blanks::PASS,
    &marks::PASS,
    &empty::PASS,
    &calls_last::PASS,
    &mark_count::PASS,
    &joined_texts::PASS,
    &names::PASS,
    &tool_ids::PASS,
    &definitions::PASS,
    &results::PASS,
    &RESULTS_SPLIT,
    &system_place::PASS,
    &split_calls::PASS,
    &EMPTY_OR_REJECTED,
    &merge::PASS,
    &start::PASS,
    &trim::PASS,
    &MISPLACED,
    &NOTE_RENDERED,
    &joined_texts::OF_ANSWERS,
    &unmarkable::PASS,
    &history::PASS,
    &rounds::PASS,
    &items::PASS,
    &arguments::PASS,
    &message_ids::GIVEN,
    &lines::PASS,
    &control_tokens::PASS,
];

/// Returns the turns of a transcript as a dialect wants them.
pub(crate) fn arrange<'a>(transcript: &Transcript<'a>, profile: &DialectProfile) -> TurnPlan<'a> {
    let transcript = if profile.agents_are_one {
        transcript.as_one_agent()
    } else {
        transcript
    };
    let mut plan = transcript.draft(profile.order);
    for pass in PASSES {
        (pass.run)(&mut plan, transcript, profile);
    }
    plan
}

/// Returns the codes of all losses that a rendering with this profile may declare.
pub(crate) fn loses(profile: &DialectProfile) -> Vec<LossCode> {
    let own: Vec<&[LossCode]> = PASSES.iter().map(|pass| (pass.loses)(profile)).collect();
    united(&[&transcript::loses(profile.order), &own.concat()])
}

/// Returns the codes where the condition is true, and no codes where it is false.
fn codes_if(is_so: bool, codes: &'static [LossCode]) -> &'static [LossCode] {
    if is_so { codes } else { &[] }
}

fn no_losses(_: &DialectProfile) -> &'static [LossCode] {
    &[]
}

/// Declares results that are split from the other parts of their message into a separate turn; a dialect that puts results first in a user
/// turn does not split them from the parts of that user.
const RESULTS_SPLIT: Pass = Pass {
    loses: |profile| codes_if(profile.order.has_tools(), &[LossCode::TurnSplit]),
    run: |plan, _, profile| {
        if !plan.kinds.has(Kinds::RESULTS) {
            return;
        }
        let is_split = |role: Role| match role {
            Role::User => profile.results != Results::UserTurn,
            Role::Assistant => true,
            Role::System | Role::Tool => false,
        };
        let results = plan.turns.iter().filter(|turn| turn.role == Role::Tool);
        let results: BTreeSet<u32> = results.filter_map(|turn| turn.position).collect();
        let others = plan.turns.iter().filter(|turn| is_split(turn.role));
        let others: BTreeSet<u32> = others.filter_map(|turn| turn.position).collect();
        for position in others.intersection(&results) {
            plan.losses.at(reasons::RESULTS_ARE_TURNS, *position);
        }
    },
};

/// Reports a rendering without turns, and calls and results that policy rejects, as violations.
const EMPTY_OR_REJECTED: Pass = Pass {
    loses: no_losses,
    run: |plan, _, profile| {
        let rejected = plan.rejected.iter();
        plan.violations.extend(rejected.map(|cause| {
            Violation::of(profile.pairing, cause.position, cause).of_call(cause.call_id.as_deref())
        }));
        let mut turns = plan.turns.iter();
        let has_no_turns = match profile.system {
            SystemPlace::Anywhere => turns.next().is_none(),
            SystemPlace::Start | SystemPlace::Outside => turns.all(|turn| turn.role == Role::System),
        };
        if has_no_turns {
            plan.violations.push(Violation::of(
                profile.empty_conversation.0,
                None,
                profile.empty_conversation.1,
            ));
        }
    },
};

/// Reports a turn in a place that the profile forbids; only rejected calls and results leave one there.
const MISPLACED: Pass = Pass {
    loses: no_losses,
    run: |plan, _, profile| {
        let misplaced = misplaced(plan, profile);
        plan.violations.extend(misplaced);
    },
};

/// Records which messages are in the rendering.
const NOTE_RENDERED: Pass = Pass {
    loses: no_losses,
    run: |plan, _, _| plan.note_rendered(),
};

/// Finds the first misplaced turn: a second turn of one role in a row, calls after a turn of the assistant, or a result that comes first.
fn misplaced(plan: &TurnPlan<'_>, profile: &DialectProfile) -> Option<Violation> {
    let is_assistant = |turn: &Turn<'_>| turn.role == Role::Assistant;
    let is_alike = |(one, next): &(&Turn<'_>, &Turn<'_>)| is_assistant(one) == is_assistant(next);
    let mut pairs = plan.turns.iter().zip(plan.turns.iter().skip(1));
    let (rule, turn, problem) = match profile.results {
        Results::UserTurn => {
            let (_, turn) = pairs.find(is_alike)?;
            (profile.merging, turn, "two turns in a row are of one role")
        }
        Results::OneTurn => {
            let calls = |turn: &Turn<'_>| plan.blocks(turn).iter().any(Block::is_call);
            let (_, turn) = pairs.find(|pair| is_alike(pair) && calls(pair.1))?;
            (profile.merging, turn, "calls follow the assistant's turn")
        }
        Results::OwnTurns => {
            let turn = plan.turns.iter().find(|turn| turn.role != Role::System)?;
            let is_result = turn.role == Role::Tool;
            let rule = profile.user_first.filter(|_| is_result);
            (rule, turn, "the first turn is a result")
        }
    };
    Some(Violation::of(rule?, turn.position, problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::passes::samples::{ANN, BOT, PLAIN, Sample, call, result, text};

    #[test]
    fn results_beside_other_parts_are_turns_of_their_own() {
        let users = DialectProfile {
            results: Results::UserTurn,
            ..PLAIN
        };
        let answer = Sample::new().post(BOT, vec![text("a"), call("c"), result("c", "x")]);
        for profile in [&PLAIN, &users] {
            let (turns, losses) = answer.after(&[&RESULTS_SPLIT], profile);
            assert_eq!(turns, ["assistant: a | <call   >", "tool: <result   x>"]);
            assert_eq!(losses, ["turn-split 0 1"]);
        }
        let asked = Sample::new()
            .post(BOT, vec![call("c")])
            .post(ANN, vec![result("c", "x"), text("b")]);
        assert_eq!(asked.after(&[&RESULTS_SPLIT], &PLAIN).1, ["turn-split 1 1"]);
        assert!(asked.after(&[&RESULTS_SPLIT], &users).1.is_empty());
        let parted = Sample::new()
            .post(BOT, vec![call("c")])
            .post(ANN, vec![result("c", "x")]);
        assert!(parted.after(&[&RESULTS_SPLIT], &PLAIN).1.is_empty());
    }
}
