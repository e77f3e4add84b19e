//! `ShareGPT` records as LLaMA-Factory reads them.
//!
//! ```json
//! {"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]}
//! ```
//!
//! Its reader drops a record without a word where the rules below do not hold.
//!
//! So a round is what users write, then the calls with their results, then the assistant's text; runs of one speaker
//! are joined with a blank line, and text beside a call follows the call's result. Calls with which the conversation ends are the
//! last turn, several of them as a list.

use chatmill_model::{Component, Level, Role, Sink, Speaker};

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, Shape, SystemPlace, Thoughts};
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::{self, Form};
use crate::transcript::turns::{Block, BlockContent, Turn, TurnPlan};

rules! {
    /// `human` and `observation` stand in odd places, `gpt` and `function_call` in even ones
    SGP_01 = "SGP-01";
    /// an observation stands directly after its call, which has one unless it is the last turn; there are
    /// no ids, so parallel calls follow one another
    SGP_02 = "SGP-02";
    /// the last turn is `gpt` or `function_call`
    SGP_03 = "SGP-03";
    /// a call is `{"name","arguments"}` with an object as arguments, several in the last turn are a list of
    /// these; no text stands beside a call
    SGP_04 = "SGP-04";
    /// reasoning stands between `<think>` and `</think>` before the text, or before the call that it led to
    SGP_05 = "SGP-05";
}

/// `ShareGPT` records.
pub(crate) static SHAREGPT: Dialect = Dialect::turns(&ABOUT, &PROFILE, write);

static ABOUT: DialectAbout = DialectAbout {
    id: "sharegpt",
    title: "ShareGPT",
    family: "sharegpt",
    media_type: "application/json",
    specification: "LLaMA-Factory 0.9.5, data format",
    dated: "2026-08-01",
    carries: "text, tools one call at a time, quoted replies, reasoning if policy keeps it; names in front of the text",
    profiles: &[&SHAREGPT],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

static PROFILE: DialectProfile = DialectProfile {
    system: SystemPlace::Outside,
    thoughts: Thoughts::Tagged,
    shape: Shape::Rounds {
        order: SGP_01,
        calls: SGP_02,
        texts: SGP_04,
    },
    arguments: ArgumentsAs::Object(SGP_04),
    definitions: Some(Form::Bare),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Any(usize::MAX), SGP_02, SGP_02),
        NameRule::new(None, reasons::CALL_HAS_A_NAME.by(SGP_04)),
        (SGP_03, "no turn is left"),
        reasons::VALUE_IS_TEXT,
    )
};

fn write<'a>(plan: &mut TurnPlan<'a>, sink: &mut Sink<'a>) {
    let mut separator = "{\"conversations\":[";
    for (turn, blocks) in plan.turn_blocks() {
        sink.framing(separator);
        separator = ",";
        value(sink, plan, turn, blocks);
    }
    let is_empty = separator != ",";
    sink.framing(if is_empty { "{\"conversations\":[]" } else { "]" });
    if !plan.system.is_empty() {
        sink.framing(",\"system\":");
        plan.write_joined(sink, "\"", &plan.system);
    }
    if !plan.definitions.is_empty() {
        let mut tools = Sink::default();
        forms::write(&mut tools, ["[", "]"], &plan.definitions, Form::Bare);
        sink.framing(",\"tools\":");
        sink.set_speaker(Speaker::Preamble);
        sink.json_string(tools.text().to_owned(), Component::Tools);
        sink.set_speaker(Speaker::Other);
    }
    sink.framing("}");
}

fn value<'a>(sink: &mut Sink<'a>, plan: &TurnPlan<'a>, turn: &Turn<'a>, blocks: &[Block<'a>]) {
    let position = blocks.iter().find_map(|block| block.position).or(turn.position);
    match (turn.role, blocks.last().map(|block| block.content)) {
        (_, Some(BlockContent::Call(_))) => {
            sink.framing("{\"from\":\"function_call\",\"value\":\"");
            sink.answer(plan.speaker(Role::Assistant, blocks), position);
            let (thoughts, calls): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| block.is_thought());
            plan.joined(thoughts, |words| words.write(sink, Level::JsonString));
            let [mut separator, end] = if calls.len() > 1 { ["[", "]"] } else { ["", ""] };
            for block in calls {
                sink.framing(separator);
                separator = ",";
                call(sink, block);
            }
            sink.framing(end);
            sink.set_speaker(Speaker::Other);
            sink.framing("\"");
        }
        (_, Some(BlockContent::Result(result))) => {
            sink.framing("{\"from\":\"observation\",\"value\":");
            sink.json_string(result.content, Component::Tools);
        }
        (Role::Assistant, _) => {
            sink.framing("{\"from\":\"gpt\",\"value\":");
            sink.answer(plan.speaker(Role::Assistant, blocks), position);
            plan.write_joined(sink, "\"", blocks);
            sink.set_speaker(Speaker::Other);
        }
        _ => {
            sink.framing("{\"from\":\"human\",\"value\":");
            plan.write_joined(sink, "\"", blocks);
        }
    }
    sink.framing("}");
}

fn call<'a>(sink: &mut Sink<'a>, block: &Block<'a>) {
    let BlockContent::Call(call) = block.content else {
        return;
    };
    sink.content("{\"name\":\"", Level::JsonString, Component::Tools);
    sink.content(call.name, Level::JsonInJsonString, Component::Tools);
    sink.content("\",\"arguments\":", Level::JsonString, Component::Tools);
    sink.content(call.arguments, Level::JsonString, Component::Tools);
    sink.content("}", Level::JsonString, Component::Tools);
}
