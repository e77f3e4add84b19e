//! Quotes the messages that a message replies to, in the words of the Tzurot document of 2025-05-22.
//!
//! | who wrote it | words |
//! |---|---|
//! | the same person | `I said:` line break `"…"` |
//! | the active personality | `You said earlier: "…"` |
//! | another agent | `NAME (ID) said: "…"` |
//! | anybody else | `NAME said:` line break `"…"` |
//!
//! A quoted picture or sound puts a sentence before the first and the last form. A quote keeps one medium, a sound rather than a picture.
//! In turns, an author is identified by id only where two participants in the rendering share a name or the author has no name. A
//! placeholder is written only if nothing else is left after the media are taken out. Other versions have other [words](Wording).

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use chatmill_diag::steps;
use chatmill_model::{
    Link, LinkStatus, Media, MediaKind, Message, Part, Participant, ParticipantKind, Preview, Reference, Role,
};

use crate::loss::{Loss, Losses, reasons};
use crate::messages::text::{loss_of_words, message_text};
use crate::messages::wording::{self, Author, Markers, Wording};
use crate::naming::participants::{Aliases, Namesakes, Roster, speaker};
use crate::text::arena::TextArena;
use crate::text::edit::{change, trim_script_space, without_controls};
use crate::text::media::{placeholder, take_markers, web_address};
use crate::view::View;

/// A quoted message.
pub(crate) struct Quote<'a> {
    head: String,
    text: Cow<'a, str>,
    /// The text after the quoted text.
    close: &'static str,
    /// The kind (image or audio) and the address of the medium of the quote.
    pub(crate) medium: Option<(MediaKind, &'a str)>,
    /// Whether only a preview of the quoted message is known.
    pub(crate) is_preview: bool,
    /// The head with an alias instead of the name, and the index of that participant.
    pub(crate) aliased: Option<(String, usize)>,
    /// Whether the head lost control characters.
    pub(crate) is_head_cleaned: bool,
    content: Rc<QuotedContent<'a>>,
}

/// The quoted content of messages. Each message is read once, even if several messages quote it.
pub(crate) struct Quoted<'a> {
    wording: &'static Wording,
    arena: &'a TextArena,
    known: RefCell<HashMap<u32, Rc<QuotedContent<'a>>>>,
}

impl<'a> Quoted<'a> {
    /// Creates an empty cache for quotes in the words of one version.
    pub(crate) fn new(wording: &'static Wording, arena: &'a TextArena) -> Self {
        Self {
            wording,
            arena,
            known: RefCell::default(),
        }
    }

    fn message(&self, view: &View<'a>, target: &'a Message) -> Rc<QuotedContent<'a>> {
        let mut known = self.known.borrow_mut();
        let shown = known.entry(target.position).or_insert_with(|| {
            let mut content = Content::new(self.wording);
            let length: usize = target.texts().map(str::len).sum();
            steps::taken(target.parts.len() + length / 64);
            for part in &target.parts {
                match part {
                    Part::Text(text) => content.add_text(message_text(view, target, text)),
                    Part::ToolResult(result) => content.add_text(Cow::Borrowed(&result.content)),
                    Part::Media(media) => content.add_media(media),
                    Part::Notice(words) => content.add_text(Cow::Borrowed(words)),
                    Part::ToolCall(_) | Part::Reasoning(_) | Part::CacheMark | Part::Item(_) => {}
                }
            }
            content.finish(self.arena)
        });
        Rc::clone(shown)
    }

    fn preview(&self, preview: &'a Preview) -> Rc<QuotedContent<'a>> {
        let mut content = Content::new(self.wording);
        if let Some(shown) = &preview.content {
            content.add_text(Cow::Borrowed(shown));
        }
        content.finish(self.arena)
    }
}

/// The part of a message that a quote shows.
struct QuotedContent<'a> {
    text: &'a str,
    medium: Option<(MediaKind, &'a str)>,
    /// The losses of quoting it, without positions.
    losses: Vec<Loss>,
}

impl<'a> Style<'_, 'a> {
    /// Returns how to name a participant where ids are written only for participants who share a name or have none.
    fn name_with_id(&self, index: Option<usize>, name: Option<&'a str>) -> Option<&'a str> {
        let namesakes = self.namesakes?;
        index.and_then(|index| namesakes.of_participant(index)).or(name)
    }

    /// Returns the alias of a participant whose name turns cannot spell, and the participant's index.
    fn alias(&self, view: &View<'a>, index: Option<usize>) -> Option<(&'a str, usize)> {
        let participant = view.conversation().participants.get(index?)?;
        let alias = self.aliases?.instead_of_name(index?, participant)?;
        Some((alias, index?))
    }
}

impl<'a> Quote<'a> {
    /// Declares the control characters that the head lost, for callers to which this is a loss.
    pub(crate) fn declare_head(&self, position: u32, losses: &mut Losses) {
        losses.several(
            reasons::QUOTED_NAMES_HOLD_NO_CONTROLS,
            position,
            u64::from(self.is_head_cleaned),
        );
    }

    /// Declares what quoting takes from text and media of the quoted message; callers omit this if the message itself is rendered.
    pub(crate) fn declare_losses(&self, position: u32, losses: &mut Losses) {
        for loss in &self.content.losses {
            losses.several((loss.code, loss.reason), position, loss.amount);
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.medium.is_none()
    }

    /// Returns the words before the quoted text, the quoted text, and what closes it.
    pub(crate) fn words(self) -> [Cow<'a, str>; 3] {
        [Cow::Owned(self.head), self.text, Cow::Borrowed(self.close)]
    }
}

/// How quotes are worded.
#[derive(Clone, Copy)]
pub(crate) struct Style<'q, 'a> {
    /// The content of quoted messages, with the words of a version.
    pub(crate) quoted: &'q Quoted<'a>,
    /// How quotes without words are treated.
    pub(crate) wordless: Wordless,
    /// The spelling of names in turns with a field for names, so that nobody has two names in one rendering.
    pub(crate) aliases: Option<&'q Aliases<'a>>,
    /// The names of participants who share a name; `None`: agents are named by name and id.
    pub(crate) namesakes: Option<&'q Namesakes<'a>>,
    /// Whether a quote is of the author's own message, for versions that do not take this from the link.
    pub(crate) is_own: Option<&'q IsOwn<'q>>,
    /// How a message is quoted that the rendering also shows, and which messages it shows; `None`: like any other.
    pub(crate) shown: Option<(Brevity, &'q IsShown<'q>)>,
}

/// How a message is quoted that the rendering also shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brevity {
    /// With its beginning.
    Excerpt,
    /// With its author only.
    Mark,
}

/// Maximum number of code points in an excerpt, without the `…` after it.
const EXCERPT: usize = 80;

/// Returns the beginning of a text with `…`, cut at the last white space if that is in the second half; `None` if the text is short enough.
fn excerpt(text: &str) -> Option<String> {
    let (end, _) = text.char_indices().nth(EXCERPT)?;
    // A text that is one code point longer would be as long with the `…`.
    text.char_indices().nth(EXCERPT + 1)?;
    let (head, _) = text.split_at(end);
    let word = head.rfind(char::is_whitespace).filter(|at| *at >= end / 2);
    let head = word.map_or(head, |at| head.split_at(at).0);
    Some(format!("{}…", head.trim_end()))
}

/// Returns whether a rendering shows the message at a position.
pub(crate) type IsShown<'q> = dyn Fn(u32) -> bool + 'q;

/// Returns whether a reference quotes the author's own message.
pub(crate) type IsOwn<'q> = dyn Fn(&Reference, &Link) -> bool + 'q;

/// How a quote without words is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wordless {
    /// It is written with empty quotation marks.
    Written,
    /// It is left out, because it would quote an empty message.
    LeftOut,
}

/// Returns the quotes of a message's references in order, and declares references that cannot be quoted.
///
/// `active` is the id of the participant who reads the quotes.
pub(crate) fn quotes<'a>(
    style: Style<'_, 'a>,
    view: &View<'a>,
    roster: &Roster<'a>,
    message: &'a Message,
    active: Option<&str>,
    losses: &mut Losses,
) -> Vec<Quote<'a>> {
    let mut quotes = Vec::new();
    let mut known = BTreeSet::new();
    for (reference, link) in view.references(message) {
        let target = link.target.and_then(|target| view.message(target));
        let named = (
            link.target,
            reference.target.as_deref().filter(|_| target.is_none()),
        );
        let is_quoted = matches!(link.status, LinkStatus::Resolved | LinkStatus::Preview);
        if is_quoted && named != (None, None) && !known.insert(named) {
            losses.at(reasons::REFERRED_TO_MORE_THAN_ONCE, message.position);
            continue;
        }
        let source = match (link.status, target, &reference.preview) {
            (LinkStatus::Resolved, Some(target), _) => Source::of_message(style, view, target),
            (LinkStatus::Preview, _, Some(preview)) => Source::of_preview(style, view, roster, preview),
            (status, _, _) => {
                let reason = match status {
                    LinkStatus::Pseudo => reasons::NOBODY_REPLIED,
                    LinkStatus::Itself => reasons::MESSAGE_REFERS_TO_ITSELF,
                    LinkStatus::Cyclic => reasons::REFERENCES_FORM_A_CYCLE,
                    LinkStatus::Resolved | LinkStatus::Preview | LinkStatus::Dangling => {
                        reasons::REFERENCE_IS_NOT_THERE
                    }
                };
                losses.at(reason, message.position);
                continue;
            }
        };
        let is_own = style
            .is_own
            .map_or(link.same_sender, |is_own| is_own(reference, link));
        let brevity = style.shown.filter(|_| link.status == LinkStatus::Resolved);
        let brevity = brevity.and_then(|(brevity, is_shown)| is_shown(link.target?).then_some(brevity));
        let mut quote = source.quote(is_own, active, brevity);
        if style.wordless == Wordless::LeftOut && quote.is_empty() {
            losses.at(reasons::REFERENCE_HAS_NO_WORDS, message.position);
            continue;
        }
        losses.at(reasons::REPLY_IS_QUOTED, message.position);
        let is_short = match brevity {
            Some(Brevity::Excerpt) => {
                let excerpt = excerpt(&quote.text);
                excerpt.map(|excerpt| quote.text = Cow::Owned(excerpt)).is_some()
            }
            Some(Brevity::Mark) => {
                quote.text = Cow::Borrowed("");
                true
            }
            None => false,
        };
        losses.several(
            reasons::QUOTED_MESSAGE_IS_SHOWN,
            message.position,
            u64::from(is_short),
        );
        quotes.push(quote);
    }
    quotes
}

/// The author and the content of a quoted message, as far as known.
struct Source<'a> {
    wording: &'static Wording,
    id: Option<&'a str>,
    name: Option<&'a str>,
    shown: Option<&'a str>,
    /// The alias of the author, if turns cannot spell the name, and the author's index.
    alias: Option<(&'a str, usize)>,
    /// The author's name in a rendering that writes ids only where they are needed.
    name_with_id: Option<&'a str>,
    is_agent: bool,
    is_preview: bool,
    content: Rc<QuotedContent<'a>>,
}

impl<'a> Source<'a> {
    fn of_message(style: Style<'_, 'a>, view: &View<'a>, target: &'a Message) -> Self {
        let sender = view.sender(target);
        Self {
            wording: style.quoted.wording,
            id: sender.map(|sender| sender.id.as_str()),
            name: sender
                .and_then(Participant::own_name)
                .or(target.sender_name.as_deref()),
            alias: style.alias(view, target.sender),
            name_with_id: style.name_with_id(target.sender, speaker(view, target)),
            shown: speaker(view, target),
            is_agent: match sender.map(|sender| sender.kind) {
                Some(ParticipantKind::Agent) => true,
                Some(ParticipantKind::Human) => false,
                Some(ParticipantKind::Unknown) | None => target.role == Role::Assistant,
            },
            is_preview: false,
            content: style.quoted.message(view, target),
        }
    }

    fn of_preview(style: Style<'_, 'a>, view: &View<'a>, roster: &Roster<'a>, preview: &'a Preview) -> Self {
        let index = preview.sender.as_deref().and_then(|id| roster.find(id));
        let author = index.and_then(|index| view.conversation().participants.get(index));
        let name = author
            .and_then(Participant::own_name)
            .or(preview.sender_name.as_deref())
            .filter(|name| !name.is_empty());
        Self {
            wording: style.quoted.wording,
            id: preview.sender.as_deref(),
            name,
            alias: style.alias(view, index),
            name_with_id: style.name_with_id(index, name.or(preview.sender.as_deref())),
            shown: name.or(preview.sender.as_deref()),
            is_agent: preview.from_agent
                || author.is_some_and(|author| author.kind == ParticipantKind::Agent),
            is_preview: true,
            content: style.quoted.preview(preview),
        }
    }

    fn quote(self, same_sender: bool, active: Option<&str>, brevity: Option<Brevity>) -> Quote<'a> {
        let kind = self.content.medium.map(|(kind, _)| kind);
        let (author, name) = self.author(same_sender, active);
        let is_mark = brevity == Some(Brevity::Mark);
        let head = |name: &str| {
            if is_mark {
                wording::mark(author, name)
            } else {
                self.wording.head(author, name, kind)
            }
        };
        let words = head(&name);
        let is_named = author == Author::Person;
        let alias = self.alias.filter(|_| is_named);
        let aliased = alias.map(|(alias, index)| (without_controls(&head(alias)).into_owned(), index));
        let clean = without_controls(&words).into_owned();
        Quote {
            is_head_cleaned: clean.len() < words.len(),
            head: clean,
            close: if is_mark { "" } else { "\"" },
            text: Cow::Borrowed(self.content.text),
            medium: self.content.medium,
            is_preview: self.is_preview,
            aliased,
            content: self.content,
        }
    }

    /// Returns the author in relation to the reader, and the author's name.
    fn author(&self, same_sender: bool, active: Option<&str>) -> (Author, Cow<'_, str>) {
        let is_active = match (self.id, active) {
            (Some(id), Some(active)) => id == active,
            // The code in the document compares two missing names as equal.
            (None, None) => self.is_agent,
            _ => false,
        };
        if same_sender {
            (Author::Oneself, Cow::Borrowed(""))
        } else if is_active {
            (Author::Active, Cow::Borrowed(""))
        } else if let Some(name) = self.name_with_id {
            let author = if self.is_agent {
                Author::Agent
            } else {
                Author::Person
            };
            (author, Cow::Borrowed(name))
        } else if self.is_agent {
            let name = match (self.name, self.id) {
                (Some(name), Some(id)) if name != id => Cow::Owned(format!("{name} ({id})")),
                (Some(only), _) | (None, Some(only)) => Cow::Borrowed(only),
                (None, None) => Cow::Borrowed("the bot"),
            };
            (Author::Agent, name)
        } else {
            (Author::Person, Cow::Borrowed(self.shown.unwrap_or("Someone")))
        }
    }
}

/// The content of a quoted message while it is read.
struct Content<'a> {
    wording: &'static Wording,
    texts: Vec<Cow<'a, str>>,
    media: Vec<(MediaKind, Cow<'a, str>)>,
    losses: Losses,
}

impl<'a> Content<'a> {
    fn new(wording: &'static Wording) -> Self {
        Self {
            wording,
            texts: Vec::new(),
            media: Vec::new(),
            losses: Losses::default(),
        }
    }

    fn add_media(&mut self, media: &'a Media) {
        if let (MediaKind::Image | MediaKind::Audio, Some(url)) = (media.kind, web_address(media)) {
            self.media.push((media.kind, Cow::Borrowed(url)));
            return;
        }
        let cause = (loss_of_words(media), reasons::QUOTED_MEDIUM_IS_NAMED);
        self.losses.whole_rendering(cause, 1);
        self.texts.push(Cow::Owned(placeholder(media)));
    }

    fn add_text(&mut self, text: Cow<'a, str>) {
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
        let shown = found
            .into_iter()
            .filter(|(kind, _)| !(hides_pictures && *kind == MediaKind::Image));
        let known = self.media.len();
        self.media.extend(shown);
        let hidden = (before - (self.media.len() - known)) as u64;
        self.losses
            .whole_rendering(reasons::MARKER_IS_TAKEN_OUT, hidden + stripped);
        self.texts.push(text);
    }

    /// Returns the part of the content that a quote shows.
    fn finish(mut self, arena: &'a TextArena) -> Rc<QuotedContent<'a>> {
        let dropped = (self.media.len() as u64).saturating_sub(1);
        let chosen = [MediaKind::Audio, MediaKind::Image]
            .into_iter()
            .find_map(|kind| self.media.iter().position(|(found, _)| *found == kind));
        let medium = chosen.map(|index| self.media.swap_remove(index));
        self.losses
            .whole_rendering(reasons::ONE_MEDIUM_PER_QUOTE, dropped);
        let mut text = self.text();
        if let Some((kind, _)) = &medium
            && text.is_empty()
        {
            text = Cow::Borrowed(match kind {
                MediaKind::Audio => "[Audio Message]",
                _ => "[Image]",
            });
            self.losses.whole_rendering(reasons::WORD_FOR_MEDIA, 1);
        }
        Rc::new(QuotedContent {
            text: arena.keep(text),
            medium: medium.map(|(kind, address)| (kind, arena.keep(address))),
            losses: self.losses.finish(),
        })
    }

    /// Returns the quoted text: joined, without control characters, trimmed.
    fn text(&mut self) -> Cow<'a, str> {
        let joined = match self.texts.len() {
            0 | 1 => self.texts.pop().unwrap_or_default(),
            _ => Cow::Owned(self.texts.join("\n")),
        };
        let length = joined.len();
        let clean = change(joined, without_controls);
        if clean.len() < length {
            self.losses.whole_rendering(reasons::QUOTES_HOLD_NO_CONTROLS, 1);
        }
        if trim_script_space(&clean).len() < clean.len() {
            self.losses.whole_rendering(reasons::QUOTES_ARE_TRIMMED, 1);
        }
        change(clean, |text| Cow::Borrowed(trim_script_space(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_ends_with_a_word_and_is_shorter_than_the_text() {
        assert_eq!(excerpt(&"a".repeat(EXCERPT + 1)), None);
        assert_eq!(
            excerpt(&"a".repeat(EXCERPT + 2)),
            Some(format!("{}…", "a".repeat(EXCERPT)))
        );
        let words = "word ".repeat(40);
        assert_eq!(excerpt(&words), Some(format!("{}word…", "word ".repeat(15))));
        // A long word after a short one is cut, not left out.
        let long = format!("a {}", "b".repeat(200));
        assert_eq!(excerpt(&long), Some(format!("a {}…", "b".repeat(EXCERPT - 2))));
        assert_eq!(excerpt(&"ї".repeat(200)).unwrap().chars().count(), EXCERPT + 1);
    }
}
