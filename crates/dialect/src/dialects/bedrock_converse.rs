//! Bedrock Converse: a request with `system`, `messages` of blocks, and `toolConfig`.
//!
//! ```json
//! {"messages":[{"role":"user","content":[{"text":"Hi"}]},{"role":"assistant","content":[{"text":"Hello"}]}]}
//! ```
//!
//! Results are in the user turn after their calls, one for each call.

use std::borrow::Cow;

use chatmill_model::{Component, Media, MediaKind, MediaSource, Sink, Vendor};

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, Results, SystemPlace, Texts, Thoughts};
use crate::text::media::{carried, inline_bytes, picture_type};
use crate::text::run::is_blank_character;
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::{self, Form};
use crate::tools::hosted::Hosts;
use crate::tools::schemas::schema_rules::SchemaRules;
use crate::transcript::turns::{Block, BlockContent, TurnPlan, with_media};
use crate::write::list::write_turns;

rules! {
    /// content is a list of blocks with one member each
    BED_01 = "BED-01";
    /// user and assistant alternate, a user first
    BED_02 = "BED-02";
    /// ids and names are 1 to 64 of `[a-zA-Z0-9_-]`
    BED_03 = "BED-03";
    /// a result is a list of blocks, none empty, and states whether it is a failure; each call that another turn follows has one
    BED_04 = "BED-04";
    /// a request with calls or results has `toolConfig`
    BED_05 = "BED-05";
    /// media are bytes or stored in S3; pictures are png, jpeg, gif or webp, documents have one of nine formats
    BED_06 = "BED-06";
    /// a cache mark is a separate block, at most four
    BED_07 = "BED-07";
    /// documents need a name of letters, digits, spaces, hyphens and brackets, and a user's message with documents needs text
    /// (in part unverified)
    BED_08 = "BED-08";
    /// the parameters of a tool are an object, valid in JSON Schema 2020-12, without `anyOf`, `oneOf` and `allOf` at the root; names of its
    /// properties match `[a-zA-Z0-9_.-]{1,64}`; references lead to a schema in it
    BED_09 = "BED-09";
}

/// Converse requests.
pub(crate) static BEDROCK_CONVERSE: Dialect = Dialect::turns(&ABOUT, &PROFILE, write);

static ABOUT: DialectAbout = DialectAbout {
    id: "bedrock-converse",
    title: "Bedrock Converse",
    family: "converse",
    media_type: "application/json",
    specification: "Bedrock runtime service model, botocore 1.44.5",
    dated: "2026-08-01",
    carries: "text, tools, failures of tools, pictures and documents as bytes or in S3, in results, too, four cache marks, quoted replies; names before the text",
    profiles: &[&BEDROCK_CONVERSE],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

/// The replacement for an empty result.
const EMPTY_RESULT: &str = "(empty)";

static PROFILE: DialectProfile = DialectProfile {
    results: Results::UserTurn,
    merging: Some(BED_02),
    user_first: Some(BED_02),
    system: SystemPlace::Outside,
    texts: Texts::BlocksOfOthers,
    blank_is_empty: true,
    carries: Some(carries),
    carries_in_results: Some(carries),
    files_need_text: true,
    object_results: Some(|_, _| true),
    thoughts: Thoughts::Nowhere(reasons::REASONING_IS_UNSIGNED),
    cache_marks: Some((4, reasons::FOUR_CACHE_MARKS.by(BED_07))),
    marks_errors: true,
    media_rule_plain: reasons::ROLE_HOLDS_NO_MEDIA.by(BED_06),
    pairing: BED_04,
    arguments: ArgumentsAs::Object(BED_03),
    empty_result: Some((EMPTY_RESULT, reasons::RESULT_IS_EMPTY.by(BED_04))),
    definitions: Some(Form::Spec),
    schemas: Some(&SchemaRules {
        hosts: Hosts::Bedrock,
        strict: None,
        ..SchemaRules::of_anthropic(BED_09)
    }),
    makes_definitions: Some(reasons::SOURCE_DEFINES_NO_TOOLS.by(BED_05)),
    items: Some(Vendor::Converse),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Word(64), BED_03, BED_03),
        NameRule::new(Some(64), reasons::TOOL_NAME_OF_64.by(BED_03)),
        (BED_02, "no message is left"),
        reasons::PICTURE_HAS_NO_NAME.by(BED_06),
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
    forms::write(
        sink,
        [",\"toolConfig\":{\"tools\":[", "]}"],
        &plan.definitions,
        Form::Spec,
    );
    sink.framing("}");
}

fn carries(media: &Media) -> Option<u64> {
    if media.kind != MediaKind::File {
        return picture(media);
    }
    let is_there = inline_bytes(media).is_some() || bucket(media).is_some();
    let is_renamed = media.name.as_deref() != Some(&*document_name(media));
    (is_there && format(media).is_some()).then(|| u64::from(is_renamed))
}

/// Formats of documents by media type.
const FORMATS: [(&str, &str); 9] = [
    ("application/pdf", "pdf"),
    ("text/csv", "csv"),
    ("application/msword", "doc"),
    (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx",
    ),
    ("application/vnd.ms-excel", "xls"),
    (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xlsx",
    ),
    ("text/html", "html"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
];

/// Returns the format of a document, if it is one of the nine.
fn format(media: &Media) -> Option<&'static str> {
    let media_type = media.media_type.as_deref()?;
    FORMATS
        .iter()
        .find(|(kind, _)| *kind == media_type)
        .map(|(_, format)| *format)
}

/// Returns the name of a document, with `-` for characters that are not allowed.
fn document_name(media: &Media) -> Cow<'_, str> {
    let is_sign =
        |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, ' ' | '-' | '(' | ')' | '[' | ']');
    match media.name.as_deref().filter(|name| !name.trim().is_empty()) {
        None => Cow::Borrowed("document"),
        Some(name) if name.chars().all(is_sign) && !name.contains("  ") => Cow::Borrowed(name),
        Some(name) => {
            let words = name.split_whitespace();
            let words = words.map(|word| word.replace(|sign| !is_sign(sign), "-"));
            Cow::Owned(words.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Returns how many facts about a picture are lost; carries pictures of a known type that are bytes or stored in S3.
fn picture(media: &Media) -> Option<u64> {
    let is_there = inline_bytes(media).is_some() || bucket(media).is_some();
    (media.kind == MediaKind::Image && is_there && picture_type(media).is_some())
        .then(|| u64::from(media.name.is_some()))
}

/// Returns an address in S3, if the bucket has 3 to 63 lower-case letters, digits, dots and dashes.
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

fn write_blocks<'a>(sink: &mut Sink<'a>, plan: &TurnPlan<'a>, blocks: &[Block<'a>]) {
    for (index, (block, media)) in with_media(blocks).enumerate() {
        if index > 0 {
            sink.framing(",");
        }
        match block.content {
            BlockContent::Item(item) => {
                sink.literal(item.raw.as_str(), Component::Tools);
                continue;
            }
            BlockContent::Media(media, _) => media_block(sink, media),
            BlockContent::Call(call) => {
                sink.framing("{\"toolUse\":{\"toolUseId\":");
                sink.json_string(call.id, Component::Meta);
                sink.framing(",\"name\":");
                sink.json_string(call.name, Component::Tools);
                sink.framing(",\"input\":");
                sink.literal(call.arguments, Component::Tools);
                sink.framing("}}");
            }
            BlockContent::Result(result) => {
                sink.framing("{\"toolResult\":{\"toolUseId\":");
                sink.json_string(result.id, Component::Meta);
                sink.framing(",\"content\":[");
                let mut separator = "},";
                if result.is_object {
                    sink.framing("{\"json\":");
                    sink.literal(result.content, Component::Tools);
                } else if media.is_empty() || !result.content.chars().all(is_blank_character) {
                    sink.framing("{\"text\":");
                    sink.json_string(result.content, Component::Tools);
                } else {
                    separator = "";
                }
                for block in media {
                    if let BlockContent::Media(media, _) = block.content {
                        sink.framing(separator);
                        separator = ",";
                        media_block(sink, media);
                    }
                }
                sink.framing(match (media.is_empty(), result.is_error()) {
                    (true, true) => "}],\"status\":\"error\"}}",
                    (true, false) => "}]}}",
                    (false, true) => "],\"status\":\"error\"}}",
                    (false, false) => "]}}",
                });
            }
            _ => {
                plan.write_string(sink, "{\"text\":\"", block);
                sink.framing("}");
            }
        }
        if block.is_cached {
            sink.framing(",{\"cachePoint\":{\"type\":\"default\"}}");
        }
    }
}

fn media_block<'a>(sink: &mut Sink<'a>, media: &'a Media) {
    if let Some(format) = format(media).filter(|_| media.kind == MediaKind::File) {
        sink.framing("{\"document\":{\"format\":\"");
        sink.framing(format);
        sink.framing("\",\"name\":");
        sink.json_string(document_name(media), Component::Content);
        sink.framing(",\"source\":{");
    } else {
        sink.framing(match picture_type(media) {
            Some("image/png") => "{\"image\":{\"format\":\"png\",\"source\":{",
            Some("image/gif") => "{\"image\":{\"format\":\"gif\",\"source\":{",
            Some("image/webp") => "{\"image\":{\"format\":\"webp\",\"source\":{",
            _ => "{\"image\":{\"format\":\"jpeg\",\"source\":{",
        });
    }
    if let Some(address) = bucket(media) {
        sink.framing("\"s3Location\":{\"uri\":");
        sink.json_string(address, Component::Content);
        sink.framing("}");
    } else {
        sink.framing("\"bytes\":");
        sink.json_string(carried(inline_bytes(media)), Component::Content);
    }
    sink.framing("}}}");
}
