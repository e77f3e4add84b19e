//! Gemini `generateContent`: a request with `systemInstruction`, `contents` of parts, and `tools`.
//!
//! ```json
//! {"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello"}]}]}
//! ```
//!
//! Profile `no-ids` leaves out the ids of calls, which older models refuse. In profile `parameters-only` a row is invalid if the parameters
//! of a tool exceed the API's subset of JSON Schema, because older endpoints do not know `parametersJsonSchema`.

use chatmill_model::{Component, Media, MediaKind, MediaSource, Sink, Vendor};

use crate::loss::reasons;
use crate::loss::rule::rules;
use crate::loss::violation::Violation;
use crate::naming::calls::{IdRule, IdShape};
use crate::naming::tools::NameRule;
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::passes::profile::{DialectProfile, Results, SystemPlace, Texts, Thoughts};
use crate::text::json;
use crate::text::media::{carried, inline_bytes, kind_of_type, web_address};
use crate::tools::arguments::ArgumentsAs;
use crate::tools::forms::{self, Form};
use crate::tools::hosted::Hosts;
use crate::tools::schemas::schema_rules::{Draft, SchemaRules};
use crate::transcript::turns::{Block, BlockContent, TurnPlan, with_media};
use crate::write::list::write_turns;

rules! {
    /// roles are user and model
    GEM_01 = "GEM-01";
    /// keys are in one case
    GEM_02 = "GEM-02";
    /// a part has one member and is not empty; only the parts of a response have names
    GEM_03 = "GEM-03";
    /// arguments and responses are objects; a result that is not an object is under `output`, a failure under `error`
    GEM_04 = "GEM-04";
    /// names are up to 128 of `[a-zA-Z0-9_-]` and begin with a letter or `_`, and a response has the name of its call
    GEM_05 = "GEM-05";
    /// a turn has as many responses as calls, in one content without other parts; calls at the end have none
    GEM_06 = "GEM-06";
    /// a turn with calls follows a user turn or responses, and responses follow their calls
    GEM_07 = "GEM-07";
    /// a user speaks first; there is at least one content; a request ends with a user, training data with
    /// the model
    GEM_08 = "GEM-08";
    /// signatures of thoughts are written where a model asks for them, never in data
    GEM_09 = "GEM-09";
    /// numbers travel as doubles: whole numbers beyond 2^53 lose digits on the way (unverified)
    GEM_10 = "GEM-10";
    /// the parameters of a tool are an object with types at every depth, `items` in each array, no empty string in an enumeration, only a
    /// description next to `anyOf`, and no union at the root; all others are written whole, in JSON Schema 2020-12, under
    /// `parametersJsonSchema`, where references lead to a schema in it
    GEM_11 = "GEM-11";
}

/// Requests of `generateContent`, in profile `document`.
pub(crate) static GEMINI_CONTENTS: Dialect =
    Dialect::turns(&ABOUT, &PROFILE, |plan, sink| write(plan, sink, true));

/// The same without ids of calls.
static WITHOUT_IDS: Dialect =
    Dialect::turns(&ABOUT, &NO_IDS, |plan, sink| write(plan, sink, false)).called("no-ids");

/// The same for endpoints that do not know `parametersJsonSchema`.
static PARAMETERS_ONLY: Dialect =
    Dialect::turns(&ABOUT, &SUBSET_ONLY, |plan, sink| write(plan, sink, true)).called("parameters-only");

static ABOUT: DialectAbout = DialectAbout {
    id: "gemini-contents",
    title: "Gemini generateContent",
    family: "gemini",
    media_type: "application/json",
    specification: "Google API discovery document, revision 20260717",
    dated: "2026-07-17",
    carries: "text, tools, failures of tools, media with an address or bytes, in results as bytes, quoted replies; names before the text",
    profiles: &[&GEMINI_CONTENTS, &WITHOUT_IDS, &PARAMETERS_ONLY],
    shows: Shows::Conversation,
    rules: Rules::Validated(RULES),
};

static PROFILE: DialectProfile = DialectProfile {
    results: Results::OneTurn,
    merging: Some(GEM_07),
    user_first: Some(GEM_08),
    system: SystemPlace::Outside,
    texts: Texts::BlocksOfOthers,
    blank_is_empty: true,
    carries: Some(carries),
    must_be_fetched: Some(must_be_fetched),
    carries_in_results: Some(carries_in_results),
    thoughts: Thoughts::Nowhere(reasons::THOUGHTS_ARE_UNSIGNED.by(GEM_09)),
    marks_errors: true,
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY.by(GEM_03),
    wraps_results: Some(reasons::RESULT_STANDS_UNDER_A_KEY.by(GEM_04)),
    object_results: Some(object_states_error),
    arguments: ArgumentsAs::Object(GEM_04),
    rounds_numbers: Some(reasons::LARGE_NUMBERS_LOSE_DIGITS.by(GEM_10)),
    definitions: Some(Form::Declaration),
    schemas: Some(&SCHEMAS),
    escapes_lines: true,
    items: Some(Vendor::Gemini),
    ..DialectProfile::plain(
        IdRule::new(IdShape::Any(usize::MAX), GEM_06, GEM_06),
        NameRule {
            begins_as_identifier: true,
            ..NameRule::new(Some(128), reasons::FUNCTION_NAME_OF_128.by(GEM_05))
        },
        (GEM_08, "no content is left"),
        reasons::MEDIA_HAVE_NO_NAME.by(GEM_03),
    )
};

/// Schemas beyond the subset are written as JSON Schema under another key.
const SCHEMAS: SchemaRules = SchemaRules {
    draft: Draft::Newest,
    has_whole_references: true,
    takes_all: true,
    hosts: Hosts::Google,
    ..SchemaRules::none(GEM_11)
};

static NO_IDS: DialectProfile = DialectProfile {
    drops_ids: Some(reasons::PAIRED_BY_ORDER),
    ..PROFILE
};

static SUBSET_ONLY: DialectProfile = DialectProfile {
    schemas: Some(&SchemaRules {
        takes_all: false,
        ..SCHEMAS
    }),
    ..PROFILE
};

fn write<'a>(plan: &mut TurnPlan<'a>, sink: &mut Sink<'a>, has_ids: bool) {
    sink.framing("{");
    if !plan.system.is_empty() {
        sink.framing("\"systemInstruction\":{\"parts\":[");
        write_parts(sink, plan, &plan.system, has_ids);
        sink.framing("]},");
    }
    sink.framing("\"contents\":[");
    let heads = ["{\"role\":\"user\"", "{\"role\":\"model\"", ",\"parts\":["];
    write_turns(sink, plan, heads, |sink, blocks| {
        write_parts(sink, plan, blocks, has_ids);
    });
    sink.framing("]");
    forms::write(sink, [",\"tools\":[", "]"], &plan.definitions, Form::Declaration);
    sink.framing("}");
    let misnamed = misnamed(plan);
    plan.violations.extend(misnamed);
}

/// Reports responses with other names than the calls before them; only rejected calls and results leave such turns.
fn misnamed(plan: &TurnPlan<'_>) -> Option<Violation> {
    let mut pairs = plan.turn_blocks().zip(plan.turn_blocks().skip(1));
    let ((_, _), (answer, _)) = pairs.find(|((_, asked), (_, answer))| {
        fn names<'b>(blocks: &'b [Block<'_>]) -> impl Iterator<Item = &'b str> {
            blocks.iter().filter_map(|block| match block.content {
                BlockContent::Call(call) => Some(call.name),
                BlockContent::Result(result) => Some(result.name),
                _ => None,
            })
        }
        asked.iter().any(Block::is_call)
            && names(asked).count() == names(answer).count()
            && names(asked).ne(names(answer))
    })?;
    let problem = "responses have other names than their calls";
    Some(Violation::of(GEM_05, answer.position, problem))
}

/// Returns how many facts about a medium are lost; carries media with an address, or with bytes and their type.
fn carries(media: &Media) -> Option<u64> {
    let has_bytes = inline_bytes(media).is_some() && media_type(media).is_some();
    let is_carried = media.kind != MediaKind::Link && (address(media).is_some() || has_bytes);
    is_carried.then(|| u64::from(media.name.is_some()) + u64::from(!type_states_kind(media)))
}

/// The same for media of a result, which must be bytes and keep their name, because the result may refer to it.
fn carries_in_results(media: &Media) -> Option<u64> {
    let lost = inline_bytes(media).and_then(|_| carries(media))?;
    Some(lost.saturating_sub(u64::from(media.name.is_some())))
}

/// Whether an object, written as the response, is read as a failure or not as it should be: an object with `error` alone is a failure.
fn object_states_error(object: &str, is_error: bool) -> bool {
    let fields = json::fields(object);
    is_error == (fields.len() == 1 && fields.contains_key("error"))
}

/// Whether the API cannot fetch an address itself.
fn must_be_fetched(media: &Media) -> bool {
    const WITHIN_REACH: [&str; 3] = [
        "gs://",
        "https://generativelanguage.googleapis.com/",
        "https://www.youtube.com/",
    ];
    let is_beyond = |address: &str| !WITHIN_REACH.iter().any(|start| address.starts_with(start));
    address(media).is_some_and(is_beyond)
}

/// Whether the type of a media item states its kind; an item without a type is a file.
fn type_states_kind(media: &Media) -> bool {
    let kind = kind_of_type(media_type(media));
    kind == media.kind && media.media_type.as_deref() == media_type(media)
}

fn address(media: &Media) -> Option<&str> {
    match &media.source {
        MediaSource::Url(url) if url.strip_prefix("gs://").is_some_and(|rest| !rest.is_empty()) => Some(url),
        _ => web_address(media),
    }
}

fn media_type(media: &Media) -> Option<&str> {
    media.media_type.as_deref().filter(|kind| kind.contains('/'))
}

fn write_parts<'a>(sink: &mut Sink<'a>, plan: &TurnPlan<'a>, blocks: &[Block<'a>], has_ids: bool) {
    for (index, (block, media)) in with_media(blocks).enumerate() {
        if index > 0 {
            sink.framing(",");
        }
        match block.content {
            BlockContent::Item(item) => {
                sink.literal(item.raw.as_str(), Component::Tools);
                continue;
            }
            BlockContent::Media(media, _) => medium(sink, media, None),
            BlockContent::Call(call) => {
                sink.framing("{\"functionCall\":{");
                write_id(sink, call.id, has_ids);
                sink.framing("\"name\":");
                sink.json_string(call.name, Component::Tools);
                sink.framing(",\"args\":");
                sink.literal(call.arguments, Component::Tools);
                sink.framing("}");
            }
            BlockContent::Result(result) => {
                sink.framing("{\"functionResponse\":{");
                write_id(sink, result.id, has_ids);
                sink.framing("\"name\":");
                sink.json_string(result.name, Component::Tools);
                if result.is_object {
                    sink.framing(",\"response\":");
                    sink.literal(result.content, Component::Tools);
                } else {
                    sink.framing(if result.is_error() {
                        ",\"response\":{\"error\":"
                    } else {
                        ",\"response\":{\"output\":"
                    });
                    sink.json_string(result.content, Component::Tools);
                    sink.framing("}");
                }
                let mut separator = ",\"parts\":[";
                for block in media {
                    if let BlockContent::Media(media, _) = block.content {
                        sink.framing(separator);
                        separator = "},";
                        medium(sink, media, media.name.as_deref());
                    }
                }
                sink.framing(if media.is_empty() { "}" } else { "}]}" });
            }
            _ => {
                plan.write_string(sink, "{\"text\":\"", block);
            }
        }
        sink.framing("}");
    }
}

fn write_id<'a>(sink: &mut Sink<'a>, id: &'a str, has_ids: bool) {
    if has_ids {
        sink.framing("\"id\":");
        sink.json_string(id, Component::Meta);
        sink.framing(",");
    }
}

fn medium<'a>(sink: &mut Sink<'a>, media: &'a Media, name: Option<&'a str>) {
    let kind = media_type(media);
    if let Some(address) = address(media) {
        sink.framing("{\"fileData\":{");
        if let Some(kind) = kind {
            sink.framing("\"mimeType\":");
            sink.json_string(kind, Component::Meta);
            sink.framing(",");
        }
        sink.framing("\"fileUri\":");
        sink.json_string(address, Component::Content);
    } else {
        sink.framing("{\"inlineData\":{\"mimeType\":");
        sink.json_string(carried(kind), Component::Meta);
        if let Some(name) = name {
            sink.framing(",\"displayName\":");
            sink.json_string(name, Component::Content);
        }
        sink.framing(",\"data\":");
        sink.json_string(carried(inline_bytes(media)), Component::Content);
    }
    sink.framing("}");
}
