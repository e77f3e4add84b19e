//! Writes the assistant's thoughts before its text, where policy and dialect keep them.

use chatmill_model::{Component, Role};

use super::Pass;
use crate::loss::{LossCode, LossReason, reasons};
use crate::passes::profile::{DialectProfile, Thoughts};
use crate::text::control_tokens::{Reserved, escape};
use crate::text::run::TextRun;
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, Kinds, Turn, TurnPlan, Wording};
use crate::view::policy::Reasoning;

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.thoughts {
        Thoughts::Nowhere(_) => &[LossCode::ReasoningDropped],
        Thoughts::Field => &[
            LossCode::ReasoningDropped,
            LossCode::PartFlattened,
            LossCode::PartMoved,
        ],
        Thoughts::Tagged => &[
            LossCode::ReasoningDropped,
            LossCode::PartFlattened,
            LossCode::PartMoved,
            LossCode::ReservedTextEscaped,
        ],
    },
    run: |plan, transcript, profile| {
        if plan.kinds.has(Kinds::REASONING) {
            plan.rebuild(|plan, turn, blocks| {
                let start = plan.blocks.len();
                if let Some(reason) = refusal(&turn, transcript, profile) {
                    let dropped = blocks.iter().filter(|block| is_reasoning(block));
                    for position in dropped.filter_map(|block| block.position) {
                        plan.losses.at((LossCode::ReasoningDropped, reason), position);
                    }
                } else {
                    let thought = thought(plan, transcript, profile, blocks);
                    plan.blocks.extend(thought);
                }
                let others = blocks.iter().filter(|block| !is_reasoning(block));
                plan.blocks.extend(others);
                plan.close(turn, start);
            });
        }
    },
};

fn is_reasoning(block: &Block<'_>) -> bool {
    matches!(block.content, BlockContent::Reasoning(_))
}

/// Returns why the thoughts of a turn are dropped, or `None` if they are kept.
fn refusal(turn: &Turn<'_>, transcript: &Transcript<'_>, profile: &DialectProfile) -> Option<LossReason> {
    let keeps_thoughts = transcript.view().policy.reasoning == Reasoning::Keep;
    match profile.thoughts {
        Thoughts::Nowhere(reason) => Some(reason),
        _ if !keeps_thoughts => Some(reasons::POLICY_DROPS_REASONING),
        _ if turn.role != Role::Assistant => Some(reasons::ONLY_OWN_TURNS_HOLD_REASONING),
        _ => None,
    }
}

/// Returns the thoughts of a turn as one block, separated by blank lines.
fn thought<'a>(
    plan: &mut TurnPlan<'a>,
    transcript: &Transcript<'a>,
    profile: &DialectProfile,
    blocks: &[Block<'a>],
) -> Option<Block<'a>> {
    let is_tagged = profile.thoughts == Thoughts::Tagged;
    let mut words = Vec::new();
    let mut first = None;
    let mut is_behind = false;
    for block in blocks {
        let (BlockContent::Reasoning(thought), Some(position)) = (block.content, block.position) else {
            is_behind |= !matches!(block.content, BlockContent::CacheMark);
            continue;
        };
        if thought.is_empty() {
            continue;
        }
        let moved = u64::from(is_behind);
        plan.losses
            .several(reasons::REASONING_STANDS_IN_FRONT, position, moved);
        if !words.is_empty() {
            plan.losses.at(reasons::THOUGHTS_ARE_JOINED, position);
            words.push(TextRun::new("\n\n", Component::Framing));
        }
        let mut text = thought;
        if is_tagged {
            let (escaped, count) = escape(thought.into(), Reserved::Thoughts);
            plan.losses
                .several(reasons::THOUGHT_SPELLS_ITS_END, position, count);
            text = transcript.arena().keep(escaped);
        }
        words.push(TextRun::new(text, Component::Content));
        first = first.or(Some(block));
    }
    if is_tagged {
        words.insert(0, TextRun::new("<think>\n", Component::Framing));
        words.push(TextRun::new("\n</think>\n", Component::Framing));
    }
    let words = plan.wording(words);
    Some(Block {
        content: BlockContent::Words(Wording::Thought, words),
        ..*first?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Part;

    use crate::passes::samples::{ANN, BOT, PLAIN, Sample, text};

    fn thinking() -> Sample {
        let thought = |words: &str| Part::Reasoning(words.to_owned());
        let mut sample = Sample::new().post(BOT, vec![text("a"), thought("one </think>"), thought("two")]);
        sample.policy.reasoning = Reasoning::Keep;
        sample
    }

    #[test]
    fn thoughts_stand_before_the_text_or_nowhere() {
        let (turns, losses) = thinking().after(&[&PASS], &PLAIN);
        assert_eq!(turns, ["assistant: a"]);
        assert_eq!(losses, ["reasoning-dropped 0 2"]);
        let tagged = DialectProfile {
            thoughts: Thoughts::Tagged,
            ..PLAIN
        };
        let (turns, losses) = thinking().after(&[&PASS], &tagged);
        let thought = "<think>\none <\u{200b}/think>\n\ntwo\n</think>\n";
        assert_eq!(turns, [format!("assistant: {thought} | a")]);
        assert_eq!(
            losses,
            [
                "part-flattened 0 1",
                "part-moved 0 2",
                "reserved-text-escaped 0 1"
            ]
        );
        let field = DialectProfile {
            thoughts: Thoughts::Field,
            ..PLAIN
        };
        let (turns, losses) = thinking().after(&[&PASS], &field);
        assert_eq!(turns, ["assistant: one </think>\n\ntwo | a"]);
        assert_eq!(losses, ["part-flattened 0 1", "part-moved 0 2"]);
    }

    #[test]
    fn thoughts_of_users_and_thoughts_under_policy_drop_are_losses() {
        let field = DialectProfile {
            thoughts: Thoughts::Field,
            ..PLAIN
        };
        let mut others = Sample::new().post(ANN, vec![text("a"), Part::Reasoning("b".to_owned())]);
        others.policy.reasoning = Reasoning::Keep;
        let mut dropped = thinking();
        dropped.policy.reasoning = Reasoning::Drop;
        assert_eq!(others.after(&[&PASS], &field).1, ["reasoning-dropped 0 1"]);
        assert_eq!(dropped.after(&[&PASS], &field).1, ["reasoning-dropped 0 2"]);
    }
}
