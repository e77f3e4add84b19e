//! `ShareGPT` records as LLaMA-Factory reads them.
//!
//! ```json
//! {"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]}
//! ```
//!
//! Its reader drops a record without a word where the rules below do not hold.
//!
//! So a round is what people say, then the calls with their results, then what the assistant says; runs of one speaker
//! are joined with a blank line, and text beside a call follows the call's result.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use chatmill_model::{Component, Level, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::arguments::as_object;
use crate::definitions::{self, Form};
use crate::list::string;
use crate::loss::{LossCode, LossReason, Losses, reasons};
use crate::rules::rules;
use crate::text_run::TextRun;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::say::joined;
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{
    Block, BlockContent, CallBlock, DialectProfile, Order, ResultBlock, Results, START, SystemPlace, Texts,
    Thoughts, Turn, TurnPlan, nothing,
};
use crate::view::View;
use crate::violation::Violation;
use crate::{Dialect, Emit};

rules! {
    /// `human` and `observation` stand in odd places, `gpt` and `function_call` in even ones
    SGP_01 = "SGP-01";
    /// an observation stands directly after its call; there are no ids, so parallel calls follow one
    /// another
    SGP_02 = "SGP-02";
    /// the last turn is `gpt`
    SGP_03 = "SGP-03";
    /// a call is `{"name","arguments"}` with an object as arguments, and holds no text beside it
    SGP_04 = "SGP-04";
    /// reasoning stands between `<think>` and `</think>` before the text
    SGP_05 = "SGP-05";
}

/// The dialect of `ShareGPT` records.
pub(crate) struct Sharegpt;

static ABOUT: DialectAbout = DialectAbout {
    title: "ShareGPT",
    family: "sharegpt",
    media_type: "application/json",
    specification: "LLaMA-Factory 0.9.5, data format",
    dated: "2026-08-01",
    carries: "text, tools one call at a time, quoted replies, reasoning if policy keeps it; names in front of the text",
    loses: "all ids, times, notices, media, failures of tools, facts about people and rooms",
    profiles: &[&Sharegpt],
    neutral: false,
    rules: Rules::Judged(RULES),
};

static MANNER: DialectProfile = DialectProfile {
    name_field: None,
    nameless: None,
    order: Order::Paired,
    results: Results::OwnTurns,
    merging: None,
    user_first: None,
    system: SystemPlace::Outside,
    texts: Texts::Joined,
    blank_is_empty: false,
    trims_end: None,
    splits_calls: None,
    carries: nothing,
    media_rule: reasons::VALUE_IS_TEXT,
    media_rule_plain: reasons::VALUE_IS_TEXT,
    thoughts: Thoughts::Tagged,
    cache_marks: None,
    marks_errors: false,
    ids: IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: SGP_02,
        unique: SGP_02,
        shaped: SGP_02,
    },
    tool_names: NameRule {
        most: None,
        reason: reasons::CALL_HAS_A_NAME.by(SGP_04),
    },
    pairing: SGP_02,
    silent: (SGP_03, "no turn is left"),
    keeps_message_ids: false,
};

impl Dialect for Sharegpt {
    fn id(&self) -> &'static str {
        "sharegpt"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let mut script = TurnPlan::new(view, &MANNER);
        let mut losses = std::mem::take(&mut script.losses);
        let rounds = rounds(std::mem::take(&mut script.turns), &mut losses);
        if rounds.last().is_some_and(|round| round.said.is_empty()) {
            let last = script.last_said();
            let violation = Violation::of(SGP_03, last, "the last turn is not the assistant's");
            script.violations.push(violation);
        }
        if let Some(last) = rounds.last() {
            script.ends(last.end());
        }
        let mut values = Values {
            separator: "{\"conversations\":[",
            is_asking: true,
            is_misplaced: false,
            sink: &mut *sink,
            losses: &mut losses,
        };
        for round in rounds {
            values.round(round);
        }
        if values.is_misplaced {
            let fault = "questions and answers do not alternate";
            script.violations.push(Violation::of(SGP_01, None, fault));
        }
        let is_empty = values.separator != ",";
        sink.framing(if is_empty { "{\"conversations\":[]" } else { "]" });
        if !script.system.is_empty() {
            sink.framing(",\"system\":");
            string(sink, joined(std::mem::take(&mut script.system)));
        }
        let mut tools = Sink::default();
        let tool_names = &script.tool_names;
        let all = &view.conversation().tools;
        if definitions::write(&mut tools, ["[", "]"], all, Form::Bare, tool_names, &mut losses) {
            sink.framing(",\"tools\":");
            sink.speak(Speaker::Preamble);
            sink.json_string(tools.text().to_owned(), Component::Tools);
            sink.speak(Speaker::Other);
        }
        sink.framing("}");
        script.losses = losses;
        let rendering = script.finish();
        emit(sink, rendering);
    }
}

/// A call with its result; one of them is missing where policy rejects instead of repairing.
struct Exchange<'a> {
    call: Option<(CallBlock<'a>, u32)>,
    result: Option<ResultBlock<'a>>,
}

/// What people say, what the assistant looks up, what it says.
#[derive(Default)]
struct Round<'a> {
    asked: Vec<Block<'a>>,
    exchanges: Vec<Exchange<'a>>,
    /// Exchanges that wait for their result, by id of the call, in order.
    open: BTreeMap<Cow<'a, str>, VecDeque<usize>>,
    said: Vec<Block<'a>>,
}

impl Round<'_> {
    /// Whose turn its last is.
    fn end(&self) -> Role {
        match self.exchanges.last() {
            _ if !self.said.is_empty() => Role::Assistant,
            Some(exchange) if exchange.result.is_some() => Role::Tool,
            Some(_) => Role::Assistant,
            None => Role::User,
        }
    }
}

fn rounds<'a>(turns: Vec<Turn<'a>>, losses: &mut Losses) -> Vec<Round<'a>> {
    let mut rounds: Vec<Round<'a>> = Vec::new();
    for turn in turns {
        if rounds.is_empty()
            || turn.role == Role::User && rounds.last().is_some_and(|last| !last.said.is_empty())
        {
            rounds.push(Round::default());
        }
        let Some(round) = rounds.last_mut() else {
            break;
        };
        let position = turn.said.first().and_then(|(position, _)| *position);
        let mut declare = |code, reason: LossReason| {
            if let Some(position) = position {
                losses.at(code, position, reason);
            }
        };
        match turn.role {
            Role::User | Role::System => {
                if !round.exchanges.is_empty() {
                    declare(
                        LossCode::TurnMoved,
                        reasons::NOBODY_BETWEEN_RESULT_AND_ANSWER.by(SGP_01),
                    );
                }
                if !round.asked.is_empty() {
                    declare(LossCode::TurnMerged, reasons::TURNS_ARE_ONE.by(SGP_01));
                }
                round.asked.extend(turn.blocks);
            }
            Role::Tool => {
                for block in turn.blocks {
                    if let BlockContent::Result(result) = block.held {
                        if result.result.is_some() {
                            declare(LossCode::ToolIdDropped, reasons::THERE_ARE_NO_IDS.by(SGP_02));
                        }
                        answer(round, result);
                    }
                }
            }
            Role::Assistant => assistant(round, turn, &mut declare),
        }
    }
    rounds
}

fn assistant<'a>(round: &mut Round<'a>, turn: Turn<'a>, declare: &mut impl FnMut(LossCode, LossReason)) {
    let (said, called) = Block::apart(turn.blocks);
    let has_text = !said.is_empty() || !round.said.is_empty();
    if has_text && !called.is_empty() {
        declare(LossCode::PartMoved, reasons::TEXT_FOLLOWS_THE_RESULT.by(SGP_04));
    }
    if !said.is_empty() && !round.said.is_empty() {
        declare(LossCode::TurnMerged, reasons::TURNS_ARE_ONE.by(SGP_01));
    }
    for _ in called.iter().skip(1) {
        declare(LossCode::TurnSplit, reasons::CALLS_FOLLOW_ONE_ANOTHER.by(SGP_02));
    }
    for block in called {
        if let (BlockContent::Call(call), Some(position)) = (block.held, block.position) {
            declare(LossCode::ToolIdDropped, reasons::THERE_ARE_NO_IDS.by(SGP_02));
            let index = round.exchanges.len();
            round.open.entry(call.id.clone()).or_default().push_back(index);
            round.exchanges.push(Exchange {
                call: Some((call, position)),
                result: None,
            });
        }
    }
    round.said.extend(said);
}

fn answer<'a>(round: &mut Round<'a>, result: ResultBlock<'a>) {
    let first = round.open.get_mut(&result.id).and_then(VecDeque::pop_front);
    match first.and_then(|index| round.exchanges.get_mut(index)) {
        Some(exchange) => exchange.result = Some(result),
        None => round.exchanges.push(Exchange {
            call: None,
            result: Some(result),
        }),
    }
}

/// Whether a turn asks the assistant something: what people say, and what tools answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    Yes,
    No,
}

struct Values<'r, 'a> {
    separator: &'static str,
    /// Whether the next place is for `human` and `observation`.
    is_asking: bool,
    /// Whether a turn stands in a place for the other kind.
    is_misplaced: bool,
    sink: &'r mut Sink<'a>,
    losses: &'r mut Losses,
}

impl<'a> Values<'_, 'a> {
    fn open(&mut self, asks: Asks, start: &'static str) {
        self.is_misplaced |= (asks == Asks::Yes) != self.is_asking;
        self.is_asking = !self.is_asking;
        self.sink.framing(self.separator);
        self.separator = ",";
        self.sink.framing(start);
    }

    fn round(&mut self, round: Round<'a>) {
        self.open(Asks::Yes, "{\"from\":\"human\",\"value\":");
        if round.asked.is_empty() {
            self.losses.whole_rendering(
                LossCode::EmptyFilled,
                1,
                reasons::USER_TURN_COMES_FIRST.by(SGP_01),
            );
            string(self.sink, vec![TextRun::new(START, Component::Framing)]);
        } else {
            string(self.sink, joined(round.asked));
        }
        self.sink.framing("}");
        for exchange in round.exchanges {
            if let Some((call, position)) = exchange.call {
                self.open(Asks::No, "{\"from\":\"function_call\",\"value\":\"");
                self.sink.speak(Speaker::Perspective);
                let object = as_object(call.call, position, SGP_04, self.losses);
                let sink = &mut *self.sink;
                sink.content("{\"name\":\"", Level::JsonString, Component::Tools);
                sink.content(call.name, Level::JsonInJsonString, Component::Tools);
                sink.content("\",\"arguments\":", Level::JsonString, Component::Tools);
                sink.content(object, Level::JsonString, Component::Tools);
                sink.content("}", Level::JsonString, Component::Tools);
                sink.speak(Speaker::Other);
                sink.framing("\"}");
            }
            if let Some(result) = exchange.result {
                self.open(Asks::Yes, "{\"from\":\"observation\",\"value\":");
                self.sink.json_string(result.content(), Component::Tools);
                self.sink.framing("}");
            }
        }
        if !round.said.is_empty() {
            self.open(Asks::No, "{\"from\":\"gpt\",\"value\":");
            self.sink.speak(Speaker::Perspective);
            string(self.sink, joined(round.said));
            self.sink.speak(Speaker::Other);
            self.sink.framing("}");
        }
    }
}
