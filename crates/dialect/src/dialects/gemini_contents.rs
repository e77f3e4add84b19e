//! Gemini `generateContent`: a request with `systemInstruction`, `contents` of parts, and `tools`.
//!
//! ```json
//! {"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello"}]}]}
//! ```
//!
//! Profile `no-ids` leaves out the ids of calls, which older models refuse.

use chatmill_model::{Component, Media, MediaKind, MediaSource, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::arguments::{as_object, inexact_integers};
use crate::controls::escape_line;
use crate::definitions::{self, Form};
use crate::list::string;
use crate::loss::{LossCode, Losses, reasons};
use crate::media::{inline_bytes, web_address};
use crate::rules::rules;
use crate::turn_plan::ids::{IdRule, IdShape};
use crate::turn_plan::tool_names::NameRule;
use crate::turn_plan::{
    Block, BlockContent, Carried, DialectProfile, Order, Results, SystemPlace, Texts, Thoughts, Turn,
    TurnPlan,
};
use crate::view::View;
use crate::violation::Violation;
use crate::{Dialect, Emit};

rules! {
    /// roles are user and model
    GEM_01 = "GEM-01";
    /// keys are in one case
    GEM_02 = "GEM-02";
    /// a part has one member and is not empty
    GEM_03 = "GEM-03";
    /// arguments and responses are objects; a result stands under `output`, a failure under `error`
    GEM_04 = "GEM-04";
    /// names are up to 128 of `[a-zA-Z0-9_-]`, and a response bears the name of its call
    GEM_05 = "GEM-05";
    /// there are as many responses to a turn as calls, in one content that holds nothing else
    GEM_06 = "GEM-06";
    /// a turn with calls stands after a user turn or responses, responses after their calls
    GEM_07 = "GEM-07";
    /// a user speaks first; there is at least one content; a request ends with a user, training data with
    /// the model
    GEM_08 = "GEM-08";
    /// signatures of thoughts stand where a model asks for them, never in data
    GEM_09 = "GEM-09";
    /// numbers travel as doubles: whole numbers beyond 2^53 lose digits on the way (unverified)
    GEM_10 = "GEM-10";
}

/// The dialect of `generateContent` requests.
pub(crate) struct GeminiContents {
    profile: &'static str,
    has_ids: bool,
}

/// In profile `document`.
pub(crate) static GEMINI_CONTENTS: GeminiContents = GeminiContents {
    profile: "document",
    has_ids: true,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "Gemini generateContent",
    family: "gemini",
    media_type: "application/json",
    specification: "Google API discovery document, revision 20260717",
    dated: "2026-07-17",
    carries: "text, tools, failures of tools, media with an address or bytes, quoted replies; names before the text",
    loses: "ids of messages, times, notices, reasoning, names of files, facts about people and rooms",
    profiles: &[
        &GEMINI_CONTENTS,
        &GeminiContents {
            profile: "no-ids",
            has_ids: false,
        },
    ],
    neutral: false,
    rules: Rules::Judged(RULES),
};

static MANNER: DialectProfile = DialectProfile {
    name_field: None,
    nameless: None,
    order: Order::Paired,
    results: Results::OneTurn,
    merging: Some(GEM_07),
    user_first: Some(GEM_08),
    system: SystemPlace::Outside,
    texts: Texts::Blocks,
    blank_is_empty: true,
    trims_end: None,
    splits_calls: None,
    carries,
    media_rule: reasons::MEDIA_HAVE_NO_NAME.by(GEM_03),
    media_rule_plain: reasons::ROLE_HOLDS_TEXT_ONLY.by(GEM_03),
    thoughts: Thoughts::Nowhere(reasons::THOUGHTS_ARE_UNSIGNED.by(GEM_09)),
    cache_marks: None,
    marks_errors: true,
    ids: IdRule {
        shape: IdShape::Any(usize::MAX),
        wanted: GEM_06,
        unique: GEM_06,
        shaped: GEM_06,
    },
    tool_names: NameRule {
        most: Some(128),
        reason: reasons::FUNCTION_NAME_OF_128.by(GEM_05),
    },
    pairing: GEM_06,
    silent: (GEM_08, "no content is left"),
    keeps_message_ids: false,
};

impl Dialect for GeminiContents {
    fn id(&self) -> &'static str {
        "gemini-contents"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn profile(&self) -> &'static str {
        self.profile
    }

    fn render<'a>(&self, view: &View<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let mut script = TurnPlan::new(view, &MANNER);
        sink.framing("{");
        let mut parts = Parts {
            has_ids: self.has_ids,
            losses: std::mem::take(&mut script.losses),
        };
        if !script.system.is_empty() {
            sink.framing("\"systemInstruction\":{\"parts\":[");
            parts.write(sink, std::mem::take(&mut script.system));
            sink.framing("]},");
        }
        script.violations.extend(misnamed(&script.turns));
        sink.framing("\"contents\":[");
        for (index, mut turn) in std::mem::take(&mut script.turns).into_iter().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            parts.without_line(&mut turn);
            if turn.role == Role::Assistant {
                sink.framing("{\"role\":\"model\"");
                sink.speak(Speaker::Perspective);
            } else {
                sink.framing("{\"role\":\"user\"");
            }
            sink.framing(",\"parts\":[");
            parts.write(sink, turn.blocks);
            sink.framing("]}");
            sink.speak(Speaker::Other);
        }
        sink.framing("]");
        script.losses = parts.losses;
        definitions::write(
            sink,
            [",\"tools\":[{\"functionDeclarations\":[", "]}]"],
            &view.conversation().tools,
            Form::Declaration,
            &script.tool_names,
            &mut script.losses,
        );
        sink.framing("}");
        let rendering = script.finish();
        emit(sink, rendering);
    }
}

/// Responses by other names than the calls before them, which only rejected calls and results leave.
fn misnamed(turns: &[Turn<'_>]) -> Option<Violation> {
    let mut pairs = turns.iter().zip(turns.iter().skip(1));
    let (_, answer) = pairs.find(|(asked, answer)| {
        let names = |turn: &Turn<'_>| -> Vec<String> {
            let blocks = turn.blocks.iter();
            let name = |block: &Block<'_>| match &block.held {
                BlockContent::Call(call) => Some(call.name.clone().into_owned()),
                BlockContent::Result(result) => Some(result.name.clone().into_owned()),
                BlockContent::Text(_) | BlockContent::Media(_) => None,
            };
            blocks.filter_map(name).collect()
        };
        let (calls, responses) = (names(asked), names(answer));
        asked.calls() && calls.len() == responses.len() && calls != responses
    })?;
    let position = answer.said.first().and_then(|(position, _)| *position);
    let fault = "responses bear other names than their calls";
    Some(Violation::of(GEM_05, position, fault))
}

/// Media with an address, or with bytes and their type.
fn carries(media: &Media) -> Option<Carried> {
    if media.kind == MediaKind::Link {
        return None;
    }
    let carried = Carried::without([media.name.is_some(), !tells_kind(media)]);
    if let Some(address) = address(media) {
        const WITHIN_REACH: [&str; 3] = [
            "gs://",
            "https://generativelanguage.googleapis.com/",
            "https://www.youtube.com/",
        ];
        let needs_fetch = !WITHIN_REACH.iter().any(|start| address.starts_with(start));
        return Some(Carried {
            needs_fetch,
            ..carried
        });
    }
    (inline_bytes(media).is_some() && media_type(media).is_some()).then_some(carried)
}

/// Whether the type of a media item says what it is; one without a type is a file.
fn tells_kind(media: &Media) -> bool {
    let told = match media_type(media).and_then(|kind| kind.split_once('/')) {
        Some(("image", _)) => MediaKind::Image,
        Some(("audio", _)) => MediaKind::Audio,
        Some(("video", _)) => MediaKind::Video,
        _ => MediaKind::File,
    };
    told == media.kind && media.media_type.as_deref() == media_type(media)
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

struct Parts {
    has_ids: bool,
    losses: Losses,
}

impl Parts {
    fn write<'a>(&mut self, sink: &mut Sink<'a>, blocks: Vec<Block<'a>>) {
        for (index, block) in blocks.into_iter().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            let position = block.position;
            match block.held {
                BlockContent::Text(words) => {
                    sink.framing("{\"text\":");
                    string(sink, words);
                }
                BlockContent::Media(media) => medium(sink, media),
                BlockContent::Call(call) => {
                    let position = position.unwrap_or_default();
                    sink.framing("{\"functionCall\":{");
                    self.id(sink, call.id, position);
                    sink.framing("\"name\":");
                    sink.json_string(call.name, Component::Tools);
                    sink.framing(",\"args\":");
                    let object = as_object(call.call, position, GEM_04, &mut self.losses);
                    self.losses.several(
                        LossCode::NumberPrecision,
                        position,
                        inexact_integers(&object),
                        reasons::LARGE_NUMBERS_LOSE_DIGITS.by(GEM_10),
                    );
                    sink.literal(object, Component::Tools);
                    sink.framing("}");
                }
                BlockContent::Result(result) => {
                    let (content, is_error) = (result.content(), result.is_error());
                    sink.framing("{\"functionResponse\":{");
                    if self.has_ids {
                        sink.framing("\"id\":");
                        sink.json_string(result.id, Component::Meta);
                        sink.framing(",");
                    }
                    sink.framing("\"name\":");
                    sink.json_string(result.name, Component::Tools);
                    sink.framing(if is_error {
                        ",\"response\":{\"error\":"
                    } else {
                        ",\"response\":{\"output\":"
                    });
                    sink.json_string(content, Component::Tools);
                    sink.framing("}}");
                    if let Some(position) = position {
                        self.losses.at(
                            LossCode::ResultWrapped,
                            position,
                            reasons::RESULT_STANDS_UNDER_A_KEY.by(GEM_04),
                        );
                    }
                }
            }
            sink.framing("}");
        }
    }

    /// Readers take a first text that begins like gryag's line of ids for one.
    fn without_line(&mut self, turn: &mut Turn<'_>) {
        let Some(block) = turn.blocks.first_mut() else {
            return;
        };
        let position = block.position;
        if let BlockContent::Text(words) = &mut block.held
            && let Some(first) = words.first_mut()
        {
            let (text, is_escaped) = escape_line(std::mem::take(&mut first.text));
            first.text = text;
            if let Some(position) = position.filter(|_| is_escaped) {
                let reason = reasons::TEXT_LIKE_META_LINE;
                self.losses.at(LossCode::ReservedTextEscaped, position, reason);
            }
        }
    }

    fn id<'a>(&mut self, sink: &mut Sink<'a>, id: std::borrow::Cow<'a, str>, position: u32) {
        if self.has_ids {
            sink.framing("\"id\":");
            sink.json_string(id, Component::Meta);
            sink.framing(",");
        } else {
            self.losses
                .at(LossCode::ToolIdDropped, position, reasons::PAIRED_BY_ORDER);
        }
    }
}

fn medium<'a>(sink: &mut Sink<'a>, media: &'a Media) {
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
        sink.json_string(kind.unwrap_or_default(), Component::Meta);
        sink.framing(",\"data\":");
        sink.json_string(inline_bytes(media).unwrap_or_default(), Component::Content);
    }
    sink.framing("}");
}
