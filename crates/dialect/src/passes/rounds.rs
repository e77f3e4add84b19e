//! Rounds: what users write, then the calls with their results, then the assistant's text.
//!
//! Calls have no ids there and follow one another, each with its result, and text beside a call follows the last of them; the thought
//! that led to a call stays before it. Calls with which the conversation ends are one turn, and nothing can follow them.

use std::collections::{BTreeMap, VecDeque};

use chatmill_diag::cut;
use chatmill_model::Role;

use super::Pass;
use super::start::push_start;
use crate::loss::rule::DialectRule;
use crate::loss::violation::Violation;
use crate::loss::{LossCause, LossCode, reasons};
use crate::passes::profile::Shape;
use crate::transcript::turns::{Block, BlockContent, Turn, TurnPlan};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.shape {
        Shape::Rounds { .. } => &[
            LossCode::TurnMoved,
            LossCode::TurnMerged,
            LossCode::TurnSplit,
            LossCode::PartMoved,
            LossCode::ToolIdDropped,
            LossCode::EmptyFilled,
            LossCode::TextDropped,
            LossCode::ReasoningDropped,
        ],
        _ => &[],
    },
    run: |plan, _, profile| {
        let Shape::Rounds { order, calls, texts } = profile.shape else {
            return;
        };
        let rules = RoundRules { order, calls, texts };
        let mut round = Round::default();
        let last = plan.turns.last().map(|turn| turn.start);
        plan.rebuild(|plan, turn, blocks| {
            if turn.role == Role::User && !round.reply.is_empty() {
                round.close(plan, rules);
            }
            round.is_open = true;
            if turn.role == Role::Assistant && Some(turn.start) == last && blocks.iter().any(Block::is_call) {
                round.end(plan, rules, &turn, blocks);
            } else {
                round.add(plan, rules, &turn, blocks);
            }
        });
        let last = round.close(plan, rules);
        if let Some(last) = last {
            plan.progress.added(last.as_str());
        }
        if round.is_unanswered {
            let last = plan.progress.last_position();
            let silent = Violation::of(profile.silent.0, last, "the last turn is not the assistant's");
            plan.violations.push(silent);
        }
        let asks = |turn: &Turn<'_>| matches!(turn.role, Role::User | Role::Tool);
        let mut turns = plan.turns.iter().enumerate();
        if turns.any(|(place, turn)| asks(turn) != place.is_multiple_of(2)) {
            let problem = "questions and answers do not alternate";
            plan.violations.push(Violation::of(order, None, problem));
        }
    },
};

#[derive(Clone, Copy)]
struct RoundRules {
    order: &'static DialectRule,
    calls: &'static DialectRule,
    texts: &'static DialectRule,
}

/// The blocks of a call, and its result.
#[derive(Default)]
struct Exchange<'a> {
    call: Vec<Block<'a>>,
    result: Option<Block<'a>>,
}

/// A round as far as it is known.
#[derive(Default)]
struct Round<'a> {
    is_open: bool,
    /// Whether the round before ended without an answer.
    is_unanswered: bool,
    asked: Vec<Block<'a>>,
    /// Calls, each with the thought before it, and their results; one of them is missing where policy rejects instead of repairing.
    exchanges: Vec<Exchange<'a>>,
    /// Exchanges that wait for their result, by id of the call, in order.
    waiting: BTreeMap<&'a str, VecDeque<usize>>,
    reply: Vec<Block<'a>>,
    /// The calls with which the conversation ends, behind the thought before them.
    label: Vec<Block<'a>>,
}

impl<'a> Round<'a> {
    fn add(&mut self, plan: &mut TurnPlan<'a>, rules: RoundRules, turn: &Turn<'a>, blocks: &[Block<'a>]) {
        let mut declare = |cause: LossCause| {
            if let Some(position) = turn.position {
                plan.losses.at(cause, position);
            }
        };
        match turn.role {
            Role::User | Role::System => {
                if !self.exchanges.is_empty() {
                    declare(reasons::NOBODY_BETWEEN_RESULT_AND_ANSWER.by(rules.order));
                }
                if !self.asked.is_empty() {
                    declare(reasons::TURNS_ARE_ONE.by(rules.order));
                }
                self.asked.extend(blocks);
            }
            Role::Tool => {
                for block in blocks {
                    if let BlockContent::Result(result) = block.content {
                        if result.result.is_some() {
                            declare(reasons::THERE_ARE_NO_IDS.by(rules.calls));
                        }
                        self.answer(*block, result.id);
                    }
                }
            }
            Role::Assistant => self.reply(rules, blocks, &mut declare),
        }
    }

    /// The assistant's last turn, where it calls: no result follows, behind which text could stand.
    fn end(&mut self, plan: &mut TurnPlan<'a>, rules: RoundRules, turn: &Turn<'a>, blocks: &[Block<'a>]) {
        let stays = |block: &Block<'_>| block.is_call() || block.is_thought();
        let (label, beside): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| stays(block));
        self.label = label;
        for block in self.reply.drain(..).chain(beside) {
            let code = if block.is_thought() {
                LossCode::ReasoningDropped
            } else {
                LossCode::TextDropped
            };
            if let Some(position) = block.position {
                let reason = reasons::LAST_CALLS_HOLD_NO_TEXT.by(rules.texts);
                plan.losses.at((code, reason), position);
            }
        }
        if let Some(position) = turn.position {
            let calls = self.label.iter().filter(|block| block.is_call());
            let count = calls.count() as u64;
            let cause = reasons::THERE_ARE_NO_IDS.by(rules.calls);
            plan.losses.several(cause, position, count);
        }
    }

    fn reply(&mut self, rules: RoundRules, blocks: &[Block<'a>], declare: &mut impl FnMut(LossCause)) {
        let calls = blocks.iter().filter(|block| block.is_call()).count();
        let mut thoughts: Vec<Block<'a>> = Vec::new();
        if calls > 0 {
            thoughts.extend(blocks.iter().filter(|block| block.is_thought()));
        }
        let has_text = calls + thoughts.len() < blocks.len();
        if (has_text || !self.reply.is_empty()) && calls > 0 {
            declare(reasons::TEXT_FOLLOWS_THE_RESULT.by(rules.texts));
        }
        if has_text && !self.reply.is_empty() {
            declare(reasons::TURNS_ARE_ONE.by(rules.order));
        }
        for _ in 1..calls {
            declare(reasons::CALLS_FOLLOW_ONE_ANOTHER.by(rules.calls));
        }
        for block in blocks {
            let BlockContent::Call(call) = block.content else {
                self.reply
                    .extend(Some(*block).filter(|block| calls == 0 || !block.is_thought()));
                continue;
            };
            declare(reasons::THERE_ARE_NO_IDS.by(rules.calls));
            let index = self.exchanges.len();
            self.waiting.entry(call.id).or_default().push_back(index);
            let mut call = std::mem::take(&mut thoughts);
            call.push(*block);
            self.exchanges.push(Exchange { call, result: None });
        }
    }

    fn answer(&mut self, result: Block<'a>, id: &'a str) {
        let first = self.waiting.get_mut(id).and_then(VecDeque::pop_front);
        match first {
            Some(index) => {
                cut::at_mut(&mut self.exchanges, index).result = Some(result);
            }
            None => self.exchanges.push(Exchange {
                result: Some(result),
                ..Exchange::default()
            }),
        }
    }

    /// Adds the round to the plan, and begins the next; returns the role of its last turn, if there is one.
    fn close(&mut self, plan: &mut TurnPlan<'a>, rules: RoundRules) -> Option<Role> {
        if !std::mem::take(&mut self.is_open) {
            return None;
        }
        let start = plan.blocks.len();
        if self.asked.is_empty() {
            plan.losses
                .whole_rendering(reasons::USER_TURN_COMES_FIRST.by(rules.order), 1);
            push_start(plan);
        }
        plan.blocks.append(&mut self.asked);
        let mut end = Role::User;
        plan.close(Turn::new(end, None), start);
        for exchange in self.exchanges.drain(..) {
            let sides = [
                (Role::Assistant, exchange.call),
                (Role::Tool, exchange.result.into_iter().collect()),
            ];
            for (role, blocks) in sides {
                let Some(last) = blocks.last() else { continue };
                let (start, position) = (plan.blocks.len(), last.position);
                end = role;
                plan.blocks.extend(blocks);
                plan.close(Turn::new(role, position), start);
            }
        }
        self.waiting.clear();
        self.reply.append(&mut self.label);
        self.is_unanswered = self.reply.is_empty();
        if !self.reply.is_empty() {
            let start = plan.blocks.len();
            end = Role::Assistant;
            plan.blocks.append(&mut self.reply);
            plan.close(Turn::new(end, None), start);
        }
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::{ABC_01, ABC_02, ABC_03};
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, BEN, BOT, PLAIN, Sample, call, result, text};

    const ROUNDS: DialectProfile = DialectProfile {
        shape: Shape::Rounds {
            order: ABC_01,
            calls: ABC_02,
            texts: ABC_03,
        },
        ..PLAIN
    };

    #[test]
    fn a_call_is_an_answer_of_its_own_and_its_text_follows_the_result() {
        let sample = Sample::new()
            .post(ANN, vec![text("a")])
            .post(BEN, vec![text("b")])
            .post(BOT, vec![text("c"), call("1"), call("2")])
            .post(BOT, vec![result("1", "x"), result("2", "y")]);
        assert_eq!(sample.after(&[&PASS], &PLAIN).0.len(), 5);
        let passes: [&Pass; 2] = [&crate::passes::tool_ids::PASS, &PASS];
        let (turns, losses) = sample.after(&passes, &ROUNDS);
        assert_eq!(
            turns,
            [
                "user: a | b",
                "assistant: <call 1  >",
                "tool: <result 1  x>",
                "assistant: <call 2  >",
                "tool: <result 2  y>",
                "assistant: c",
            ]
        );
        assert_eq!(
            losses,
            [
                "turn-merged 1 1",
                "turn-split 2 1",
                "tool-id-dropped 2 2",
                "part-moved 2 1",
                "tool-id-dropped 3 2",
            ]
        );
    }

    #[test]
    fn a_round_that_begins_with_the_assistant_gets_a_filler_question() {
        let sample = Sample::new()
            .post(BOT, vec![text("a")])
            .post(ANN, vec![text("b")]);
        let (turns, losses) = sample.after(&[&PASS], &ROUNDS);
        assert_eq!(turns, ["user: [start]", "assistant: a", "user: b"]);
        assert_eq!(losses, ["empty-filled all 1"]);
    }
}
