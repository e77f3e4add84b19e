//! Quoting what a message replies to, in the words of the Tzurot document of 2025-05-22.
//!
//! | who wrote it | words |
//! |---|---|
//! | the same person | `I said:` line break `"…"` |
//! | the active personality | `You said earlier: "…"` |
//! | another agent | `NAME (ID) said: "…"` |
//! | anybody else | `NAME said:` line break `"…"` |
//!
//! A quoted picture or sound puts a sentence in front of the first and the last form. One medium survives per quote, and
//! sound wins. Placeholders appear only where taking the media out leaves nothing. Other versions have other [words](Wording).

use std::borrow::Cow;

use chatmill_model::{
    Component, Level, LinkStatus, Media, MediaKind, Message, Part, ParticipantKind, Preview, Role, Rope,
};

use crate::loss::{LossCode, Losses};
use crate::media::{placeholder, take_markers, web_address};
use crate::names::{Roster, own_name, speaker};
use crate::said::said;
use crate::text::{change, trim_script_space, without_controls};
use crate::view::View;
use crate::wording::{Author, DOCUMENT, Markers, Wording};
use crate::words::Words;

/// A quoted message.
pub(crate) struct Quote<'a> {
    head: String,
    text: Cow<'a, str>,
    /// The medium that goes with it: an image or a sound, and its address.
    pub(crate) medium: Option<(MediaKind, Cow<'a, str>)>,
    /// Whether the quoted message is known from a preview only.
    pub(crate) is_preview: bool,
    /// What quoting took from the quoted message; of no account where that message is rendered too.
    pub(crate) losses: Losses,
}

impl<'a> Quote<'a> {
    /// The words and the quoted text.
    pub(crate) fn words(self) -> [Words<'a>; 3] {
        [Cow::Owned(self.head), self.text, Cow::Borrowed("\"")]
            .map(|text| Words::new(text, Component::Replies))
    }

    /// Writes the words and the quoted text.
    pub(crate) fn write(self, rope: &mut Rope<'a>, level: Level) {
        for words in self.words() {
            words.write(rope, level);
        }
    }
}

/// The quotes of a message's references in order; what cannot be quoted is declared.
///
/// `active` is the id of the participant whom the reader is.
pub(crate) fn quotes<'a>(
    view: &View<'a>,
    roster: &Roster<'a>,
    message: &'a Message,
    active: Option<&str>,
    losses: &mut Losses,
) -> Vec<Quote<'a>> {
    quotes_in(&DOCUMENT, view, roster, message, active, losses)
}

/// As [`quotes`], in the words of a version.
pub(crate) fn quotes_in<'a>(
    wording: &'static Wording,
    view: &View<'a>,
    roster: &Roster<'a>,
    message: &'a Message,
    active: Option<&str>,
    losses: &mut Losses,
) -> Vec<Quote<'a>> {
    let mut quotes = Vec::new();
    for (reference, link) in view.references(message) {
        let target = link.target.and_then(|target| view.message(target));
        let source = match (link.status, target, &reference.preview) {
            (LinkStatus::Resolved, Some(target), _) => {
                Source::of_message(wording, view, target, message.position)
            }
            (LinkStatus::Preview, _, Some(preview)) => {
                Source::of_preview(wording, view, roster, preview, message.position)
            }
            (status, _, _) => {
                let reason = match status {
                    LinkStatus::Pseudo => "nobody replied: the source made the reference up",
                    LinkStatus::Itself => "the message refers to itself",
                    LinkStatus::Cyclic => "the references form a cycle",
                    LinkStatus::Resolved | LinkStatus::Preview | LinkStatus::Dangling => {
                        "what it refers to is not there"
                    }
                };
                losses.at(LossCode::ReferenceUnresolved, message.position, reason);
                continue;
            }
        };
        losses.at(
            LossCode::ReferenceInlined,
            message.position,
            "the reply is quoted in the text",
        );
        quotes.push(source.quote(link.same_sender, active, message.position));
    }
    quotes
}

/// What is known of a quoted message.
struct Source<'a> {
    wording: &'static Wording,
    id: Option<&'a str>,
    name: Option<&'a str>,
    shown: Option<&'a str>,
    is_agent: bool,
    texts: Vec<Cow<'a, str>>,
    media: Vec<(MediaKind, Cow<'a, str>)>,
    is_preview: bool,
    losses: Losses,
}

impl<'a> Source<'a> {
    fn of_message(wording: &'static Wording, view: &View<'a>, target: &'a Message, position: u32) -> Self {
        let sender = view.sender(target);
        let mut source = Self {
            wording,
            id: sender.map(|sender| sender.id.as_str()),
            name: sender.and_then(own_name).or(target.sender_name.as_deref()),
            shown: speaker(view, target),
            is_agent: match sender.map(|sender| sender.kind) {
                Some(ParticipantKind::Agent) => true,
                Some(ParticipantKind::Human) => false,
                Some(ParticipantKind::Unknown) | None => target.role == Role::Assistant,
            },
            texts: Vec::new(),
            media: Vec::new(),
            is_preview: false,
            losses: Losses::default(),
        };
        for part in &target.parts {
            match part {
                Part::Text(text) => source.add_text(said(view, target, text), position),
                Part::ToolResult(result) => source.add_text(Cow::Borrowed(&result.content), position),
                Part::Media(media) => source.add_media(media, position),
                Part::ToolCall(_) | Part::Reasoning(_) | Part::Notice(_) | Part::CacheMark => {}
            }
        }
        source
    }

    fn of_preview(
        wording: &'static Wording,
        view: &View<'a>,
        roster: &Roster<'a>,
        preview: &'a Preview,
        position: u32,
    ) -> Self {
        let index = preview.sender.as_deref().and_then(|id| roster.find(id));
        let author = index.and_then(|index| view.conversation().participants.get(index));
        let name = author
            .and_then(own_name)
            .or(preview.sender_name.as_deref())
            .filter(|name| !name.is_empty());
        let mut source = Self {
            wording,
            id: preview.sender.as_deref(),
            name,
            shown: name.or(preview.sender.as_deref()),
            is_agent: preview.from_agent
                || author.is_some_and(|author| author.kind == ParticipantKind::Agent),
            texts: Vec::new(),
            media: Vec::new(),
            is_preview: true,
            losses: Losses::default(),
        };
        if let Some(content) = &preview.content {
            source.add_text(Cow::Borrowed(content), position);
        }
        source
    }

    fn add_media(&mut self, media: &'a Media, position: u32) {
        if let (MediaKind::Image | MediaKind::Audio, Some(url)) = (media.kind, web_address(media)) {
            self.media.push((media.kind, Cow::Borrowed(url)));
            return;
        }
        self.losses.at(
            LossCode::MediaPlaceholder,
            position,
            "a quoted medium is only named in the text",
        );
        self.texts.push(Cow::Owned(placeholder(media)));
    }

    fn add_text(&mut self, text: Cow<'a, str>, position: u32) {
        let embeds = self.wording.markers == Markers::SoundsFirst;
        let hides_pictures = embeds && text.contains("[Audio:");
        let (text, found, stripped) = match text {
            Cow::Borrowed(text) => {
                let unmarked = take_markers(text, embeds);
                let found = unmarked.found.into_iter();
                let found: Vec<_> = found.map(|(kind, url)| (kind, Cow::Borrowed(url))).collect();
                (unmarked.text, found, unmarked.stripped)
            }
            Cow::Owned(text) => {
                let unmarked = take_markers(&text, embeds);
                let found = unmarked.found.into_iter();
                let found = found.map(|(kind, url)| (kind, Cow::Owned(url.to_owned())));
                let found: Vec<_> = found.collect();
                (Cow::Owned(unmarked.text.into_owned()), found, unmarked.stripped)
            }
        };
        let before = found.len();
        let kept = found
            .into_iter()
            .filter(|(kind, _)| !(hides_pictures && *kind == MediaKind::Image));
        let known = self.media.len();
        self.media.extend(kept);
        let hidden = (before - (self.media.len() - known)) as u64;
        self.losses.several(
            LossCode::MediaDropped,
            position,
            hidden + stripped,
            "this version takes the marker of a picture out and does not carry it",
        );
        self.texts.push(text);
    }

    fn quote(mut self, same_sender: bool, active: Option<&str>, position: u32) -> Quote<'a> {
        let has_media = !self.media.is_empty();
        let dropped = (self.media.len() as u64).saturating_sub(1);
        let chosen = [MediaKind::Audio, MediaKind::Image]
            .into_iter()
            .find_map(|kind| self.media.iter().position(|(found, _)| *found == kind));
        let medium = chosen.map(|index| self.media.swap_remove(index));
        self.losses.several(
            LossCode::MediaDropped,
            position,
            dropped,
            "one medium survives per quote, and sound wins",
        );
        let mut text = self.text(position);
        let kind = medium.as_ref().map(|(kind, _)| *kind);
        if text.is_empty() && has_media {
            text = Cow::Borrowed(match kind {
                Some(MediaKind::Audio) => "[Audio Message]",
                _ => "[Image]",
            });
            self.losses.at(
                LossCode::EmptyFilled,
                position,
                "a word stands where the quote had media only",
            );
        }
        let head = without_controls(&self.head(same_sender, active, kind)).into_owned();
        Quote {
            head,
            text,
            medium,
            is_preview: self.is_preview,
            losses: self.losses,
        }
    }

    /// The quoted text: joined, without control characters, trimmed.
    fn text(&mut self, position: u32) -> Cow<'a, str> {
        let joined = match self.texts.len() {
            0 | 1 => self.texts.pop().unwrap_or_default(),
            _ => Cow::Owned(self.texts.join("\n")),
        };
        let length = joined.len();
        let clean = change(joined, without_controls);
        if clean.len() < length {
            self.losses.at(
                LossCode::ControlCharacterRemoved,
                position,
                "quotes hold no control characters",
            );
        }
        if trim_script_space(&clean).len() < clean.len() {
            self.losses.at(
                LossCode::WhitespaceTrimmed,
                position,
                "quotes lose the white space at their ends",
            );
        }
        change(clean, |text| Cow::Borrowed(trim_script_space(text)))
    }

    fn head(&self, same_sender: bool, active: Option<&str>, medium: Option<MediaKind>) -> String {
        let is_active = match (self.id, active) {
            (Some(id), Some(active)) => id == active,
            // The document's code compares two missing names and finds them equal.
            (None, None) => self.is_agent,
            _ => false,
        };
        if same_sender {
            self.wording.head(Author::Oneself, "", medium)
        } else if is_active {
            self.wording.head(Author::Active, "", medium)
        } else if self.is_agent {
            let name = match (self.name, self.id) {
                (Some(name), Some(id)) if name != id => Cow::Owned(format!("{name} ({id})")),
                (Some(only), _) | (None, Some(only)) => Cow::Borrowed(only),
                (None, None) => Cow::Borrowed("the bot"),
            };
            self.wording.head(Author::Agent, &name, medium)
        } else {
            let name = self.shown.unwrap_or("Someone");
            self.wording.head(Author::Person, name, medium)
        }
    }
}
