//! gryag's conversation pattern as sent to Gemini (document of 2025-10-17).
//!
//! ```json
//! [{"role":"user","parts":[{"text":"[meta] chat_id=-1 message_id=5 user_id=9 name=\"Alice\""},{"text":"Hi"}]},
//!  {"role":"model","parts":[{"text":"[meta] chat_id=-1 message_id=6 name=\"gryag\""},{"text":"Hm."}]}]
//! ```
//!
//! A `[meta]` line comes first in every turn but those of tools; texts follow, then media. The bot speaks as `model` and
//! has no user id, tools as `tool`, everybody else as `user`. System text becomes the first user turn. The context layers
//! of the document that need the bot's search index are not rendered.
//!
//! Profile `2025-10-17` is the code of that day: another order of keys, second names with their sign, values cut at 60 and 80
//! code points.

mod edition;
mod media;
mod meta;
mod tools;

use std::borrow::Cow;

use chatmill_model::{Component, Level, Message, Part, Participant, Role, Sink, Speaker};

use crate::about::{DialectAbout, Rules};
use crate::controls::escape_line;
use crate::dialects::gryag::{is_bare_file, is_gryags};
use crate::loss::{LossCode, Losses, reasons};
use crate::message_text::{answered, declared_text};
use crate::names::is_nobody;
use crate::progress::Progress;
use crate::select_messages::SelectedMessages;
use crate::steps::{Step, arrange};
use crate::tools::{call_as_text, result_as_text};
use crate::transcript::Transcript;
use crate::unsupported::{Unsupported, declare_conversation, declare_messages};
use crate::view::View;
use crate::{Dialect, Emit, system};

use edition::{CODE, DOCUMENT, Edition};
use meta::Meta;
use tools::name_of;

/// The dialect of gryag's prompts.
pub(crate) struct GryagGemini {
    profile: &'static str,
    edition: &'static Edition,
}

/// In profile `document`.
pub(crate) static GRYAG_GEMINI: GryagGemini = GryagGemini {
    profile: "document",
    edition: &DOCUMENT,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "gryag prompt for Gemini",
    family: "gryag-gemini",
    media_type: "application/json",
    specification: "gryag, CURRENT_CONVERSATION_PATTERN",
    dated: "2025-10-17",
    carries: "text, names, ids, one reply per message with an excerpt, media, tools; not the context layers that the bot's search index fills",
    profiles: &[
        &GRYAG_GEMINI,
        &GryagGemini {
            profile: "2025-10-17",
            edition: &CODE,
        },
    ],
    neutral: false,
    rules: Rules::Judged(&[]),
};

/// What a rendering may lose.
const LOSES: &[LossCode] = &[
    LossCode::NameDropped,
    LossCode::NameCleaned,
    LossCode::RoleMapped,
    LossCode::TurnMoved,
    LossCode::TurnSplit,
    LossCode::SystemInlined,
    LossCode::ToolIdRewritten,
    LossCode::ToolNameRewritten,
    LossCode::ToolIdDropped,
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::ToolDefinitionDropped,
    LossCode::OrphanResultDropped,
    LossCode::OrphanResultInlined,
    LossCode::MissingResultSynthesised,
    LossCode::ResultLateMoved,
    LossCode::ResultEarlyMoved,
    LossCode::DuplicateResult,
    LossCode::ArgsMalformed,
    LossCode::ArgsNotObject,
    LossCode::ArgsReserialised,
    LossCode::ResultWrapped,
    LossCode::ErrorFlagDropped,
    LossCode::MediaDropped,
    LossCode::MediaPlaceholder,
    LossCode::MediaDescriptionDropped,
    LossCode::PartMoved,
    LossCode::EmptyDropped,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
    LossCode::TimestampDropped,
    LossCode::MessageIdDropped,
    LossCode::WeightDropped,
    LossCode::MentionDropped,
    LossCode::NoticeDropped,
    LossCode::ParticipantDropped,
    LossCode::MetadataDropped,
    LossCode::ExtraDropped,
    LossCode::ReferenceDropped,
    LossCode::ReferenceUnresolved,
    LossCode::ReferenceNested,
    LossCode::ReservedTextEscaped,
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
];

impl Dialect for GryagGemini {
    fn id(&self) -> &'static str {
        "gryag-gemini"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn profile(&self) -> &'static str {
        self.profile
    }

    fn loses(&self) -> Vec<LossCode> {
        LOSES.to_vec()
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let view = transcript.view();
        let mut losses = Losses::default();
        let shown = SelectedMessages::choose(view, None, &mut losses, View::is_turn);
        declare_conversation(view, &mut losses);
        let mut lacks = vec![Unsupported::Times, Unsupported::Mentions];
        if !is_gryags(view.conversation()) {
            lacks.push(Unsupported::SenderNames);
        }
        declare_messages(view, &shown.messages, &lacks, &mut losses);
        losses.whole_rendering(
            LossCode::ToolDefinitionDropped,
            view.conversation().tools.len() as u64,
            reasons::DEFINITIONS_STAND_BESIDE,
        );
        let turns = arrange(view, &shown.messages, &mut losses);
        let mut writer = Writer {
            view,
            edition: self.edition,
            sink: &mut *sink,
            losses,
            progress: Progress::default(),
            lined: 0,
            fields: 0,
        };
        writer.sink.framing("[");
        writer.system(&shown.messages);
        for step in turns.steps {
            writer.step(step);
        }
        writer.sink.speak(Speaker::Other);
        writer.sink.framing("]");
        let with_id = shown.messages.iter().filter(|message| message.id.is_some());
        writer.losses.whole_rendering(
            LossCode::MessageIdDropped,
            (with_id.count() as u64).saturating_sub(writer.lined),
            reasons::NO_LINE_FOR_THE_ID,
        );
        let fields = shown.messages.iter().flat_map(|message| &message.extra.0);
        // How a media item stands in its part is the edition's own matter.
        let fields = fields.filter(|(field, _)| !is_bare_file(field)).count() as u64;
        writer.losses.whole_rendering(
            LossCode::ExtraDropped,
            fields.saturating_sub(writer.fields),
            reasons::NO_FURTHER_FIELDS_OF_A_MESSAGE,
        );
        let Writer { progress, losses, .. } = writer;
        emit(sink, progress.finish(shown.extent, losses, turns.faults));
    }
}

struct Writer<'v, 'a> {
    view: &'v View<'a>,
    edition: &'static Edition,
    sink: &'v mut Sink<'a>,
    losses: Losses,
    progress: Progress,
    /// Messages whose id stands in a line.
    lined: u64,
    /// Further fields of messages that stand in their lines.
    fields: u64,
}

impl<'a> Writer<'_, 'a> {
    fn open(&mut self, role: &'static str) {
        self.sink.speak(Speaker::Other);
        if !self.progress.is_silent() {
            self.sink.framing(",");
        }
        self.sink.framing(role);
    }

    fn close(&mut self) {
        self.sink.speak(Speaker::Other);
        self.sink.framing("]}");
    }

    /// All system text as the first turn.
    fn system(&mut self, shown: &[&'a Message]) {
        let mut texts: Vec<Cow<'a, str>> = Vec::new();
        if let Some(instructions) = system::instructions(self.view, &mut self.losses) {
            texts.push(Cow::Owned(instructions));
        }
        let mut positions = Vec::new();
        let mut is_front = true;
        for message in shown {
            if message.role != Role::System {
                is_front = false;
                continue;
            }
            if !system::keeps(self.view, message, &mut self.losses) {
                continue;
            }
            for part in &message.parts {
                let code = match part {
                    Part::Media(_) => LossCode::MediaDropped,
                    Part::CacheMark => LossCode::CacheMarkDropped,
                    Part::Reasoning(_) => LossCode::ReasoningDropped,
                    _ => continue,
                };
                self.losses
                    .at(code, message.position, reasons::SYSTEM_TEXT_IS_TEXT_ONLY);
            }
            let before = texts.len();
            texts.extend(message.texts().filter(|text| !text.is_empty()).map(Cow::Borrowed));
            if before == 0
                && let Some(first) = texts.first_mut()
            {
                let text = std::mem::take(first);
                *first = self.without_line(text, message.position);
            }
            if texts.len() == before {
                self.losses.at(
                    LossCode::EmptyDropped,
                    message.position,
                    reasons::SYSTEM_TEXT_SAYS_NOTHING,
                );
                continue;
            }
            self.losses.at(
                LossCode::SystemInlined,
                message.position,
                reasons::SYSTEM_TEXT_IS_THE_FIRST_TURN,
            );
            if !is_front {
                self.losses.at(
                    LossCode::TurnMoved,
                    message.position,
                    reasons::SYSTEM_TEXT_STANDS_IN_FRONT,
                );
            }
            positions.push(message.position);
        }
        if texts.is_empty() {
            return;
        }
        self.open("{\"role\":\"user\",\"parts\":[{\"text\":\"");
        for (index, text) in texts.into_iter().enumerate() {
            if index > 0 {
                self.sink.content("\n\n", Level::JsonString, Component::Framing);
            }
            self.sink.content(text, Level::JsonString, Component::Content);
        }
        self.sink.framing("\"}");
        self.close();
        self.progress.added("user");
        for position in positions {
            self.progress.said(position, "user");
        }
    }

    fn step(&mut self, step: Step<'a>) {
        match step {
            Step::Say { message, .. } if message.role == Role::System => {}
            Step::Say { message, calls } => {
                let has_content = message.parts.iter().any(|part| match part {
                    Part::Text(text) => !text.is_empty(),
                    Part::Media(_) => true,
                    _ => false,
                });
                let has_called = self.view.is_own(message)
                    && message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
                if has_content || !has_called {
                    let is_said = self.say(message);
                    if is_said && !calls.is_empty() {
                        self.losses
                            .at(LossCode::TurnSplit, message.position, reasons::CALLS_ARE_A_TURN);
                    }
                    if !is_said && calls.is_empty() {
                        self.losses.at(
                            LossCode::EmptyDropped,
                            message.position,
                            reasons::TURN_WITHOUT_PARTS,
                        );
                    }
                }
                if !has_content && has_called {
                    self.declare_unsaid(message);
                }
                if !calls.is_empty() {
                    self.calls(message, &calls);
                }
            }
            Step::Answer {
                call,
                message,
                result,
                part: _,
            } => {
                let name = name_of(call.call.name.as_deref());
                if result.name.as_deref().is_some_and(|own| own != name) {
                    self.losses.at(
                        LossCode::ToolNameRewritten,
                        message.position,
                        reasons::RESPONSE_BEARS_THE_CALLS_NAME,
                    );
                }
                self.result(name, message, result);
            }
            Step::Loose { message, result } => {
                self.result(name_of(result.name.as_deref()), message, result);
            }
            Step::Missing { call } => self.missing(call),
            Step::Inline { message, result, .. } => {
                self.open("{\"role\":\"user\",\"parts\":[{\"text\":\"");
                let content = answered(self.view, message, result, &mut self.losses);
                result_as_text(self.sink, content, Level::JsonString);
                self.sink.framing("\"}");
                self.close();
                self.progress.said(message.position, "user");
            }
        }
    }

    /// What a message that only calls knows beside its calls: their turn has no line and no text.
    fn declare_unsaid(&mut self, message: &Message) {
        for part in &message.parts {
            let code = match part {
                Part::Reasoning(_) => LossCode::ReasoningDropped,
                Part::CacheMark => LossCode::CacheMarkDropped,
                _ => continue,
            };
            self.losses
                .at(code, message.position, reasons::TURN_OF_CALLS_ONLY);
        }
        self.losses.several(
            LossCode::ReferenceDropped,
            message.position,
            message.references.len() as u64,
            reasons::NO_LINE_FOR_A_REPLY,
        );
    }

    /// The turn of a message: its line, its texts, its media. Says whether anything stands in it.
    fn say(&mut self, message: &'a Message) -> bool {
        let is_own = self.view.is_own(message);
        let (role, opening) = if is_own {
            ("assistant", "{\"role\":\"model\",\"parts\":[")
        } else {
            ("user", "{\"role\":\"user\",\"parts\":[")
        };
        // Whether there is a turn at all shows only when its parts are written.
        let before = self.sink.mark();
        self.open(opening);
        if role != message.role.as_str() {
            self.losses.at(
                LossCode::RoleMapped,
                message.position,
                reasons::ONLY_THE_PERSPECTIVE_IS_THE_MODEL,
            );
        }
        if is_own {
            self.sink.speak(Speaker::Perspective);
        }
        let meta = Meta::of(self.view, message, &mut self.losses);
        let is_known_by_id = |sender: &Participant| sender.own_name().is_none() && !is_nobody(sender);
        if is_own && self.view.sender(message).is_some_and(is_known_by_id) {
            self.losses
                .at(LossCode::NameDropped, message.position, reasons::BOT_HAS_NO_NAME);
        }
        let mut parts = 0;
        let (has_line, fields) = meta.write(
            self.edition,
            "{\"text\":\"",
            self.sink,
            message.position,
            &mut self.losses,
        );
        if has_line {
            parts = 1;
            self.fields += fields;
            self.lined += u64::from(message.id.is_some());
            self.sink.framing("\"}");
        }
        let mut waiting = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    let text = declared_text(self.view, message, text, &mut self.losses);
                    self.text(&mut parts, text, message.position);
                    if !waiting.is_empty() {
                        self.losses.at(
                            LossCode::PartMoved,
                            message.position,
                            reasons::MEDIA_BEHIND_THE_TEXT,
                        );
                    }
                }
                Part::Media(media) => waiting.push(media),
                Part::ToolCall(call) if !is_own => {
                    self.losses.at(
                        LossCode::RoleMapped,
                        message.position,
                        reasons::FOREIGN_CALL_AS_TEXT,
                    );
                    self.open_text(&mut parts);
                    call_as_text(self.sink, call, Level::JsonString);
                    self.sink.framing("\"}");
                }
                Part::ToolCall(_) | Part::ToolResult(_) => {}
                Part::Reasoning(_) => self.losses.at(
                    LossCode::ReasoningDropped,
                    message.position,
                    reasons::PATTERN_HAS_NO_REASONING,
                ),
                Part::Notice(_) => self.losses.at(
                    LossCode::NoticeDropped,
                    message.position,
                    reasons::PATTERN_HAS_NO_NOTICES,
                ),
                Part::CacheMark => self.losses.at(
                    LossCode::CacheMarkDropped,
                    message.position,
                    reasons::PATTERN_HAS_NO_CACHE_MARKS,
                ),
            }
        }
        for media in waiting {
            self.media(&mut parts, media, message.position);
        }
        if parts > 0 {
            self.close();
            self.progress.said(message.position, role);
        } else {
            self.sink.rewind(before);
            self.sink.speak(Speaker::Other);
        }
        parts > 0
    }

    fn open_text(&mut self, parts: &mut u32) {
        if *parts > 0 {
            self.sink.framing(",");
        }
        *parts += 1;
        self.sink.framing("{\"text\":\"");
    }

    fn text(&mut self, parts: &mut u32, text: impl Into<Cow<'a, str>>, position: u32) {
        let mut text = text.into();
        if text.is_empty() {
            return;
        }
        if *parts == 0 {
            text = self.without_line(text, position);
        }
        self.open_text(parts);
        self.sink.content(text, Level::JsonString, Component::Content);
        self.sink.framing("\"}");
    }

    /// A text that stands first in its turn and begins like a line of ids would be read as one.
    fn without_line(&mut self, text: Cow<'a, str>, position: u32) -> Cow<'a, str> {
        let (text, is_escaped) = escape_line(text);
        if is_escaped {
            let reason = reasons::TEXT_LIKE_META_LINE;
            self.losses.at(LossCode::ReservedTextEscaped, position, reason);
        }
        text
    }
}
