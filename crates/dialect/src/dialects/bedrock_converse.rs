//! Bedrock Converse: a request with `system`, `messages` of blocks, and `toolConfig`.
//!
//! ```json
//! {"messages":[{"role":"user","content":[{"text":"Hi"}]},{"role":"assistant","content":[{"text":"Hello"}]}]}
//! ```
//!
//! Results stand in the user turn after their calls, each call answered once.

use std::borrow::Cow;

use chatmill_model::{Component, Media, MediaKind, MediaSource, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::arguments::as_object;
use crate::definitions::{self, Form};
use crate::json_schema::NO_PARAMETERS;
use crate::list::string;
use crate::loss::{LossCode, Losses, reasons};
use crate::media::{inline_bytes, picture_type};
use crate::rules::rules;
use crate::text_run::is_blank_character;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{
    Block, BlockContent, Carried, DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, TurnPlan,
};
use crate::view::View;
use crate::{Dialect, Emit};

rules! {
    /// content is a list of blocks with one member each
    BED_01 = "BED-01";
    /// user and assistant alternate, a user first
    BED_02 = "BED-02";
    /// ids and names are 1 to 64 of `[a-zA-Z0-9_-]`
    BED_03 = "BED-03";
    /// a result is a list of blocks, none empty, and says whether it is a failure; there is one for each
    /// call
    BED_04 = "BED-04";
    /// where a call or result stands, `toolConfig` does too
    BED_05 = "BED-05";
    /// media are bytes or lie in S3; pictures are png, jpeg, gif or webp
    BED_06 = "BED-06";
    /// a cache mark is a block of its own, four at most
    BED_07 = "BED-07";
    /// documents need a name and text beside them (in part unverified)
    BED_08 = "BED-08";
}

/// The dialect of Converse requests.
pub(crate) struct BedrockConverse;

static ABOUT: DialectAbout = DialectAbout {
    title: "Bedrock Converse",
    family: "converse",
    media_type: "application/json",
    specification: "Bedrock runtime service model, botocore 1.44.5",
    dated: "2026-08-01",
    carries: "text, tools, failures of tools, pictures as bytes or in S3, four cache marks, quoted replies; names before the text",
    loses: "ids of messages, times, notices, reasoning, other media, facts about people and rooms",
    profiles: &[&BedrockConverse],
    neutral: false,
    rules: Rules::Judged(RULES),
};

/// What stands for a result that is empty.
const EMPTY_RESULT: &str = "(empty)";

static MANNER: DialectProfile = DialectProfile {
    name_field: None,
    nameless: None,
    order: Order::Paired,
    results: Results::UserTurn,
    merging: Some(BED_02),
    user_first: Some(BED_02),
    system: SystemPlace::Outside,
    texts: Texts::Blocks,
    blank_is_empty: true,
    trims_end: None,
    splits_calls: None,
    carries: picture,
    media_rule: reasons::PICTURE_HAS_NO_NAME.by(BED_06),
    media_rule_plain: reasons::ROLE_HOLDS_NO_MEDIA.by(BED_06),
    thoughts: Thoughts::Nowhere(reasons::REASONING_IS_UNSIGNED),
    cache_marks: Some((4, reasons::FOUR_CACHE_MARKS.by(BED_07))),
    marks_errors: true,
    ids: IdRule {
        shape: IdShape::Word(64),
        wanted: BED_03,
        unique: BED_03,
        shaped: BED_03,
    },
    tool_names: NameRule {
        most: Some(64),
        reason: reasons::TOOL_NAME_OF_64.by(BED_03),
    },
    pairing: BED_04,
    silent: (BED_02, "no message is left"),
    keeps_message_ids: false,
};

impl Dialect for BedrockConverse {
    fn id(&self) -> &'static str {
        "bedrock-converse"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let mut script = TurnPlan::new(view, &MANNER);
        let mut losses = std::mem::take(&mut script.losses);
        sink.framing("{");
        if !script.system.is_empty() {
            sink.framing("\"system\":[");
            blocks(sink, std::mem::take(&mut script.system), &mut losses);
            sink.framing("],");
        }
        sink.framing("\"messages\":[");
        let turns = std::mem::take(&mut script.turns);
        let mut used: Vec<Cow<'_, str>> = Vec::new();
        for block in turns.iter().flat_map(|turn| &turn.blocks) {
            let name = match &block.held {
                BlockContent::Call(call) => &call.name,
                BlockContent::Result(result) => &result.name,
                BlockContent::Text(_) | BlockContent::Media(_) => continue,
            };
            if !used.contains(name) {
                used.push(name.clone());
            }
        }
        for (index, turn) in turns.into_iter().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            if turn.role == Role::Assistant {
                sink.framing("{\"role\":\"assistant\"");
                sink.speak(Speaker::Perspective);
            } else {
                sink.framing("{\"role\":\"user\"");
            }
            sink.framing(",\"content\":[");
            blocks(sink, turn.blocks, &mut losses);
            sink.framing("]}");
            sink.speak(Speaker::Other);
        }
        sink.framing("]");
        let is_defined = definitions::write(
            sink,
            [",\"toolConfig\":{\"tools\":[", "]}"],
            &view.conversation().tools,
            Form::Spec,
            &script.tool_names,
            &mut losses,
        );
        if !is_defined && !used.is_empty() {
            synthesise(sink, used, &mut losses);
        }
        sink.framing("}");
        script.losses = losses;
        let rendering = script.finish();
        emit(sink, rendering);
    }
}

fn synthesise<'a>(sink: &mut Sink<'a>, used: Vec<Cow<'a, str>>, losses: &mut Losses) {
    losses.whole_rendering(
        LossCode::ToolDefinitionSynthesised,
        used.len() as u64,
        reasons::SOURCE_DEFINES_NO_TOOLS.by(BED_05),
    );
    sink.speak(Speaker::Preamble);
    let mut separator = ",\"toolConfig\":{\"tools\":[";
    for name in used {
        sink.framing(separator);
        separator = ",";
        sink.framing("{\"toolSpec\":{\"name\":");
        sink.json_string(name, Component::Tools);
        sink.framing(",\"inputSchema\":{\"json\":");
        sink.literal(NO_PARAMETERS, Component::Tools);
        sink.framing("}}}");
    }
    sink.framing("]}");
    sink.speak(Speaker::Other);
}

/// A picture goes as bytes or by its place in S3, and has to be of a known type.
fn picture(media: &Media) -> Option<Carried> {
    let is_there = inline_bytes(media).is_some() || bucket(media).is_some();
    (media.kind == MediaKind::Image && is_there && picture_type(media).is_some())
        .then(|| Carried::without([media.name.is_some(), false]))
}

/// An address in S3: a bucket of 3 to 63 lower-case letters, digits, dots and dashes.
fn bucket(media: &Media) -> Option<&str> {
    let MediaSource::Url(url) = &media.source else {
        return None;
    };
    let rest = url.strip_prefix("s3://")?;
    let name = rest.split_once('/').map_or(rest, |(name, _)| name);
    let is_end =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_name = (3..=63).contains(&name.len())
        && is_end(name.bytes().next())
        && is_end(name.bytes().next_back())
        && name
            .bytes()
            .all(|byte| is_end(Some(byte)) || byte == b'.' || byte == b'-');
    (is_name && !url.contains(['\n', '\r'])).then_some(url)
}

fn blocks<'a>(sink: &mut Sink<'a>, blocks: Vec<Block<'a>>, losses: &mut Losses) {
    for (index, block) in blocks.into_iter().enumerate() {
        if index > 0 {
            sink.framing(",");
        }
        match block.held {
            BlockContent::Text(words) => {
                sink.framing("{\"text\":");
                string(sink, words);
                sink.framing("}");
            }
            BlockContent::Media(media) => picture_block(sink, media),
            BlockContent::Call(call) => {
                sink.framing("{\"toolUse\":{\"toolUseId\":");
                sink.json_string(call.id, Component::Meta);
                sink.framing(",\"name\":");
                sink.json_string(call.name, Component::Tools);
                sink.framing(",\"input\":");
                let position = block.position.unwrap_or_default();
                let input = as_object(call.call, position, BED_03, losses);
                sink.literal(input, Component::Tools);
                sink.framing("}}");
            }
            BlockContent::Result(result) => {
                let (mut content, is_error) = (result.content(), result.is_error());
                if content.chars().all(is_blank_character) {
                    content = EMPTY_RESULT.into();
                    if let Some(position) = block.position {
                        losses.at(
                            LossCode::EmptyFilled,
                            position,
                            reasons::RESULT_IS_EMPTY.by(BED_04),
                        );
                    }
                }
                sink.framing("{\"toolResult\":{\"toolUseId\":");
                sink.json_string(result.id, Component::Meta);
                sink.framing(",\"content\":[{\"text\":");
                sink.json_string(content, Component::Tools);
                sink.framing(if is_error {
                    "}],\"status\":\"error\"}}"
                } else {
                    "}]}}"
                });
            }
        }
        if block.is_cached {
            sink.framing(",{\"cachePoint\":{\"type\":\"default\"}}");
        }
    }
}

fn picture_block<'a>(sink: &mut Sink<'a>, media: &'a Media) {
    sink.framing(match picture_type(media) {
        Some("image/png") => "{\"image\":{\"format\":\"png\",\"source\":{",
        Some("image/gif") => "{\"image\":{\"format\":\"gif\",\"source\":{",
        Some("image/webp") => "{\"image\":{\"format\":\"webp\",\"source\":{",
        _ => "{\"image\":{\"format\":\"jpeg\",\"source\":{",
    });
    if let Some(address) = bucket(media) {
        sink.framing("\"s3Location\":{\"uri\":");
        sink.json_string(address, Component::Content);
        sink.framing("}");
    } else {
        sink.framing("\"bytes\":");
        sink.json_string(inline_bytes(media).unwrap_or_default(), Component::Content);
    }
    sink.framing("}}}");
}
