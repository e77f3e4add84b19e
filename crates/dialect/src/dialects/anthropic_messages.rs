//! Anthropic Messages: a request with `system`, `messages` of blocks, and `tools`.
//!
//! ```json
//! {"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},
//!  {"role":"assistant","content":[{"type":"text","text":"Hello"}]}]}
//! ```

use chatmill_model::{Component, Media, MediaKind, Sink, Vendor};

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::loss::violation::Violation;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, Results, SystemPlace, Texts, Thoughts};
use crate::text::media::{carried, document_text, inline_bytes, picture_type, web_address};
use crate::text::run::is_blank_character;
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::{self, Form};
use crate::tools::hosted::Hosts;
use crate::tools::schemas::schema_rules::SchemaRules;
use crate::transcript::turns::{Block, BlockContent, TurnPlan, with_media};
use crate::write::list::write_turns;
use crate::write::picture::picture;

rules! {
    /// roles are user and assistant, and a message has no fields other than role and content
    ANT_01 = "ANT-01";
    /// system text is a field of the request; later text is not a system turn
    ANT_02 = "ANT-02";
    /// a user speaks first; there is at least one message (unverified for newer endpoints)
    ANT_03 = "ANT-03";
    /// turns of one role in a row are merged
    ANT_04 = "ANT-04";
    /// no text block is empty or only white space, and no content is empty
    ANT_05 = "ANT-05";
    /// ids are `[a-zA-Z0-9_-]+`, names up to 128 of the same characters, input is an object
    ANT_06 = "ANT-06";
    /// the user turn after calls, if there is one, begins with all their results, one for each call
    ANT_07 = "ANT-07";
    /// text comes before calls
    ANT_08 = "ANT-08";
    /// at most four blocks have a cache mark, including those of system text
    ANT_09 = "ANT-09";
    /// thinking has to be signed
    ANT_10 = "ANT-10";
    /// a last turn of the assistant does not end in white space; such a conversation is not a request, but valid training data
    ANT_11 = "ANT-11";
    /// only user turns have pictures and documents: pictures by address or as jpeg, png, gif, webp, documents as text, as PDF or by the
    /// address of a PDF; no sound, no video
    ANT_12 = "ANT-12";
    /// there are at most 100,000 messages
    ANT_13 = "ANT-13";
    /// the parameters of a tool are an object, valid in JSON Schema 2020-12, without `anyOf`, `oneOf` and `allOf` at the root; names of its
    /// properties match `[a-zA-Z0-9_.-]{1,64}`; references lead to a schema in it; at most 20 tools are strict, with closed objects, no
    /// bounds and no schema that contains itself
    ANT_14 = "ANT-14";
}

/// Messages requests.
pub(crate) static ANTHROPIC_MESSAGES: Dialect = Dialect::turns(&ABOUT, &PROFILE, write);

static ABOUT: DialectAbout = DialectAbout {
    id: "anthropic-messages",
    title: "Anthropic Messages",
    family: "anthropic",
    media_type: "application/json",
    specification: "Anthropic API reference, Messages",
    dated: "2026-08-01",
    carries: "text, tools, failures of tools, pictures and documents, in results, too, four cache marks, quoted replies; names before the text",
    profiles: &[&ANTHROPIC_MESSAGES],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

/// Maximum number of messages in a request ([`ANT_13`]).
const MOST_MESSAGES: usize = 100_000;

/// The media type of documents as bytes.
const PDF: &str = "application/pdf";

/// The media type of documents as text.
const TEXT: &str = "text/plain";

static PROFILE: DialectProfile = DialectProfile {
    results: Results::UserTurn,
    merging: Some(ANT_04),
    user_first: Some(ANT_03),
    system: SystemPlace::Outside,
    texts: Texts::BlocksOfOthers,
    blank_is_empty: true,
    trims_end: Some(ANT_11),
    carries: Some(carries),
    carries_in_results: Some(carries),
    thoughts: Thoughts::Nowhere(reasons::THINKING_IS_UNSIGNED.by(ANT_10)),
    cache_marks: Some((4, reasons::FOUR_BLOCKS_BEAR_MARKS.by(ANT_09))),
    marks_errors: true,
    media_rule_plain: reasons::ROLE_HOLDS_NO_MEDIA.by(ANT_12),
    arguments: ArgumentsAs::Object(ANT_06),
    definitions: Some(Form::InputSchema),
    schemas: Some(&SchemaRules {
        hosts: Hosts::Anthropic,
        ..SchemaRules::of_anthropic(ANT_14)
    }),
    items: Some(Vendor::Anthropic),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Word(256), ANT_06, ANT_07),
        NameRule::new(Some(128), reasons::TOOL_NAME_OF_128.by(ANT_06)),
        (ANT_03, "no message is left"),
        reasons::PICTURE_HAS_NO_NAME_ADDRESS_NO_TYPE.by(ANT_12),
    )
};

fn write<'a>(plan: &mut TurnPlan<'a>, sink: &mut Sink<'a>) {
    sink.framing("{");
    if !plan.system.is_empty() {
        sink.framing("\"system\":[");
        write_blocks(sink, plan, &plan.system);
        sink.framing("],");
    }
    sink.framing("\"messages\":[");
    let heads = ["{\"role\":\"user\"", "{\"role\":\"assistant\"", ",\"content\":["];
    write_turns(sink, plan, heads, |sink, blocks| {
        write_blocks(sink, plan, blocks);
    });
    sink.framing("]");
    forms::write(sink, [",\"tools\":[", "]"], &plan.definitions, Form::InputSchema);
    sink.framing("}");
    if plan.turns.len() > MOST_MESSAGES {
        let problem = "there are more than 100,000 messages";
        plan.violations.push(Violation::of(ANT_13, None, problem));
    }
}

fn write_blocks<'a>(sink: &mut Sink<'a>, plan: &TurnPlan<'a>, blocks: &[Block<'a>]) {
    for (index, (block, media)) in with_media(blocks).enumerate() {
        if index > 0 {
            sink.framing(",");
        }
        match block.content {
            BlockContent::Item(item) => {
                // Leave the object open: a cache mark is its last field.
                let raw = item.raw.as_str();
                sink.literal(raw.strip_suffix('}').unwrap_or(raw), Component::Tools);
            }
            BlockContent::Media(media, _) => source(sink, media),
            BlockContent::Call(call) => {
                sink.framing("{\"type\":\"tool_use\",\"id\":");
                sink.json_string(call.id, Component::Meta);
                sink.framing(",\"name\":");
                sink.json_string(call.name, Component::Tools);
                sink.framing(",\"input\":");
                sink.literal(call.arguments, Component::Tools);
            }
            BlockContent::Result(result) => {
                sink.framing("{\"type\":\"tool_result\",\"tool_use_id\":");
                sink.json_string(result.id, Component::Meta);
                if media.is_empty() && !result.content.is_empty() {
                    sink.framing(",\"content\":");
                    sink.json_string(result.content, Component::Tools);
                } else if !media.is_empty() {
                    sink.framing(",\"content\":[");
                    answer(sink, result.content, media);
                    sink.framing("]");
                }
                if result.is_error() {
                    sink.framing(",\"is_error\":true");
                }
            }
            _ => {
                plan.write_string(sink, "{\"type\":\"text\",\"text\":\"", block);
            }
        }
        if block.is_cached {
            sink.framing(",\"cache_control\":{\"type\":\"ephemeral\"}");
        }
        sink.framing("}");
    }
}

/// Writes the text of a result and its media as blocks.
fn answer<'a>(sink: &mut Sink<'a>, text: &'a str, media: &[Block<'a>]) {
    if !text.chars().all(is_blank_character) {
        sink.framing("{\"type\":\"text\",\"text\":");
        sink.json_string(text, Component::Tools);
        sink.framing("},");
    }
    for (index, block) in media.iter().enumerate() {
        if index > 0 {
            sink.framing(",");
        }
        if let BlockContent::Media(media, _) = block.content {
            source(sink, media);
            sink.framing("}");
        }
    }
}

/// Returns how many facts about a medium are lost; carries pictures, and documents that are text or PDF.
fn carries(media: &Media) -> Option<u64> {
    let is_pdf = |kind: Option<&str>| kind == Some(PDF);
    match (document_text(media), media.kind) {
        // A document without a type is read back with this one.
        (Some(_), _) => Some(u64::from(media.media_type.as_deref() != Some(TEXT))),
        (None, MediaKind::File) if inline_bytes(media).is_some() => {
            is_pdf(media.media_type.as_deref()).then_some(0)
        }
        (None, MediaKind::File) => {
            let media_type = media.media_type.as_deref();
            (web_address(media).is_some() && (media_type.is_none() || is_pdf(media_type)))
                .then(|| u64::from(media_type.is_some()))
        }
        _ => picture(media),
    }
}

/// Writes a picture or a document without the closing brace, before which a cache mark may follow.
fn source<'a>(sink: &mut Sink<'a>, media: &'a Media) {
    let is_document = media.kind == MediaKind::File;
    sink.framing(if is_document {
        "{\"type\":\"document\",\"source\":{\"type\":"
    } else {
        "{\"type\":\"image\",\"source\":{\"type\":"
    });
    if let Some(text) = document_text(media) {
        sink.framing("\"text\",\"media_type\":\"text/plain\",\"data\":");
        sink.json_string(text, Component::Content);
    } else if let Some(address) = web_address(media) {
        sink.framing("\"url\",\"url\":");
        sink.json_string(address, Component::Content);
    } else {
        sink.framing("\"base64\",\"media_type\":");
        let kind = picture_type(media).filter(|_| !is_document);
        sink.json_string(kind.unwrap_or(PDF), Component::Meta);
        sink.framing(",\"data\":");
        sink.json_string(carried(inline_bytes(media)), Component::Content);
    }
    sink.framing("}");
    if let Some(title) = media.name.as_deref().filter(|_| is_document) {
        sink.framing(",\"title\":");
        sink.json_string(title, Component::Content);
    }
}
