//! `ShareGPT` records as LLaMA-Factory reads them.
//!
//! ```json
//! {"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]}
//! ```
//!
//! LLaMA-Factory silently drops a record that breaks one of the rules below.
//!
//! Pictures, videos and sounds of people are in lists of the record, each with a mark in the text.
//!
//! A round is what users write, then turns with calls and the results of these calls, then the text of the assistant; runs of one speaker
//! are joined with a blank line. A turn with calls is written as the trainer's `FunctionFormatter` reads it: the thoughts, and the calls,
//! as a list if there are several; after a text, the calls are between `<tool_call>` and `</tool_call>`. Results of several calls are one
//! observation, separated as the trainer's converter of `messages` separates them.

use chatmill_model::{Component, Level, Media, MediaKind, Role, Sink, Speaker};

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::loss::violation::Violation;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, Shape, SystemPlace, Thoughts};
use crate::text::media::{bytes_of_kind, carried, mark, path, web_address};
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::{self, Form};
use crate::transcript::turns::{Block, BlockContent, Kinds, Turn, TurnPlan};
use crate::write::picture::write_data_url;

rules! {
    /// `human` and `observation` are in odd places, `gpt` and `function_call` in even ones
    SGP_01 = "SGP-01";
    /// an observation directly follows the turn of its calls, which has one unless it is the last turn; there
    /// are no ids, so the results of several calls are in the order of the calls
    SGP_02 = "SGP-02";
    /// the last turn is `gpt` or `function_call`
    SGP_03 = "SGP-03";
    /// a call is `{"name","arguments"}` with an object as arguments, several of a turn are a list of these;
    /// after a text they are between `<tool_call>` and `</tool_call>`
    SGP_04 = "SGP-04";
    /// reasoning is between `<think>` and `</think>` before the text, or before the call that it led to
    SGP_05 = "SGP-05";
    /// pictures, videos and sounds are `images`, `videos` and `audios`: addresses, paths or data URLs, and `<image>`, `<video>` and `<audio>`
    /// in the text of a user mark each of them, in order
    SGP_06 = "SGP-06";
}

/// `ShareGPT` records.
pub(crate) static SHAREGPT: Dialect = Dialect::turns(&ABOUT, &PROFILE, write);

/// The text that LLaMA-Factory writes between the results of several calls.
const BETWEEN_RESULTS: &str = "\n</tool_response>\n<tool_response>\n";

static ABOUT: DialectAbout = DialectAbout {
    id: "sharegpt",
    title: "ShareGPT",
    family: "sharegpt",
    media_type: "application/json",
    specification: "LLaMA-Factory 0.9.5, data format",
    dated: "2026-08-01",
    carries: "text, tools without ids, pictures, videos and sounds by address, by path or as bytes, quoted replies, reasoning if policy keeps it; names in front of the text",
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
    carries: Some(listed),
    media_rule: reasons::LISTS_HOLD_ADDRESSES.by(SGP_06),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Any(usize::MAX), SGP_02, SGP_02),
        NameRule::new(None, reasons::CALL_HAS_A_NAME.by(SGP_04)),
        (SGP_03, "no turn is left"),
        reasons::VALUE_IS_TEXT,
    )
};

/// The lists of media, each with its kind.
const LISTS: [(MediaKind, &str); 3] = [
    (MediaKind::Image, ",\"images\":["),
    (MediaKind::Video, ",\"videos\":["),
    (MediaKind::Audio, ",\"audios\":["),
];

/// Returns how many facts about a medium are lost; carries media with an address, a path or bytes, if there is a list for the kind.
fn listed(media: &Media) -> Option<u64> {
    let named = u64::from(media.name.is_some());
    if LISTS.iter().all(|(kind, _)| *kind != media.kind) {
        None
    } else if bytes_of_kind(media).is_some() {
        Some(named)
    } else {
        let address = web_address(media).or(path(media));
        address.map(|_| named + u64::from(media.media_type.is_some()))
    }
}

/// Writes the lists of media.
fn lists<'a>(plan: &mut TurnPlan<'a>, sink: &mut Sink<'a>) {
    for (kind, opening) in LISTS {
        let media = plan.blocks.iter().filter_map(|block| match block.content {
            BlockContent::Media(media, _) if media.kind == kind => Some(media),
            _ => None,
        });
        let mut separator = opening;
        for media in media {
            sink.framing(separator);
            separator = ",";
            if let Some((kind, bytes)) = bytes_of_kind(media) {
                write_data_url(sink, kind, bytes);
            } else {
                let address = carried(web_address(media).or(path(media)));
                sink.json_string(address, Component::Content);
            }
        }
        if separator == "," {
            sink.framing("]");
            let mark = mark(kind);
            let spells = |block: &Block<'_>| match block.content {
                BlockContent::Media(..) => false,
                BlockContent::Call(call) => call.name.contains(mark) || call.arguments.contains(mark),
                BlockContent::Result(result) => result.content.contains(mark),
                _ => plan.runs(block).any(|words| words.text.contains(mark)),
            };
            if plan.blocks.iter().any(spells) {
                let problem = "a text spells the mark of a medium";
                plan.violations.push(Violation::of(SGP_06, None, problem));
            }
        }
    }
}

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
    if plan.kinds.has(Kinds::MEDIA) {
        lists(plan, sink);
    }
    sink.framing("}");
}

fn value<'a>(sink: &mut Sink<'a>, plan: &TurnPlan<'a>, turn: &Turn<'a>, blocks: &[Block<'a>]) {
    // Thoughts of a later message may come first.
    let position = blocks
        .iter()
        .filter_map(|block| block.position)
        .min()
        .or(turn.position);
    match (turn.role, blocks.last().map(|block| block.content)) {
        (_, Some(BlockContent::Call(_))) => {
            sink.framing("{\"from\":\"function_call\",\"value\":\"");
            sink.answer(plan.speaker(Role::Assistant, blocks), position);
            let (calls, beside): (Vec<&Block<'a>>, Vec<_>) = blocks.iter().partition(|block| block.is_call());
            let has_text = beside.iter().any(|block| !block.is_thought());
            let [open, close] = match beside.is_empty() {
                true => ["", ""],
                false if has_text => ["\n<tool_call>", "</tool_call>"],
                // The trainer looks for the thought and the blank line after it.
                false => ["\n", ""],
            };
            plan.joined(beside, |words| words.write(sink, Level::JsonString));
            sink.content(open, Level::JsonString, Component::Tools);
            let [mut separator, end] = if calls.len() > 1 { ["[", "]"] } else { ["", ""] };
            for block in calls {
                sink.framing(separator);
                separator = ",";
                call(sink, block);
            }
            sink.framing(end);
            sink.content(close, Level::JsonString, Component::Tools);
            sink.set_speaker(Speaker::Other);
            sink.framing("\"");
        }
        (_, Some(BlockContent::Result(_))) => {
            let mut before = "";
            sink.framing("{\"from\":\"observation\",\"value\":\"");
            sink.answer(Speaker::Other, position);
            for block in blocks {
                if let BlockContent::Result(result) = block.content {
                    sink.content(before, Level::JsonString, Component::Tools);
                    sink.content(result.content, Level::JsonString, Component::Tools);
                    before = BETWEEN_RESULTS;
                }
            }
            sink.framing("\"");
            sink.set_speaker(Speaker::Other);
        }
        (Role::Assistant, _) => {
            sink.framing("{\"from\":\"gpt\",\"value\":");
            sink.answer(plan.speaker(Role::Assistant, blocks), position);
            plan.write_joined(sink, "\"", blocks);
            sink.set_speaker(Speaker::Other);
        }
        _ => {
            sink.framing("{\"from\":\"human\",\"value\":");
            sink.answer(Speaker::Other, position);
            plan.write_joined(sink, "\"", blocks);
            sink.set_speaker(Speaker::Other);
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
