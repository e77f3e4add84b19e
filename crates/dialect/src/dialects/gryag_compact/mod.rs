//! gryag's compact transcript (document of 2025-10-17), one line per message.
//!
//! ```text
//! Alice#654321: Як справи, гряг?
//! gryag: Не набридай.
//! Bob#222333 → gryag: А що тут відбувається?
//! [RESPOND]
//! ```
//!
//! A label is the name and the last six digits of the id; the bot has its name alone. An arrow names whom a line answers.
//! A line break in a text would forge a line, so it becomes a space. Two people whose labels are equal get a letter.
//!
//! Profile `2025-10-17` is the code of that day: line breaks stay, media are counted, names are cut at 30 code points, an
//! arrow wants a stated id, system text and tools have lines, and `[RESPOND]` stands before the current line too.

mod edition;
mod labels;

use std::borrow::Cow;

use chatmill_model::{
    Component, Level, Link, LinkStatus, Media, MediaKind, MediaSource, Message, Part, Preview, Reference,
    Role, Sink, Speaker,
};

use crate::about::{DialectAbout, Rules};
use crate::dialects::gryag::{is_bare_file, is_gryags, plain_value};
use crate::loss::{LossCode, Losses, reasons};
use crate::media::{placeholder, word};
use crate::message_text::declared_text;
use crate::names::speaker;
use crate::policy::MediaPolicy;
use crate::progress::Progress;
use crate::select_messages::SelectedMessages;
use crate::text::{change, on_one_line};
use crate::transcript::Transcript;
use crate::unsupported::{Unsupported, declare_conversation, declare_messages};
use crate::view::View;
use crate::{Dialect, Emit, definitions, system};

use edition::{Arrows, Breaks, CODE, DOCUMENT, Edition, MediaWords, Prompt};
use labels::Labels;

/// The dialect of gryag's compact prompts.
pub(crate) struct GryagCompact {
    profile: &'static str,
    edition: &'static Edition,
}

/// In profile `document`.
pub(crate) static GRYAG_COMPACT: GryagCompact = GryagCompact {
    profile: "document",
    edition: &DOCUMENT,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "gryag compact transcript",
    family: "transcript",
    media_type: "text/plain",
    specification: "gryag, CURRENT_CONVERSATION_PATTERN, compact plain text format",
    dated: "2025-10-17",
    carries: "text, names with short ids, whom a line answers, kinds of media; not the context layers that the bot's search index fills",
    profiles: &[
        &GRYAG_COMPACT,
        &GryagCompact {
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
    LossCode::SystemDropped,
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::ToolDefinitionDropped,
    LossCode::MediaDropped,
    LossCode::MediaPlaceholder,
    LossCode::PartFlattened,
    LossCode::EmptyFilled,
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
    LossCode::NewlineReplaced,
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
];

impl Dialect for GryagCompact {
    fn id(&self) -> &'static str {
        "gryag-compact"
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
        let edition = self.edition;
        let mut losses = Losses::default();
        let shown = SelectedMessages::choose(view, None, &mut losses, |message| {
            View::is_turn(message)
                && (edition.lines_for_all || matches!(message.role, Role::User | Role::Assistant))
        });
        declare_unspoken(view, edition, &shown.stretch, &mut losses);
        declare_conversation(view, &mut losses);
        declare_messages(
            view,
            &shown.messages,
            &[
                Unsupported::MessageIds,
                Unsupported::Times,
                Unsupported::Mentions,
                Unsupported::Extra,
                Unsupported::SenderNames,
            ],
            &mut losses,
        );
        let current = match (edition.prompt, shown.messages.split_last()) {
            (Prompt::BehindBoth, Some((last, _))) if !view.is_own(last) => Some(last.position),
            _ => None,
        };
        let history = match (current, shown.messages.split_last()) {
            (Some(_), Some((_, history))) => history,
            _ => shown.messages.as_slice(),
        };
        let mut writer = Writer {
            view,
            edition,
            current,
            labels: Labels::new(view, edition, history, &mut losses),
            sink: &mut *sink,
            losses,
            progress: Progress::default(),
        };
        writer.lines(&shown.messages);
        let Writer { progress, losses, .. } = writer;
        emit(sink, progress.finish(shown.extent, losses, Vec::new()));
    }
}

/// Declares the messages that a transcript of speech has no line for.
fn declare_unspoken(view: &View<'_>, edition: &Edition, stretch: &[&Message], losses: &mut Losses) {
    definitions::lose(&view.conversation().tools, losses);
    if edition.lines_for_all {
        return;
    }
    for message in stretch {
        if !View::is_turn(message) {
            continue;
        }
        let (code, reason) = match message.role {
            Role::System => (LossCode::SystemDropped, reasons::TRANSCRIPT_HAS_NO_SYSTEM_TEXT),
            Role::Tool => (LossCode::ToolResultDropped, reasons::TRANSCRIPT_HAS_NO_TOOLS),
            Role::User | Role::Assistant => continue,
        };
        losses.at(code, message.position, reason);
    }
}

struct Writer<'v, 'a> {
    view: &'v View<'a>,
    edition: &'static Edition,
    /// Position of the line that is to be answered, where it stands apart.
    current: Option<u32>,
    labels: Labels<'a>,
    sink: &'v mut Sink<'a>,
    losses: Losses,
    progress: Progress,
}

impl<'a> Writer<'_, 'a> {
    fn lines(&mut self, shown: &[&'a Message]) {
        for message in shown {
            let is_current = self.current == Some(message.position);
            if is_current && shown.len() > 1 {
                self.sink.speak(Speaker::Other);
                self.sink.framing("[RESPOND]\n");
            }
            self.line(message, is_current);
        }
        self.sink.speak(Speaker::Other);
        self.sink.framing("[RESPOND]");
    }

    fn line(&mut self, message: &'a Message, is_current: bool) {
        if message.role == Role::System && !system::keeps(self.view, message, &mut self.losses) {
            return;
        }
        let Some(content) = self.content(message) else {
            let references = message.references.len() as u64;
            let reason = reasons::NO_LINE_NO_REPLY;
            self.losses
                .several(LossCode::ReferenceDropped, message.position, references, reason);
            return;
        };
        let is_own = self.view.is_own(message);
        let role = if is_own { "assistant" } else { "user" };
        if role != message.role.as_str() {
            self.losses.at(
                LossCode::RoleMapped,
                message.position,
                reasons::ONLY_THE_PERSPECTIVE_IS_THE_BOT,
            );
        }
        self.sink.speak(if is_own {
            Speaker::Perspective
        } else {
            Speaker::Other
        });
        let label = match message.role {
            Role::System | Role::Tool => "User#".to_owned(),
            Role::User | Role::Assistant if is_current => self.labels.bare(message),
            Role::User | Role::Assistant => self.labels.of(message),
        };
        self.sink.literal(label, Component::Names);
        self.arrows(message, is_own, is_current);
        self.sink.framing(": ");
        for (index, text) in content.into_iter().enumerate() {
            if index > 0 {
                self.sink.framing(" ");
            }
            self.sink.content(text, Level::Raw, Component::Content);
        }
        self.sink.framing("\n");
        self.progress.said(message.position, role);
    }

    /// The texts and media words of a line; none when the message only uses tools and the edition has no line for them.
    fn content(&mut self, message: &'a Message) -> Option<Vec<Cow<'a, str>>> {
        let position = message.position;
        let mut content = Vec::new();
        let mut used_tools = false;
        let mut texts = 0_u64;
        let mut media = 0_u64;
        let mut bare = Self::bare_files(message);
        for part in &message.parts {
            match part {
                Part::Text(text) => {
                    let text = declared_text(self.view, message, text, &mut self.losses);
                    let line = self.text(message, text);
                    if !line.is_empty() {
                        texts += 1;
                        content.push(line);
                    }
                }
                Part::Media(found) if self.is_overlooked(found, &mut bare) => {
                    self.losses
                        .at(LossCode::MediaDropped, position, reasons::FILE_DATA_IS_OVERLOOKED);
                }
                Part::Media(found) => {
                    let word = self.media(found, position);
                    media += u64::from(word.is_some());
                    content.extend(word.filter(|_| self.edition.media == MediaWords::Kinds));
                }
                Part::ToolCall(_) => {
                    used_tools = true;
                    self.losses.at(
                        LossCode::ToolCallDropped,
                        position,
                        reasons::TRANSCRIPT_HAS_NO_TOOLS,
                    );
                }
                Part::ToolResult(_) => {
                    used_tools = true;
                    self.losses.at(
                        LossCode::ToolResultDropped,
                        position,
                        reasons::TRANSCRIPT_HAS_NO_TOOLS,
                    );
                }
                Part::Reasoning(_) => self.losses.at(
                    LossCode::ReasoningDropped,
                    position,
                    reasons::TRANSCRIPT_HAS_NO_REASONING,
                ),
                Part::Notice(_) => {
                    self.losses.at(
                        LossCode::NoticeDropped,
                        position,
                        reasons::TRANSCRIPT_HAS_NO_NOTICES,
                    );
                }
                Part::CacheMark => self.losses.at(
                    LossCode::CacheMarkDropped,
                    position,
                    reasons::TRANSCRIPT_HAS_NO_CACHE_MARKS,
                ),
            }
        }
        self.losses.several(
            LossCode::PartFlattened,
            position,
            texts.saturating_sub(1),
            reasons::JOINED_INTO_ONE_LINE,
        );
        if self.edition.media == MediaWords::Count && media > 0 {
            let mark = match media {
                1 => Cow::Borrowed("[Media]"),
                several => Cow::Owned(format!("[{several} media items]")),
            };
            content.insert(0, mark);
        }
        if content.is_empty() {
            if used_tools && !self.edition.lines_for_all {
                return None;
            }
            self.losses
                .at(LossCode::EmptyFilled, position, reasons::LINE_WITHOUT_CONTENT);
            content.push(Cow::Borrowed("(no content)"));
        }
        Some(content)
    }

    /// Media of one of gryag's own messages that stand bare in their parts, by address.
    fn bare_files(message: &Message) -> u64 {
        let fields = message.extra.0.iter();
        fields.filter(|(field, _)| is_bare_file(field)).count() as u64
    }

    /// Whether the edition does not see a media item; `bare` are those by address that it sees.
    fn is_overlooked(&self, media: &Media, bare: &mut u64) -> bool {
        let is_file = matches!(media.source, MediaSource::Url(_)) && is_gryags(self.view.conversation());
        if self.edition.media != MediaWords::Count || !is_file {
            return false;
        }
        let is_bare = *bare > 0;
        *bare = bare.saturating_sub(1);
        !is_bare
    }

    /// A text on one line, where the edition wants it so.
    fn text(&mut self, message: &Message, text: Cow<'a, str>) -> Cow<'a, str> {
        if self.edition.breaks == Breaks::Kept {
            return text;
        }
        let has_breaks = matches!(on_one_line(&text), Cow::Owned(_));
        if has_breaks {
            self.losses.at(
                LossCode::NewlineReplaced,
                message.position,
                reasons::LINE_BREAK_FORGES_A_LINE,
            );
        }
        change(text, on_one_line)
    }

    fn media(&mut self, media: &'a Media, position: u32) -> Option<Cow<'a, str>> {
        if self.view.policy.media == MediaPolicy::Drop {
            self.losses
                .at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA);
            return None;
        }
        self.losses.at(
            LossCode::MediaPlaceholder,
            position,
            reasons::TRANSCRIPT_NAMES_MEDIA,
        );
        Some(match media.kind {
            MediaKind::File | MediaKind::Link => Cow::Owned(on_one_line(&placeholder(media)).into_owned()),
            kind => Cow::Owned(format!("[{}]", word(kind))),
        })
    }

    /// Whom the line answers.
    fn arrows(&mut self, message: &'a Message, is_own: bool, is_current: bool) {
        let mut has_arrow = false;
        let may_have = match self.edition.arrows {
            Arrows::Resolved => !is_own,
            Arrows::Stated => !is_current,
        };
        if message.references.is_empty()
            && may_have
            && let Some(label) = self.named(message, None)
        {
            self.arrow(label);
        }
        for (reference, link) in self.view.references(message) {
            let label = match self.edition.arrows {
                Arrows::Resolved => self.answered(reference, link),
                Arrows::Stated => self.stated(message, reference, link),
            };
            let forbidden = match self.edition.arrows {
                Arrows::Resolved if is_own => Some(reasons::OWN_LINES_HAVE_NO_ARROW),
                Arrows::Stated if is_current => Some(reasons::CURRENT_LINE_HAS_NO_ARROW),
                _ if has_arrow => Some(reasons::ONE_ARROW),
                _ => None,
            };
            let (code, reason) = match (label, forbidden) {
                (None, _) => (LossCode::ReferenceUnresolved, reasons::NOBODY_WAS_ANSWERED),
                (Some(_), Some(reason)) => (LossCode::ReferenceDropped, reason),
                (Some(label), None) => {
                    has_arrow = true;
                    self.arrow(label);
                    continue;
                }
            };
            self.losses.at(code, message.position, reason);
        }
    }

    /// The label of whom a reply resolves to.
    fn answered(&self, reference: &Reference, link: &Link) -> Option<String> {
        match link.status {
            LinkStatus::Resolved => link
                .target
                .and_then(|target| self.view.message(target))
                .filter(|target| target.sender.is_some() || target.sender_name.is_some())
                .map(|target| self.labels.of(target)),
            LinkStatus::Preview | LinkStatus::Dangling => {
                let preview = reference.preview.as_ref()?;
                let id = preview.sender.as_deref()?;
                let known = self.labels.of_id(id).map(str::to_owned);
                known.or_else(|| Some(self.labels.of_stranger(preview.sender_name.as_deref()?, id)))
            }
            _ => None,
        }
    }

    /// The label of whom a reply names by id and name; where the record is not gryag's, of whom it resolves to.
    fn stated(&self, message: &Message, reference: &Reference, link: &Link) -> Option<String> {
        if link.status == LinkStatus::Pseudo {
            return None;
        }
        if let Some(label) = self.named(message, reference.preview.as_ref()) {
            return Some(label);
        }
        let target = link.target.and_then(|target| self.view.message(target))?;
        let is_known = link.status == LinkStatus::Resolved
            && !is_gryags(self.view.conversation())
            && !self.view.is_own(target);
        speaker(self.view, target)
            .filter(|_| is_known)
            .map(|_| self.labels.of(target))
    }

    /// The label of whom a message or its reply names by id and name.
    fn named(&self, message: &Message, preview: Option<&Preview>) -> Option<String> {
        let stated = |key| message.extra.get(key).and_then(plain_value);
        let sender = preview.and_then(|preview| preview.sender.as_deref());
        let id = stated("reply_to_user_id").or(sender.map(Cow::Borrowed))?;
        if let Some(label) = self.labels.of_id(&id).filter(|label| label.contains('#')) {
            return Some(label.to_owned());
        }
        let shown = preview.and_then(|preview| preview.sender_name.as_deref());
        let name = stated("reply_to_name").or(shown.map(Cow::Borrowed))?;
        if self.edition.arrows == Arrows::Resolved
            && let Some(bot) = self.labels.bot_called(&name)
        {
            return Some(bot.to_owned());
        }
        Some(self.labels.of_stranger(&name, &id))
    }

    fn arrow(&mut self, label: String) {
        self.sink.literal(" → ", Component::Replies);
        self.sink.literal(label, Component::Replies);
    }
}
