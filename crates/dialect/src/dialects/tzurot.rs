//! Tzurot message format 2.0 (2025-05-22): one request for each thing that somebody says to a personality.
//!
//! ```json
//! [{"role":"user","content":[{"type":"text","text":"And you?\nAlice said:\n\"Rust.\""}]}]
//! ```
//!
//! The format knows no history: a conversation gives one rendering per user message, and all that is left of other
//! turns is what the message quotes. What a rendering does not show is declared in it, one entry for each kind. A field `currentPersonality` in the record names the active personality; without it
//! the perspective is active.
//!
//! Nothing tells a message that is itself worded as a quote from one that quotes; where a request has a place for quotes,
//! such words are declared.
//!
//! Profile `v2-final` words quotes as the last release of version 2 did, tells by the ids of accounts who quotes himself, puts
//! the name of a proxy (`isProxyMessage`) before its text, and passes lists on that quote nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chatmill_model::{
    Component, Extra, Level, Link, Media, MediaKind, Message, Part, RawJson, Reference, ReferenceForm, Role,
    Sink, Speaker,
};

use crate::about::{DialectAbout, Rules};
use crate::definitions;
use crate::loss::{LossCode, Losses, reasons};
use crate::media::{placeholder, web_address};
use crate::message_text::declared_text;
use crate::names::{Roster, speaker};
use crate::policy::{MediaPolicy, References};
use crate::quote::{self, Quote, Style, Wordless};
use crate::rendering::{Coverage, Rendering};
use crate::text::{change, without_controls};
use crate::transcript::Transcript;
use crate::unsupported::{Unsupported, declare_conversation, declare_messages, declare_weights};
use crate::view::View;
use crate::wording::{DOCUMENT, V2_FINAL, Wording};
use crate::{Dialect, Emit, json};

/// The dialect of Tzurot's requests.
pub(crate) struct Tzurot {
    profile: &'static str,
    wording: &'static Wording,
}

/// In profile `document`.
pub(crate) static TZUROT: Tzurot = Tzurot {
    profile: "document",
    wording: &DOCUMENT,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "Tzurot request",
    family: "tzurot",
    media_type: "application/json",
    specification: "Tzurot Message Format Specification, version 2.0",
    dated: "2025-05-22",
    carries: "text, pictures and sounds with a web address, quoted replies",
    profiles: &[
        &TZUROT,
        &Tzurot {
            profile: "v2-final",
            wording: &V2_FINAL,
        },
    ],
    neutral: false,
    rules: Rules::Judged(&[]),
};

/// What a rendering may lose.
const LOSES: &[LossCode] = &[
    LossCode::NameDropped,
    LossCode::NameInlined,
    LossCode::RoleMapped,
    LossCode::SystemDropped,
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::ToolDefinitionDropped,
    LossCode::MediaDropped,
    LossCode::MediaPlaceholder,
    LossCode::MediaDescriptionDropped,
    LossCode::PartFlattened,
    LossCode::PartMoved,
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
    LossCode::ReferenceInlined,
    LossCode::ReferenceDropped,
    LossCode::ReferenceUnresolved,
    LossCode::ReferenceNested,
    LossCode::SpecialTokenInText,
    LossCode::ControlCharacterRemoved,
    LossCode::WhitespaceTrimmed,
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
];

impl Dialect for Tzurot {
    fn id(&self) -> &'static str {
        "tzurot"
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
        let active = Active::of(view);
        let around = Around::of(view);
        let mut ordinal = 0;
        for message in &view.conversation().messages {
            if active.hears(view, message)
                && let Some(rendering) = request(self.wording, view, message, &active, &around, ordinal, sink)
            {
                emit(sink, rendering);
                ordinal += 1;
            }
        }
    }

    fn is_single_turn(&self) -> bool {
        true
    }
}

/// Whom the requests are addressed to.
struct Active<'a> {
    /// By what the record says of all requests, else by perspective.
    id: Option<String>,
    roster: Roster<'a>,
    /// Ids by display name; the first of a name counts.
    ids: BTreeMap<&'a str, &'a str>,
}

impl<'a> Active<'a> {
    fn of(view: &View<'a>) -> Self {
        let conversation = view.conversation();
        let participants = &conversation.participants;
        let mut active = Self {
            id: None,
            roster: Roster::of(view),
            ids: BTreeMap::new(),
        };
        for participant in participants {
            let id = active.ids.entry(participant.display_name());
            id.or_insert(&participant.id);
        }
        let named = [&conversation.extra, &conversation.envelope]
            .into_iter()
            .find_map(|extra| active.named_in(extra));
        let own = view.perspective.and_then(|index| participants.get(index));
        active.id = named.or_else(|| own.map(|participant| participant.id.clone()));
        active
    }

    /// The personality that `currentPersonality` names: its id, be it named by id or by name.
    fn named_in(&self, extra: &Extra) -> Option<String> {
        let raw = extra.get("currentPersonality").map(RawJson::as_str)?;
        let named = json::decode_string(raw)?;
        if self.roster.find(&named).is_some() {
            return Some(named);
        }
        let found = self.ids.get(named.as_str()).map(|id| (*id).to_owned());
        Some(found.unwrap_or(named))
    }

    /// Whom one request is addressed to.
    fn hearer(&self, message: &Message) -> Option<Cow<'_, str>> {
        let named = self.named_in(&message.extra).map(Cow::Owned);
        named.or_else(|| self.id.as_deref().map(Cow::Borrowed))
    }

    /// Whether a message is something that somebody else says.
    fn hears(&self, view: &View<'_>, message: &Message) -> bool {
        let is_own = match (view.sender(message), self.hearer(message)) {
            (Some(sender), Some(id)) => sender.id == id,
            _ => false,
        };
        View::is_turn(message) && matches!(message.role, Role::User | Role::Assistant) && !is_own
    }
}

/// What a conversation holds that no request shows, or only one of all.
#[derive(Default)]
struct Around {
    /// What every request loses of the conversation.
    whole: Losses,
    turns: u64,
    system: u64,
    calls: u64,
    results: u64,
    notices: u64,
}

impl Around {
    fn of(view: &View<'_>) -> Self {
        let mut around = Self::default();
        declare_conversation(view, &mut around.whole);
        definitions::lose(&view.conversation().tools, &mut around.whole);
        for message in &view.conversation().messages {
            for part in &message.parts {
                around.calls += u64::from(matches!(part, Part::ToolCall(_)));
                around.results += u64::from(matches!(part, Part::ToolResult(_)));
            }
            match message.role {
                _ if !View::is_turn(message) => around.notices += 1,
                Role::System => around.system += 1,
                Role::User | Role::Assistant => around.turns += 1,
                Role::Tool => {}
            }
        }
        around
    }

    /// Declares what a request of one message does not show. What the message itself holds, it declares itself.
    fn declare(&self, message: &Message, losses: &mut Losses) {
        let count =
            |wanted: fn(&Part) -> bool| message.parts.iter().filter(|part| wanted(part)).count() as u64;
        let calls = count(|part| matches!(part, Part::ToolCall(_)));
        let results = count(|part| matches!(part, Part::ToolResult(_)));
        for (code, amount, reason) in [
            (
                LossCode::Truncated,
                self.turns - 1,
                reasons::REQUEST_IS_ONE_MESSAGE,
            ),
            (
                LossCode::SystemDropped,
                self.system,
                reasons::REQUEST_HAS_NO_SYSTEM_TEXT,
            ),
            (
                LossCode::ToolCallDropped,
                self.calls - calls,
                reasons::FORMAT_HAS_NO_TOOLS,
            ),
            (
                LossCode::ToolResultDropped,
                self.results - results,
                reasons::FORMAT_HAS_NO_TOOLS,
            ),
            (
                LossCode::NoticeDropped,
                self.notices,
                reasons::FORMAT_HAS_NO_NOTICES,
            ),
        ] {
            losses.whole_rendering(code, amount, reason);
        }
    }
}

/// A piece of the user's own content.
enum Piece<'a> {
    Text(Cow<'a, str>),
    Media(MediaKind, Cow<'a, str>),
}

/// The user's own content.
struct Own<'a> {
    pieces: Vec<Piece<'a>>,
}

impl<'a> Own<'a> {
    fn add_media(&mut self, view: &View<'a>, media: &'a Media, position: u32, losses: &mut Losses) {
        let is_heard = matches!(media.kind, MediaKind::Image | MediaKind::Audio);
        match view.policy.media {
            MediaPolicy::Drop => losses.at(LossCode::MediaDropped, position, reasons::POLICY_DROPS_MEDIA),
            MediaPolicy::Keep if is_heard && web_address(media).is_some() => {
                let described = u64::from(media.name.is_some()) + u64::from(media.media_type.is_some());
                losses.several(
                    LossCode::MediaDescriptionDropped,
                    position,
                    described,
                    reasons::MEDIUM_IS_ITS_ADDRESS,
                );
                let url = web_address(media).map(Cow::Borrowed);
                self.pieces.extend(url.map(|url| Piece::Media(media.kind, url)));
            }
            MediaPolicy::Keep | MediaPolicy::Placeholder => {
                losses.at(LossCode::MediaPlaceholder, position, reasons::MEDIUM_IS_NAMED);
                self.pieces.push(Piece::Text(Cow::Owned(placeholder(media))));
            }
        }
    }

    /// Whether it is a list: texts are a string, unless the version passes several of them on.
    fn is_list(&self, wording: &Wording) -> bool {
        let has_media = self.pieces.iter().any(|piece| matches!(piece, Piece::Media(..)));
        has_media || wording.passes_lists && self.pieces.len() > 1
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_ref()),
            Piece::Media(..) => None,
        })
    }

    /// Joins the texts before the media, and declares what moves.
    fn gather(self, position: u32, losses: &mut Losses) -> Gathered<'a> {
        let mut texts = Vec::new();
        let mut media = Vec::new();
        let mut moved = 0;
        for piece in self.pieces {
            match piece {
                Piece::Text(text) => {
                    moved += u64::from(!media.is_empty());
                    texts.push(text);
                }
                Piece::Media(kind, url) => media.push((kind, url)),
            }
        }
        losses.several(
            LossCode::PartMoved,
            position,
            moved,
            reasons::TEXT_IN_FRONT_OF_MEDIA,
        );
        losses.several(
            LossCode::PartFlattened,
            position,
            (texts.len() as u64).saturating_sub(1),
            reasons::JOINED_INTO_THE_FIRST,
        );
        (texts, media)
    }
}

/// The request of one message.
fn request<'a>(
    wording: &'static Wording,
    view: &View<'a>,
    message: &'a Message,
    active: &Active<'a>,
    around: &Around,
    ordinal: u32,
    sink: &mut Sink<'a>,
) -> Option<Rendering> {
    let mut losses = around.whole.clone();
    let mut own = own_content(view, message, wording, &mut losses);
    let is_tools = |part: &Part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_));
    if own.pieces.is_empty() && message.parts.iter().any(is_tools) {
        return None;
    }
    let quotes = quotes(wording, view, message, active, &mut losses);
    if message.role == Role::Assistant {
        losses.at(
            LossCode::RoleMapped,
            message.position,
            reasons::REQUEST_IS_A_USERS,
        );
    }
    let proxy = proxy_name(view, message).filter(|_| wording.names_proxies && quotes.is_empty());
    if let (Some(name), Some(Piece::Text(first))) = (proxy, own.pieces.first_mut()) {
        *first = Cow::Owned(format!("{name}: {first}"));
        losses.at(
            LossCode::NameInlined,
            message.position,
            reasons::PROXIES_ARE_NAMED,
        );
    } else if message.sender.is_some() {
        losses.at(
            LossCode::NameDropped,
            message.position,
            reasons::REQUEST_NAMES_NO_USER,
        );
    }
    around.declare(message, &mut losses);
    declare_weights(&[message], &mut losses);
    declare_messages(
        view,
        &[message],
        &[
            Unsupported::MessageIds,
            Unsupported::Times,
            Unsupported::Mentions,
            Unsupported::Extra,
        ],
        &mut losses,
    );

    sink.speak(Speaker::Other);
    sink.framing("[{\"role\":\"user\",\"content\":");
    if !own.is_list(wording) && quotes.is_empty() {
        sink.framing("\"");
        write_texts(sink, own.gather(message.position, &mut losses).0);
        sink.framing("\"");
    } else {
        declare_worded(&own, message, &mut losses);
        sink.framing("[");
        if quotes.is_empty() && wording.passes_lists {
            pass(sink, own);
        } else {
            combine(
                sink,
                wording,
                own.gather(message.position, &mut losses),
                quotes,
                &mut losses,
            );
        }
        sink.framing("]");
    }
    sink.framing("}]");
    Some(Rendering {
        ordinal,
        coverage: Coverage::SingleTurn,
        first_position: Some(message.position),
        last_position: Some(message.position),
        messages_rendered: 1,
        last_role: Some("user"),
        assistant_messages: 0,
        losses: losses.finish(),
        violations: Vec::new(),
    })
}

/// What the message replies to, in the words of the version.
fn quotes<'a>(
    wording: &'static Wording,
    view: &View<'a>,
    message: &'a Message,
    active: &Active<'a>,
    losses: &mut Losses,
) -> Vec<Quote<'a>> {
    if view.policy.references == References::Drop {
        losses.several(
            LossCode::ReferenceDropped,
            message.position,
            message.references.len() as u64,
            reasons::POLICY_DROPS_REPLIES,
        );
        return Vec::new();
    }
    let is_own = |reference: &Reference, link: &Link| {
        let by_id = is_same_account(view, message, reference).filter(|_| wording.compares_ids);
        by_id.unwrap_or(link.same_sender)
    };
    let hearer = active.hearer(message);
    // The document writes a quote of nothing, too.
    let style = Style {
        wording,
        wordless: Wordless::Written,
        aliases: None,
        is_own: Some(&is_own),
    };
    let quotes = quote::quotes(style, view, &active.roster, message, hearer.as_deref(), losses);
    for quote in &quotes {
        quote.declare_head(message.position, losses);
    }
    quotes
}

/// Whether a quoted message was written under the account that quotes it, where both accounts are known.
fn is_same_account(view: &View<'_>, message: &Message, reference: &Reference) -> Option<bool> {
    let conversation = view.conversation();
    let user = [&message.extra, &conversation.extra, &conversation.envelope]
        .into_iter()
        .find_map(|extra| json::decode_string(extra.get("userId")?.as_str()))?;
    let ReferenceForm::Object(quoted) = &reference.form else {
        return None;
    };
    let author = json::text_field(quoted.as_str(), "authorId")?;
    Some(user == author)
}

/// Writes a list as it came.
fn pass<'a>(sink: &mut Sink<'a>, own: Own<'a>) {
    let mut separator = "";
    for piece in own.pieces {
        sink.framing(separator);
        separator = ",";
        match piece {
            Piece::Text(text) => {
                sink.framing("{\"type\":\"text\",\"text\":");
                sink.json_string(text, Component::Content);
                sink.framing("}");
            }
            Piece::Media(kind, url) => write_medium(sink, kind, url),
        }
    }
}

/// Texts, and media after them.
type Gathered<'a> = (Vec<Cow<'a, str>>, Vec<(MediaKind, Cow<'a, str>)>);

/// Writes own words and quotes as one text, then all media.
fn combine<'a>(
    sink: &mut Sink<'a>,
    wording: &Wording,
    (texts, mut media): Gathered<'a>,
    quotes: Vec<Quote<'a>>,
    losses: &mut Losses,
) {
    sink.framing("{\"type\":\"text\",\"text\":\"");
    let mut needs_break = !texts.is_empty() || wording.leads_with_separator;
    write_texts(sink, texts);
    for mut quote in quotes {
        if needs_break {
            sink.content(wording.separator, Level::JsonString, Component::Replies);
        }
        needs_break = true;
        media.extend(quote.medium.take());
        losses.append(std::mem::take(&mut quote.losses));
        quote.write(sink, Level::JsonString);
    }
    sink.framing("\"}");
    for (kind, url) in media {
        sink.framing(",");
        write_medium(sink, kind, url);
    }
}

fn write_medium<'a>(sink: &mut Sink<'a>, kind: MediaKind, url: Cow<'a, str>) {
    sink.framing(match kind {
        MediaKind::Audio => "{\"type\":\"audio_url\",\"audio_url\":{\"url\":",
        _ => "{\"type\":\"image_url\",\"image_url\":{\"url\":",
    });
    sink.json_string(url, Component::Content);
    sink.framing("}}");
}

/// Declares own words that read as a quote: the format cannot tell them apart.
fn declare_worded(own: &Own<'_>, message: &Message, losses: &mut Losses) {
    if is_worded_as_quote(own.texts()) {
        losses.at(
            LossCode::SpecialTokenInText,
            message.position,
            reasons::MESSAGE_IS_WORDED_AS_A_QUOTE,
        );
    }
}

/// Whether a line of somebody's own text reads as the words before a quote.
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

/// The name of a proxy that speaks for a person, unless it is the one that stands for none.
fn proxy_name<'a>(view: &View<'a>, message: &'a Message) -> Option<&'a str> {
    let conversation = view.conversation();
    let is_proxy = [&message.extra, &conversation.extra, &conversation.envelope]
        .into_iter()
        .find_map(|extra| extra.get("isProxyMessage"))?;
    let name = speaker(view, message)?;
    (is_proxy.as_str() == "true" && name != "a user").then_some(name)
}

/// Texts joined by one space.
fn write_texts<'a>(sink: &mut Sink<'a>, texts: Vec<Cow<'a, str>>) {
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            sink.content(" ", Level::JsonString, Component::Framing);
        }
        sink.content(text, Level::JsonString, Component::Content);
    }
}

fn own_content<'a>(view: &View<'a>, message: &'a Message, wording: &Wording, losses: &mut Losses) -> Own<'a> {
    let mut own = Own { pieces: Vec::new() };
    // Texts of a list that quotes nothing are passed on as they came.
    let is_passed = wording.passes_lists && message.references.is_empty() && message.parts.len() > 1;
    for part in &message.parts {
        match part {
            Part::Text(text) => {
                let text = declared_text(view, message, text, losses);
                let length = text.len();
                let clean = if is_passed {
                    text
                } else {
                    change(text, without_controls)
                };
                if clean.len() < length {
                    losses.at(
                        LossCode::ControlCharacterRemoved,
                        message.position,
                        reasons::FORMAT_REMOVES_CONTROLS,
                    );
                }
                if !clean.is_empty() {
                    own.pieces.push(Piece::Text(clean));
                }
            }
            Part::Media(media) => own.add_media(view, media, message.position, losses),
            Part::ToolCall(_) => {
                losses.at(
                    LossCode::ToolCallDropped,
                    message.position,
                    reasons::FORMAT_HAS_NO_TOOLS,
                );
            }
            Part::ToolResult(_) => {
                losses.at(
                    LossCode::ToolResultDropped,
                    message.position,
                    reasons::FORMAT_HAS_NO_TOOLS,
                );
            }
            Part::Reasoning(_) => losses.at(
                LossCode::ReasoningDropped,
                message.position,
                reasons::FORMAT_HAS_NO_REASONING,
            ),
            Part::Notice(_) => losses.at(
                LossCode::NoticeDropped,
                message.position,
                reasons::FORMAT_HAS_NO_NOTICES,
            ),
            Part::CacheMark => losses.at(
                LossCode::CacheMarkDropped,
                message.position,
                reasons::FORMAT_HAS_NO_CACHE_MARKS,
            ),
        }
    }
    own
}
