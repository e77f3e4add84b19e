//! Writes messages and their quotes as requests, and declares the losses.

use chatmill_model::{
    Component, Level, Link, Media, MediaKind, Message, Part, Reference, Role, Sink, Speaker,
};

use super::active::Active;
use crate::loss::{LossCode, Losses, reasons};
use crate::messages::quote::{self, Quote, Quoted, Style, Wordless};
use crate::messages::system;
use crate::messages::text::declared_words;
use crate::messages::unsupported::{
    NoPlace, Unsupported, declare_conversation, declare_messages, declare_weights,
};
use crate::messages::wording::Wording;
use crate::text::edit::{change, without_controls};
use crate::text::media::{placeholder, web_address};
use crate::tools::forms;
use crate::transcript::Transcript;
use crate::view::View;
use crate::view::policy::{MediaPolicy, References};
use crate::write::object::list;

/// A part of the message itself, without quotes.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Text(&'a str),
    /// A picture or a sound, and its address.
    Media(MediaKind, &'a str),
}

impl<'a> Piece<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        let (opening, text, closing) = match self {
            Self::Text(text) => ("{\"type\":\"text\",\"text\":", text, "}"),
            Self::Media(MediaKind::Audio, address) => {
                ("{\"type\":\"audio_url\",\"audio_url\":{\"url\":", address, "}}")
            }
            Self::Media(_, address) => ("{\"type\":\"image_url\",\"image_url\":{\"url\":", address, "}}"),
        };
        sink.framing(opening);
        sink.json_string(text, Component::Content);
        sink.framing(closing);
    }
}

/// Facts and messages of a conversation that are in no request, or only in one of them.
#[derive(Default)]
struct UnshownFacts {
    /// Losses that all requests have in common.
    whole: Losses,
    turns: u64,
    system: u64,
    calls: u64,
    results: u64,
    notices: u64,
}

impl UnshownFacts {
    fn of(view: &View<'_>) -> Self {
        let mut around = Self::default();
        declare_conversation(view, &mut around.whole);
        system::declare_unplaced(view, &mut around.whole);
        forms::declare_dropped(view, &mut around.whole);
        for message in &view.conversation().messages {
            let [calls, results] = tool_use(message);
            around.calls += calls;
            around.results += results;
            match message.role {
                _ if !View::is_turn(message) => around.notices += 1,
                Role::System => around.system += 1,
                Role::User | Role::Assistant => around.turns += 1,
                Role::Tool => {}
            }
        }
        around
    }

    /// Declares what a request does not show of other messages; losses of the message itself are declared where it is written.
    fn declare(&self, message: &Message, losses: &mut Losses) {
        let [calls, results] = tool_use(message);
        let (calls, results) = (self.calls - calls, self.results - results);
        let tools = |code| (code, reasons::FORMAT_HAS_NO_TOOLS);
        losses.whole_rendering(reasons::REQUEST_IS_ONE_MESSAGE, self.turns - 1);
        losses.whole_rendering(reasons::REQUEST_HAS_NO_SYSTEM_TEXT, self.system);
        losses.whole_rendering(tools(LossCode::ToolCallDropped), calls);
        losses.whole_rendering(tools(LossCode::ToolResultDropped), results);
        losses.whole_rendering(
            (LossCode::NoticeDropped, reasons::FORMAT_HAS_NO_NOTICES),
            self.notices,
        );
    }
}

/// Counts the calls and results of a message.
fn tool_use(message: &Message) -> [u64; 2] {
    let count = |wanted: fn(&Part) -> bool| message.parts.iter().filter(|part| wanted(part)).count() as u64;
    [
        count(|part| matches!(part, Part::ToolCall(_))),
        count(|part| matches!(part, Part::ToolResult(_))),
    ]
}

/// Writes requests.
pub(super) struct RequestWriter<'t, 'a> {
    transcript: &'t Transcript<'a>,
    wording: &'static Wording,
    active: Active<'t, 'a>,
    around: UnshownFacts,
    quoted: Quoted<'a>,
}

impl<'t, 'a> RequestWriter<'t, 'a> {
    /// Creates the writer for the messages of a transcript.
    pub(super) fn new(transcript: &'t Transcript<'a>, wording: &'static Wording) -> Self {
        Self {
            transcript,
            wording,
            active: Active::of(transcript),
            around: UnshownFacts::of(transcript.view()),
            quoted: Quoted::new(wording, transcript.arena()),
        }
    }

    /// Writes the request of a message and returns its losses; `None` if the message makes no request to the active personality.
    pub(super) fn request(&self, message: &'a Message, sink: &mut Sink<'a>) -> Option<Losses> {
        if !self.active.is_from_others(message) {
            return None;
        }
        let (view, position) = (self.transcript.view(), message.position);
        let mut losses = self.around.whole.clone();
        let mut own = self.own_content(message, &mut losses);
        if own.is_empty() && tool_use(message) != [0, 0] {
            return None;
        }
        let quotes = self.quotes(message, &mut losses);
        if message.role == Role::Assistant {
            losses.at(reasons::REQUEST_IS_A_USERS, position);
        }
        let is_named = self.wording.names_proxies && quotes.is_empty();
        let proxy = self.active.proxy_name(message).filter(|_| is_named);
        if let (Some(name), Some(Piece::Text(first))) = (proxy, own.first_mut()) {
            *first = self.transcript.arena().keep(format!("{name}: {first}"));
            losses.at(reasons::PROXIES_ARE_NAMED, position);
        } else if message.sender.is_some() {
            losses.at(reasons::REQUEST_NAMES_NO_USER, position);
        }
        self.around.declare(message, &mut losses);
        declare_weights(&[message], &mut losses);
        declare_messages(view, &[message], Unsupported::BESIDE_WORDS, &mut losses);
        self.write(position, own, quotes, &mut losses, sink);
        Some(losses)
    }

    /// Returns the parts of the message itself, and declares what is lost of them.
    fn own_content(&self, message: &'a Message, losses: &mut Losses) -> Vec<Piece<'a>> {
        let (view, position) = (self.transcript.view(), message.position);
        let arena = self.transcript.arena();
        let mut own = Vec::new();
        // Texts of a list without quotes are sent unchanged.
        let is_passed = self.wording.sends_lists && message.references.is_empty() && message.parts.len() > 1;
        for (_, part) in message.own_parts() {
            let text = declared_words(view, message, part, losses);
            match (part, text) {
                (_, Some(mut text)) => {
                    if !is_passed {
                        let length = text.len();
                        text = change(text, without_controls);
                        let is_cleaned = u64::from(text.len() < length);
                        losses.several(reasons::FORMAT_REMOVES_CONTROLS, position, is_cleaned);
                    }
                    if !text.is_empty() {
                        own.push(Piece::Text(arena.keep(text)));
                    }
                }
                (Part::Media(media), None) => own.extend(self.media(media, position, losses)),
                (part, None) => NoPlace::FORMAT.declare(part, position, losses),
            }
        }
        own
    }

    fn media(&self, media: &'a Media, position: u32, losses: &mut Losses) -> Option<Piece<'a>> {
        let policy = self.transcript.view().policy.media;
        let is_heard = matches!(media.kind, MediaKind::Image | MediaKind::Audio);
        match (policy, web_address(media)) {
            (MediaPolicy::Drop, _) => {
                losses.at(reasons::POLICY_DROPS_MEDIA, position);
                None
            }
            (MediaPolicy::Keep, Some(address)) if is_heard => {
                let described = u64::from(media.name.is_some()) + u64::from(media.media_type.is_some());
                losses.several(reasons::MEDIUM_IS_ITS_ADDRESS, position, described);
                Some(Piece::Media(media.kind, address))
            }
            _ => {
                losses.at((LossCode::MediaPlaceholder, reasons::MEDIUM_IS_NAMED), position);
                Some(Piece::Text(self.transcript.arena().keep(placeholder(media))))
            }
        }
    }

    /// Returns the quotes of the messages replied to, in the words of the version.
    fn quotes(&self, message: &'a Message, losses: &mut Losses) -> Vec<Quote<'a>> {
        let (view, position) = (self.transcript.view(), message.position);
        if view.policy.references == References::Drop {
            let references = message.references.len() as u64;
            losses.several(reasons::POLICY_DROPS_REPLIES, position, references);
            return Vec::new();
        }
        let is_own = |reference: &Reference, link: &Link| {
            let by_id = self.active.is_same_account(message, reference);
            let by_id = by_id.filter(|_| self.wording.compares_ids);
            by_id.unwrap_or(link.same_sender)
        };
        // The document also writes empty quotes.
        let style = Style {
            quoted: &self.quoted,
            wordless: Wordless::Written,
            aliases: None,
            namesakes: None,
            shown: None,
            is_own: Some(&is_own),
        };
        let addressee = self.active.addressee(message);
        let quotes = quote::quotes(style, view, self.transcript.roster(), message, addressee, losses);
        for quote in &quotes {
            quote.declare_head(position, losses);
        }
        quotes
    }

    /// Writes the message and its quotes in the form of the version.
    fn write(
        &self,
        position: u32,
        own: Vec<Piece<'a>>,
        quotes: Vec<Quote<'a>>,
        losses: &mut Losses,
        sink: &mut Sink<'a>,
    ) {
        sink.set_speaker(Speaker::Other);
        sink.framing("[{\"role\":\"user\",\"content\":");
        let has_media = own.iter().any(|piece| matches!(piece, Piece::Media(..)));
        let is_list = has_media || self.wording.sends_lists && own.len() > 1;
        if !is_list && quotes.is_empty() {
            sink.framing("\"");
            joined(sink, &media_last(position, own, losses).0);
            sink.framing("\"}]");
            return;
        }
        let texts = own.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(*text),
            Piece::Media(..) => None,
        });
        // Readers cannot distinguish text that is worded like a quote from a quote.
        if is_worded_as_quote(texts) {
            losses.at(reasons::MESSAGE_IS_WORDED_AS_A_QUOTE, position);
        }
        if self.wording.sends_lists && quotes.is_empty() {
            list(sink, own, Piece::write);
        } else {
            self.quoting(position, own, quotes, losses, sink);
        }
        sink.framing("}]");
    }

    /// Writes a list of one text, with the message and its quotes, and media after it.
    fn quoting(
        &self,
        position: u32,
        own: Vec<Piece<'a>>,
        quotes: Vec<Quote<'a>>,
        losses: &mut Losses,
        sink: &mut Sink<'a>,
    ) {
        let (texts, mut media) = media_last(position, own, losses);
        sink.framing("[{\"type\":\"text\",\"text\":\"");
        joined(sink, &texts);
        let mut needs_separator = !texts.is_empty() || self.wording.leads_with_separator;
        for quote in quotes {
            media.extend(quote.medium);
            quote.declare_losses(position, losses);
            if std::mem::replace(&mut needs_separator, true) {
                sink.content(self.wording.separator, Level::JsonString, Component::Replies);
            }
            for words in quote.words() {
                let words = self.transcript.arena().keep(words);
                sink.content(words, Level::JsonString, Component::Replies);
            }
        }
        sink.framing("\"}");
        for (kind, address) in media {
            sink.framing(",");
            Piece::Media(kind, address).write(sink);
        }
        sink.framing("]");
    }
}

/// Texts, and media after them.
type TextsAndMedia<'a> = (Vec<&'a str>, Vec<(MediaKind, &'a str)>);

/// Moves texts before media, and declares what is moved and joined.
fn media_last<'a>(position: u32, own: Vec<Piece<'a>>, losses: &mut Losses) -> TextsAndMedia<'a> {
    let (mut texts, mut media) = (Vec::new(), Vec::new());
    let mut moved = 0;
    for piece in own {
        match piece {
            Piece::Text(text) => {
                moved += u64::from(!media.is_empty());
                texts.push(text);
            }
            Piece::Media(kind, address) => media.push((kind, address)),
        }
    }
    losses.several(reasons::TEXT_IN_FRONT_OF_MEDIA, position, moved);
    let joined = (texts.len() as u64).saturating_sub(1);
    losses.several(reasons::JOINED_INTO_THE_FIRST, position, joined);
    (texts, media)
}

/// Whether a line of a text reads like the words before a quote.
fn is_worded_as_quote<'t>(texts: impl Iterator<Item = &'t str>) -> bool {
    let opens = |line: &str| {
        line.ends_with(" said:")
            || line.starts_with("You said earlier: \"")
            || [" said: \"", " said (with "]
                .iter()
                .any(|words| line.contains(words))
    };
    texts.flat_map(|text| text.split('\n')).any(opens)
}

/// Writes texts joined by one space.
fn joined<'a>(sink: &mut Sink<'a>, texts: &[&'a str]) {
    for (index, text) in texts.iter().copied().enumerate() {
        if index > 0 {
            sink.content(" ", Level::JsonString, Component::Framing);
        }
        sink.content(text, Level::JsonString, Component::Content);
    }
}
