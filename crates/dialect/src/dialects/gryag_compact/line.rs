//! Writes the lines of a transcript: the sender, whom the message answers, the text.

use std::borrow::Cow;

use chatmill_model::{
    Component, Level, Link, LinkStatus, Media, MediaKind, MediaSource, Message, Part, Preview, Reference,
    Role, Sink,
};

use super::edition::{Arrows, Breaks, Edition, MediaWords};
use super::labels::Labels;
use crate::dialects::gryag::{is_bare_file, is_gryags, plain_value};
use crate::loss::{Losses, reasons};
use crate::messages::system;
use crate::messages::text::{declared_document, declared_text};
use crate::messages::unsupported::NoPlace;
use crate::naming::participants::speaker;
use crate::text::edit::on_one_line;
use crate::text::media::{placeholder, word};
use crate::transcript::Transcript;
use crate::view::policy::MediaPolicy;

/// Why lines have no place for other parts than text.
pub(super) const NO_PLACE: NoPlace = NoPlace {
    tools: Some(reasons::TRANSCRIPT_HAS_NO_TOOLS),
    reasoning: Some(reasons::TRANSCRIPT_HAS_NO_REASONING),
    notices: Some(reasons::TRANSCRIPT_HAS_NO_NOTICES),
    cache_marks: Some(reasons::TRANSCRIPT_HAS_NO_CACHE_MARKS),
};

/// Writes lines and collects their losses.
pub(super) struct LineWriter<'t, 'a> {
    pub(super) transcript: &'t Transcript<'a>,
    pub(super) edition: &'static Edition,
    pub(super) labels: Labels<'t, 'a>,
    pub(super) losses: Losses,
}

impl<'a> LineWriter<'_, 'a> {
    /// Writes the line of a message and returns its role; `None` if the message has no line.
    pub(super) fn write(
        &mut self,
        message: &'a Message,
        is_current: bool,
        sink: &mut Sink<'a>,
    ) -> Option<&'static str> {
        let (view, position) = (self.transcript.view(), message.position);
        if message.role == Role::System && !system::keeps(view.policy.system, message, &mut self.losses) {
            return None;
        }
        let Some(content) = self.content(message) else {
            let references = message.references.len() as u64;
            self.losses
                .several(reasons::NO_LINE_NO_REPLY, position, references);
            return None;
        };
        let is_own = view.is_own(message);
        let role = if is_own { "assistant" } else { "user" };
        if role != message.role.as_str() {
            self.losses.at(reasons::ONLY_THE_PERSPECTIVE_IS_THE_BOT, position);
        }
        let label = match message.role {
            Role::System | Role::Tool => "User#",
            Role::User | Role::Assistant if is_current => self.labels.bare(message),
            Role::User | Role::Assistant => self.labels.of(message),
        };
        sink.answer(view.speaker(message), Some(position));
        sink.literal(label, Component::Names);
        if let Some(label) = self.arrow(message, is_own, is_current) {
            sink.literal(" → ", Component::Replies);
            sink.literal(label, Component::Replies);
        }
        sink.framing(": ");
        for (index, text) in content.into_iter().enumerate() {
            if index > 0 {
                sink.framing(" ");
            }
            sink.content(text, Level::Raw, Component::Content);
        }
        sink.framing("\n");
        Some(role)
    }

    /// Returns the texts and the words for media of a line; `None` if the message only uses tools and the edition has no line for them.
    fn content(&mut self, message: &'a Message) -> Option<Vec<&'a str>> {
        let position = message.position;
        let mut content = Vec::new();
        let (mut texts, mut media) = (0_u64, 0_u64);
        let mut bare = bare_files(message);
        for (_, part) in message.own_parts() {
            let words = match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Media(media) => declared_document(media, position, &mut self.losses)
                    .map(|words| self.transcript.arena().keep(words)),
                _ => None,
            };
            match (part, words) {
                (_, Some(words)) => {
                    let line = self.text(message, words);
                    texts += u64::from(!line.is_empty());
                    content.extend(Some(line).filter(|line| !line.is_empty()));
                }
                (Part::Media(found), _) if self.is_overlooked(found, &mut bare) => {
                    self.losses.at(reasons::FILE_DATA_IS_OVERLOOKED, position);
                }
                (Part::Media(found), _) => {
                    let word = self.media(found, position);
                    media += u64::from(word.is_some());
                    content.extend(word.filter(|_| self.edition.media == MediaWords::Kinds));
                }
                (part, _) => NO_PLACE.declare(part, position, &mut self.losses),
            }
        }
        let joined = texts.saturating_sub(1);
        self.losses
            .several(reasons::JOINED_INTO_ONE_LINE, position, joined);
        if self.edition.media == MediaWords::Count && media > 0 {
            let mark = match media {
                1 => Cow::Borrowed("[Media]"),
                several => Cow::Owned(format!("[{several} media items]")),
            };
            content.insert(0, self.transcript.arena().keep(mark));
        }
        if content.is_empty() {
            let is_tools = |part: &Part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_));
            let is_media = |part: &Part| matches!(part, Part::Media(_));
            let mut parts = message.parts.iter();
            // A message with media and a call has a line, even if no word of it is left.
            if parts.clone().any(is_tools) && !parts.any(is_media) && !self.edition.lines_for_all {
                return None;
            }
            self.losses.at(reasons::LINE_WITHOUT_CONTENT, position);
            content.push("(no content)");
        }
        Some(content)
    }

    /// Whether the edition overlooks a media item; `bare` counts the items by address that it does not overlook.
    fn is_overlooked(&self, media: &Media, bare: &mut u64) -> bool {
        let is_file =
            matches!(media.source, MediaSource::Url(_)) && is_gryags(self.transcript.view().conversation());
        if self.edition.media != MediaWords::Count || !is_file {
            return false;
        }
        let is_bare = *bare > 0;
        *bare = bare.saturating_sub(1);
        !is_bare
    }

    /// Returns a text, on one line if the edition demands it.
    fn text(&mut self, message: &Message, text: &'a str) -> &'a str {
        let arena = self.transcript.arena();
        let text = declared_text(self.transcript.view(), message, text, &mut self.losses);
        if self.edition.breaks == Breaks::Unchanged {
            return arena.keep(text);
        }
        let Cow::Owned(line) = on_one_line(&text) else {
            return arena.keep(text);
        };
        self.losses
            .at(reasons::LINE_BREAK_FORGES_A_LINE, message.position);
        arena.keep(line)
    }

    fn media(&mut self, media: &'a Media, position: u32) -> Option<&'a str> {
        if self.transcript.view().policy.media == MediaPolicy::Drop {
            self.losses.at(reasons::POLICY_DROPS_MEDIA, position);
            return None;
        }
        self.losses.at(reasons::TRANSCRIPT_NAMES_MEDIA, position);
        let word = match media.kind {
            MediaKind::File | MediaKind::Link => on_one_line(&placeholder(media)).into_owned(),
            kind => format!("[{}]", word(kind)),
        };
        Some(self.transcript.arena().keep(word))
    }

    /// Returns the label of the participant whom the line answers.
    fn arrow(&mut self, message: &'a Message, is_own: bool, is_current: bool) -> Option<&'a str> {
        let forbidden = match self.edition.arrows {
            Arrows::Resolved => is_own.then_some(reasons::OWN_LINES_HAVE_NO_ARROW),
            Arrows::Stated => is_current.then_some(reasons::CURRENT_LINE_HAS_NO_ARROW),
        };
        if message.references.is_empty() && forbidden.is_none() {
            return self.named(message, None);
        }
        let mut arrow = None;
        for (reference, link) in self.transcript.view().references(message) {
            let label = match self.edition.arrows {
                Arrows::Resolved => self.answered(reference, link),
                Arrows::Stated => self.stated(message, reference, link),
            };
            let forbidden = forbidden.or(arrow.map(|_| reasons::ONE_ARROW));
            let cause = match (label, forbidden) {
                (None, _) => reasons::NOBODY_WAS_ANSWERED,
                (Some(_), Some(forbidden)) => forbidden,
                (Some(_), None) => {
                    arrow = label;
                    continue;
                }
            };
            self.losses.at(cause, message.position);
        }
        arrow
    }

    /// Returns the label of the author that a reply resolves to.
    fn answered(&self, reference: &Reference, link: &Link) -> Option<&'a str> {
        match link.status {
            LinkStatus::Resolved => link
                .target
                .and_then(|target| self.transcript.view().message(target))
                .filter(|target| target.sender.is_some() || target.sender_name.is_some())
                .map(|target| self.labels.of(target)),
            LinkStatus::Preview | LinkStatus::Dangling => {
                let preview = reference.preview.as_ref()?;
                let id = preview.sender.as_deref()?;
                let known = self.labels.of_id(id);
                known.or_else(|| Some(self.labels.of_stranger(preview.sender_name.as_deref()?, id)))
            }
            _ => None,
        }
    }

    /// Returns the label of the author that a reply states by id and name; if the record is not gryag's, also of the author that it
    /// resolves to.
    fn stated(&self, message: &Message, reference: &Reference, link: &Link) -> Option<&'a str> {
        if link.status == LinkStatus::Pseudo {
            return None;
        }
        if let Some(label) = self.named(message, reference.preview.as_ref()) {
            return Some(label);
        }
        let view = self.transcript.view();
        let target = link.target.and_then(|target| view.message(target))?;
        let is_known =
            link.status == LinkStatus::Resolved && !is_gryags(view.conversation()) && !view.is_own(target);
        speaker(view, target)
            .filter(|_| is_known)
            .map(|_| self.labels.of(target))
    }

    /// Returns the label of the author that a message or its reply states by id and name.
    fn named(&self, message: &Message, preview: Option<&Preview>) -> Option<&'a str> {
        let stated = |key| message.extra.get(key).and_then(plain_value);
        let sender = preview.and_then(|preview| preview.sender.as_deref());
        let id = stated("reply_to_user_id").or(sender.map(Cow::Borrowed))?;
        if let Some(label) = self.labels.of_id(&id).filter(|label| label.contains('#')) {
            return Some(label);
        }
        let shown = preview.and_then(|preview| preview.sender_name.as_deref());
        let name = stated("reply_to_name").or(shown.map(Cow::Borrowed))?;
        let bot = match self.edition.arrows {
            Arrows::Resolved => self.labels.bot_called(&name),
            Arrows::Stated => None,
        };
        bot.or_else(|| Some(self.labels.of_stranger(&name, &id)))
    }
}

/// Counts the media of one of gryag's messages that are an address directly in their part.
fn bare_files(message: &Message) -> u64 {
    let fields = message.extra.0.iter();
    fields.filter(|(field, _)| is_bare_file(field)).count() as u64
}
