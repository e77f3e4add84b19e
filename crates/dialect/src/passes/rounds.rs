//! Combines turns into rounds: what users write, then calls with their results, then the text of the assistant.
//!
//! A turn with calls has the thoughts and the text that came before its calls. One turn has the results of all of these calls, in the order
//! of the calls, because there are no ids. A text before a turn with calls joins that turn if nobody speaks between them.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use chatmill_diag::cut;
use chatmill_model::{Component, Role};

use super::Pass;
use super::start::push_start;
use crate::loss::rule::DialectRule;
use crate::loss::violation::Violation;
use crate::loss::{LossCause, LossCode, reasons};
use crate::passes::profile::Shape;
use crate::text::control_tokens::{Reserved, escape_both};
use crate::transcript::Transcript;
use crate::transcript::turns::{Block, BlockContent, Turn, TurnPlan};

pub(super) const PASS: Pass = Pass {
    loses: |profile| match profile.shape {
        Shape::Rounds { .. } => &[
            LossCode::TurnMoved,
            LossCode::TurnMerged,
            LossCode::PartMoved,
            LossCode::ToolIdDropped,
            LossCode::EmptyFilled,
            LossCode::ReservedTextEscaped,
        ],
        _ => &[],
    },
    run: |plan, transcript, profile| {
        let Shape::Rounds { order, calls, texts } = profile.shape else {
            return;
        };
        let rules = RoundRules { order, calls, texts };
        let mut round = Round::new(rules, transcript);
        plan.rebuild(|plan, turn, blocks| {
            if turn.role == Role::User && !round.reply.is_empty() {
                round.close(plan);
            }
            round.is_open = true;
            round.add(plan, &turn, blocks);
        });
        let last = round.close(plan);
        if let Some(last) = last {
            plan.progress.added(last.as_str());
        }
        if last.is_some_and(|last| last != Role::Assistant) {
            let last = plan.progress.last_position();
            let silent = Violation::of(
                profile.empty_conversation.0,
                last,
                "the last turn is not the assistant's",
            );
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

/// A turn with calls, and the results of the calls in their order; a result is missing where policy rejects calls without one instead of
/// repairing them.
#[derive(Default)]
struct Exchange<'a> {
    calling: Vec<Block<'a>>,
    results: Vec<Option<Block<'a>>>,
}

/// The round that is being collected.
struct Round<'t, 'a> {
    rules: RoundRules,
    transcript: &'t Transcript<'a>,
    is_open: bool,
    asked: Vec<Block<'a>>,
    exchanges: Vec<Exchange<'a>>,
    /// Calls without a result yet, by id: the index of the exchange, and the index of the call in it.
    waiting: BTreeMap<&'a str, VecDeque<(usize, usize)>>,
    reply: Vec<Block<'a>>,
}

impl<'t, 'a> Round<'t, 'a> {
    const fn new(rules: RoundRules, transcript: &'t Transcript<'a>) -> Self {
        Self {
            rules,
            transcript,
            is_open: false,
            asked: Vec::new(),
            exchanges: Vec::new(),
            waiting: BTreeMap::new(),
            reply: Vec::new(),
        }
    }

    fn add(&mut self, plan: &mut TurnPlan<'a>, turn: &Turn<'a>, blocks: &[Block<'a>]) {
        let rules = self.rules;
        if turn.role == Role::Assistant {
            return self.reply(plan, turn, blocks);
        }
        let mut declare = |cause: LossCause| {
            if let Some(position) = turn.position {
                plan.losses.at(cause, position);
            }
        };
        if turn.role != Role::Tool {
            if !self.exchanges.is_empty() {
                declare(reasons::NOBODY_BETWEEN_RESULT_AND_ANSWER.by(rules.order));
            }
            if !self.asked.is_empty() {
                declare(reasons::TURNS_ARE_ONE.by(rules.order));
            }
            self.asked.extend(blocks);
            return;
        }
        for block in blocks {
            if let BlockContent::Result(result) = block.content {
                if result.result.is_some() {
                    declare(reasons::THERE_ARE_NO_IDS.by(rules.calls));
                }
                self.answer(*block, result.id);
            }
        }
    }

    fn reply(&mut self, plan: &mut TurnPlan<'a>, turn: &Turn<'a>, blocks: &[Block<'a>]) {
        let rules = self.rules;
        let (calls, beside): (Vec<Block<'a>>, Vec<Block<'a>>) =
            blocks.iter().partition(|block| block.is_call());
        let losses = &mut plan.losses;
        let mut declare = |cause: LossCause, times: usize| {
            if let Some(position) = turn.position {
                losses.several(cause, position, times as u64);
            }
        };
        let joins = !self.reply.is_empty() && !blocks.is_empty();
        declare(reasons::TURNS_ARE_ONE.by(rules.order), usize::from(joins));
        let (thoughts, others): (Vec<_>, Vec<_>) = beside.into_iter().partition(Block::is_thought);
        let front = self.reply.iter().take_while(|block| block.is_thought()).count();
        if front < self.reply.len() {
            declare(reasons::REASONING_STANDS_IN_FRONT, thoughts.len());
        }
        self.reply.splice(front..front, thoughts);
        self.reply.extend(others);
        if calls.is_empty() {
            return;
        }
        let behind = blocks.iter().skip_while(|block| !block.is_call());
        let behind = behind.filter(|block| !block.is_call()).count();
        declare(reasons::TEXT_BEFORE_CALLS_OF_THE_TURN, behind);
        declare(reasons::THERE_ARE_NO_IDS.by(rules.calls), calls.len());
        let mut exchange = Exchange {
            calling: std::mem::take(&mut self.reply),
            results: vec![None; calls.len()],
        };
        for (place, block) in calls.iter().enumerate() {
            if let BlockContent::Call(call) = block.content {
                let at = (self.exchanges.len(), place);
                self.waiting.entry(call.id).or_default().push_back(at);
            }
        }
        exchange.calling.extend(calls);
        for block in &mut exchange.calling {
            escape_tags(plan, self.transcript, rules.texts, block);
        }
        self.exchanges.push(exchange);
    }

    fn answer(&mut self, result: Block<'a>, id: &'a str) {
        match self.waiting.get_mut(id).and_then(VecDeque::pop_front) {
            Some((exchange, place)) => {
                let exchange = cut::at_mut(&mut self.exchanges, exchange);
                *cut::at_mut(&mut exchange.results, place) = Some(result);
            }
            None => self.exchanges.push(Exchange {
                results: vec![Some(result)],
                ..Exchange::default()
            }),
        }
    }

    /// Adds the round to the plan and begins the next one; returns the role of its last turn, `None` for a round without turns.
    fn close(&mut self, plan: &mut TurnPlan<'a>) -> Option<Role> {
        if !std::mem::take(&mut self.is_open) {
            return None;
        }
        let start = plan.blocks.len();
        if self.asked.is_empty() {
            plan.losses
                .whole_rendering(reasons::USER_TURN_COMES_FIRST.by(self.rules.order), 1);
            push_start(plan);
        }
        plan.blocks.append(&mut self.asked);
        let mut end = Role::User;
        plan.close(Turn::new(end, None), start);
        for exchange in self.exchanges.drain(..) {
            let results = exchange.results.into_iter().flatten().collect();
            for (role, blocks) in [(Role::Assistant, exchange.calling), (Role::Tool, results)] {
                let Some(last) = blocks.last() else { continue };
                let (start, position) = (plan.blocks.len(), last.position);
                end = role;
                plan.blocks.extend(blocks);
                plan.close(Turn::new(role, position), start);
            }
        }
        self.waiting.clear();
        if !self.reply.is_empty() {
            let start = plan.blocks.len();
            end = Role::Assistant;
            plan.blocks.append(&mut self.reply);
            plan.close(Turn::new(end, None), start);
        }
        Some(end)
    }
}

/// Escapes the tags of calls where the text or the arguments of a turn with calls spell them, because readers take the first tag for a call, and
/// what else readers restore there.
fn escape_tags<'a>(
    plan: &mut TurnPlan<'a>,
    transcript: &Transcript<'a>,
    rule: &'static DialectRule,
    block: &mut Block<'a>,
) {
    let arena = transcript.arena();
    match &mut block.content {
        BlockContent::Call(call) if call.arguments.contains("tool_call>") => {
            let spelled = call.arguments.replace("<tool_call>", "\\u003ctool_call>");
            let spelled = spelled.replace("</tool_call>", "\\u003c/tool_call>");
            call.arguments = arena.keep(Cow::Owned(spelled));
        }
        BlockContent::Words(_, words) => {
            let mut count = 0;
            let runs = plan.words_mut(*words).iter_mut();
            for run in runs.filter(|run| run.component != Component::Framing) {
                let (escaped, times) = escape_both(run.text.into(), Reserved::Call, Reserved::Tools);
                run.text = arena.keep(escaped);
                count += times;
            }
            let cause = reasons::CONTROL_TOKENS_ARE_ESCAPED.by(rule);
            plan.losses.add(cause, block.position, count);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Part;

    use crate::loss::rule::samples::{ABC_01, ABC_02, ABC_03};
    use crate::passes::profile::{DialectProfile, Thoughts};
    use crate::passes::samples::{ANN, BEN, BOT, PLAIN, Sample, call, result, text};
    use crate::view::policy::Reasoning;

    const ROUNDS: DialectProfile = DialectProfile {
        shape: Shape::Rounds {
            order: ABC_01,
            calls: ABC_02,
            texts: ABC_03,
        },
        ..PLAIN
    };

    #[test]
    fn calls_of_a_turn_stay_together_behind_its_text_and_their_results_are_one_turn() {
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
                "assistant: c | <call 1  > | <call 2  >",
                "tool: <result 1  x> | <result 2  y>",
            ]
        );
        assert_eq!(
            losses,
            ["turn-merged 1 1", "tool-id-dropped 2 2", "tool-id-dropped 3 2",]
        );
    }

    #[test]
    fn thoughts_of_turns_that_become_one_are_in_front_of_their_texts() {
        let thought = || Part::Reasoning("hm".to_owned());
        let mut sample = Sample::new()
            .post(ANN, vec![text("a")])
            .post(BOT, vec![thought(), text("b")])
            .post(BOT, vec![thought(), thought(), text("c")]);
        sample.policy.reasoning = Reasoning::Keep;
        let thinking = DialectProfile {
            thoughts: Thoughts::Field,
            ..ROUNDS
        };
        let passes: [&Pass; 2] = [&crate::passes::thoughts::PASS, &PASS];
        let (turns, losses) = sample.after(&passes, &thinking);
        assert_eq!(turns, ["user: a", "assistant: hm | hm\n\nhm | b | c"]);
        assert_eq!(
            losses,
            ["turn-merged 2 1", "part-flattened 2 1", "part-moved 2 1"]
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
