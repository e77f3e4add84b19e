//! OpenAI Responses: a request with a list of items as `input`.
//!
//! ```json
//! {"input":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},
//!  {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
//!  {"type":"function_call_output","call_id":"c1","output":"3"}]}
//! ```

use std::collections::BTreeSet;

use chatmill_model::{Component, Media, MediaKind, PartPlace, Role, Sink, Speaker, Vendor};

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::loss::violation::Violation;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, Shape, Texts, Thoughts};
use crate::text::media::web_address;
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::{self, Form};
use crate::tools::hosted::Hosts;
use crate::tools::schemas::schema_rules::SchemaRules;
use crate::transcript::turns::{Block, BlockContent, CallBlock, ResultBlock, TurnPlan, with_media};
use crate::write::picture::{file, picture_address, picture_or_file, write_file};

rules! {
    /// an item is a message, a call or an output; there is at least one
    OAR_01 = "OAR-01";
    /// parts of a user's message are `input_text`, `input_image`, `input_file`; an assistant's content is a
    /// string
    OAR_02 = "OAR-02";
    /// a call has an id of 1 to 64 characters, a name, and arguments as text, or free text as the input of a custom tool; an output is text
    /// of at most 10,485,760 characters, or parts as in a user's message
    OAR_03 = "OAR-03";
    /// first come the calls of a turn, with the assistant's messages among them, then all their outputs, then other messages; each call
    /// that other items follow is answered once
    OAR_04 = "OAR-04";
    /// nobody has a name
    OAR_05 = "OAR-05";
    /// reasoning needs an id of the vendor's
    OAR_06 = "OAR-06";
    /// the parameters of a tool are an object with `properties`, valid in JSON Schema 2020-12, without `anyOf`, `oneOf`, `allOf`, `enum`
    /// and `not` at the root; an array has `items`; a strict tool requires all properties and accepts no others, in at most ten levels and
    /// without keywords that the page does not list
    OAR_07 = "OAR-07";
}

/// Responses requests.
pub(crate) static OPENAI_RESPONSES: Dialect = Dialect::turns(&ABOUT, &PROFILE, write);

static ABOUT: DialectAbout = DialectAbout {
    id: "openai-responses",
    title: "OpenAI Responses",
    family: "openai-responses",
    media_type: "application/json",
    specification: "OpenAI API reference, OpenAPI document 2.3.0",
    dated: "2026-08-01",
    carries: "text, tools, pictures and files by web address or as bytes, in results, too, quoted replies; names before the text",
    profiles: &[&OPENAI_RESPONSES],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

/// Maximum number of characters in an output ([`OAR_03`]).
const MOST_OUTPUT: usize = 10_485_760;

static PROFILE: DialectProfile = DialectProfile {
    texts: Texts::JoinedWithoutMedia,
    carries: Some(carries),
    carries_in_results: Some(carries),
    thoughts: Thoughts::Nowhere(reasons::REASONING_NEEDS_AN_ID.by(OAR_06)),
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY.by(OAR_02),
    shape: Shape::Items(OAR_01),
    arguments: ArgumentsAs::TextOrInput,
    definitions: Some(Form::Flat),
    schemas: Some(&SchemaRules {
        hosts: Hosts::Responses,
        ..SchemaRules::of_openai(OAR_07)
    }),
    items: Some(Vendor::Responses),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Any(64), OAR_03, OAR_04),
        NameRule::new(Some(64), reasons::FUNCTION_NAME_OF_64.by(OAR_03)),
        (OAR_01, "no item is left"),
        reasons::PICTURE_OR_FILE_HAS_NO_NAME.by(OAR_02),
    )
};

fn write<'a>(plan: &mut TurnPlan<'a>, sink: &mut Sink<'a>) {
    let calls = plan.blocks.iter().filter_map(|block| match block.content {
        BlockContent::Call(call) if call.is_input() => Some(call.place),
        _ => None,
    });
    let inputs: BTreeSet<PartPlace> = calls.collect();
    let mut separator = "{\"input\":[";
    for (turn, blocks) in plan.turn_blocks() {
        for blocks in blocks.chunk_by(|one, next| !PROFILE.shape.separates(one, next)) {
            message(sink, plan, turn.role, blocks, &mut separator);
            for (block, media) in with_media(blocks) {
                item(sink, plan, (block, media), &inputs, &mut separator);
            }
        }
    }
    let is_empty = separator != ",";
    sink.framing(if is_empty { "{\"input\":[]" } else { "]" });
    forms::write(sink, [",\"tools\":[", "]"], &plan.definitions, Form::Flat);
    sink.framing("}");
    let long = plan.blocks.iter().filter(|block| is_too_long(block));
    let long: Vec<_> = long.map(|block| block.position).collect();
    for position in long {
        let problem = "an output is longer than 10,485,760 characters";
        plan.violations.push(Violation::of(OAR_03, position, problem));
    }
}

fn is_too_long(block: &Block<'_>) -> bool {
    matches!(block.content, BlockContent::Result(ResultBlock { content, item: None, .. })
        if content.len() > MOST_OUTPUT && content.chars().count() > MOST_OUTPUT)
}

fn carries(media: &Media) -> Option<u64> {
    if media.kind == MediaKind::File && web_address(media).is_some() {
        Some(u64::from(media.name.is_some()) + u64::from(media.media_type.is_some()))
    } else {
        picture_or_file(media)
    }
}

fn open(sink: &mut Sink<'_>, separator: &mut &'static str, start: &'static str) {
    sink.framing(separator);
    *separator = ",";
    sink.framing(start);
}

/// Writes the blocks of a turn that are neither calls nor results as one item.
fn message<'a>(
    sink: &mut Sink<'a>,
    plan: &TurnPlan<'a>,
    role: Role,
    blocks: &[Block<'a>],
    separator: &mut &'static str,
) {
    let is_shown = |block: &&Block<'_>| {
        matches!(block.content, BlockContent::Words(..) | BlockContent::Media(..)) && !block.is_result_media()
    };
    let shown = || blocks.iter().filter(is_shown);
    if shown().next().is_none() {
        return;
    }
    open(
        sink,
        separator,
        match role {
            Role::System => "{\"role\":\"system\",\"content\":",
            Role::Assistant => "{\"role\":\"assistant\",\"content\":",
            Role::User | Role::Tool => "{\"role\":\"user\",\"content\":",
        },
    );
    let position = blocks.iter().find_map(|block| block.position);
    sink.answer(plan.speaker(role, blocks), position);
    if blocks.iter().any(Block::is_media) {
        let mut separator = "[";
        for block in shown() {
            open(sink, &mut separator, "");
            part(sink, plan, block);
        }
        sink.framing("]");
    } else {
        plan.write_joined(sink, "\"", shown());
    }
    sink.set_speaker(Speaker::Other);
    sink.framing("}");
}

fn part<'a>(sink: &mut Sink<'a>, plan: &TurnPlan<'a>, block: &Block<'a>) {
    if let Some(file) = file(block) {
        sink.framing("{\"type\":\"input_file\",");
        write_file(sink, file);
    } else if let BlockContent::Media(media, _) = block.content {
        sink.framing(if media.kind == MediaKind::Image {
            "{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":"
        } else {
            "{\"type\":\"input_file\",\"file_url\":"
        });
        picture_address(sink, media);
    } else {
        plan.write_string(sink, "{\"type\":\"input_text\",\"text\":\"", block);
    }
    sink.framing("}");
}

/// Writes a call or a result as an item.
fn item<'a>(
    sink: &mut Sink<'a>,
    plan: &TurnPlan<'a>,
    (block, media): (&Block<'a>, &[Block<'a>]),
    inputs: &BTreeSet<PartPlace>,
    separator: &mut &'static str,
) {
    match block.content {
        BlockContent::Call(CallBlock { item: Some(one), .. }) => {
            open(sink, separator, "");
            let speaker = plan.speaker(Role::Assistant, std::slice::from_ref(block));
            sink.answer(speaker, block.position);
            sink.literal(one.raw.as_str(), Component::Tools);
            sink.set_speaker(Speaker::Other);
            return;
        }
        BlockContent::Call(call) => {
            let kind = if call.is_input() {
                "{\"type\":\"custom_tool_call\",\"call_id\":"
            } else {
                "{\"type\":\"function_call\",\"call_id\":"
            };
            open(sink, separator, kind);
            let speaker = plan.speaker(Role::Assistant, std::slice::from_ref(block));
            sink.answer(speaker, block.position);
            sink.json_string(call.id, Component::Meta);
            sink.framing(",\"name\":");
            sink.json_string(call.name, Component::Tools);
            sink.framing(if call.is_input() {
                ",\"input\":"
            } else {
                ",\"arguments\":"
            });
            sink.json_string(call.arguments, Component::Tools);
            sink.set_speaker(Speaker::Other);
        }
        BlockContent::Item(one) | BlockContent::Result(ResultBlock { item: Some(one), .. }) => {
            open(sink, separator, "");
            sink.literal(one.raw.as_str(), Component::Tools);
            return;
        }
        BlockContent::Result(result) => {
            let is_input = result.call.is_some_and(|place| inputs.contains(&place));
            let kind = if is_input {
                "{\"type\":\"custom_tool_call_output\",\"call_id\":"
            } else {
                "{\"type\":\"function_call_output\",\"call_id\":"
            };
            open(sink, separator, kind);
            sink.json_string(result.id, Component::Meta);
            sink.framing(",\"output\":");
            if media.is_empty() {
                sink.json_string(result.content, Component::Tools);
            } else {
                sink.framing("[");
                let mut separator = "";
                if !result.content.is_empty() {
                    open(sink, &mut separator, "{\"type\":\"input_text\",\"text\":");
                    sink.json_string(result.content, Component::Tools);
                    sink.framing("}");
                }
                for block in media {
                    open(sink, &mut separator, "");
                    part(sink, plan, block);
                }
                sink.framing("]");
            }
        }
        _ => return,
    }
    sink.framing("}");
}
