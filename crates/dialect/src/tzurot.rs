//! Tzurot message format 2.0 (2025-05-22): one request for each thing that somebody says to a personality.
//!
//! ```json
//! [{"role":"user","content":[{"type":"text","text":"And you?\nAlice said:\n\"Rust.\""}]}]
//! ```
//!
//! The format knows no history: a conversation gives one rendering per user message, and all that is left of earlier
//! turns is what the message quotes. A field `currentPersonality` in the record names the active personality; without it
//! the perspective is active.
//!
//! Nothing tells a message that is itself worded as a quote from one that quotes; where a request has a place for quotes,
//! such words are declared.
//!
//! Profile `v2-final` words quotes as the last release of version 2 did, and puts the name of a proxy (`isProxyMessage`) in
//! front of its text.

use std::borrow::Cow;

use chatmill_model::{Component, Extra, Level, Media, MediaKind, Message, Part, RawJson, Role, Rope, Voice};

use crate::about::About;
use crate::definitions;
use crate::loss::{LossCode, Losses};
use crate::media::{placeholder, web_address};
use crate::names::{Roster, speaker};
use crate::nature::{Lack, declare_conversation, declare_messages};
use crate::policy::{MediaPolicy, References};
use crate::quote::quotes_in;
use crate::rendering::{Coverage, Rendering};
use crate::said::said_declared;
use crate::text::{change, without_controls};
use crate::view::View;
use crate::wording::{DOCUMENT, V2_FINAL, Wording};
use crate::{Dialect, json};

/// The dialect of Tzurot's requests.
pub struct Tzurot;

static ABOUT: About = About {
    title: "Tzurot request",
    family: "tzurot",
    media_type: "application/json",
    specification: "Tzurot Message Format Specification, version 2.0",
    dated: "2025-05-22",
    carries: "text, pictures and sounds with a web address, quoted replies",
    loses: "history, ids, times, tools, other media, all but one medium of a quote",
    profiles: &["document", "v2-final"],
    neutral: false,
};

impl Dialect for Tzurot {
    fn id(&self) -> &'static str {
        "tzurot"
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn render(&self, view: &View<'_>, emit: &mut dyn FnMut(Rendering<'_>)) {
        let active = Active::of(view);
        let mut ordinal = 0;
        for message in &view.conversation().messages {
            if active.hears(view, message)
                && let Some(rendering) = request(view, message, &active, ordinal)
            {
                emit(rendering);
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
}

impl<'a> Active<'a> {
    fn of(view: &View<'a>) -> Self {
        let conversation = view.conversation();
        let named = [&conversation.extra, &conversation.envelope]
            .into_iter()
            .find_map(|extra| named_in(view, extra));
        let roster = &conversation.participants;
        let own = view.perspective.and_then(|index| roster.get(index));
        Self {
            id: named.or_else(|| own.map(|participant| participant.id.clone())),
            roster: Roster::of(view),
        }
    }

    /// Whom one request is addressed to.
    fn hearer(&self, view: &View<'_>, message: &Message) -> Option<Cow<'_, str>> {
        let named = named_in(view, &message.extra).map(Cow::Owned);
        named.or_else(|| self.id.as_deref().map(Cow::Borrowed))
    }

    /// Whether a message is something that somebody else says.
    fn hears(&self, view: &View<'_>, message: &Message) -> bool {
        let is_own = match (view.sender(message), self.hearer(view, message)) {
            (Some(sender), Some(id)) => sender.id == id,
            _ => false,
        };
        View::is_turn(message) && matches!(message.role, Role::User | Role::Assistant) && !is_own
    }
}

/// The personality that `currentPersonality` names: its id, be it named by id or by name.
fn named_in(view: &View<'_>, extra: &Extra) -> Option<String> {
    let raw = extra.get("currentPersonality").map(RawJson::as_str)?;
    let named = json::decode_string(raw)?;
    let roster = &view.conversation().participants;
    let by_id = roster.iter().find(|participant| participant.id == named);
    let found = by_id.or_else(|| {
        roster
            .iter()
            .find(|participant| participant.display_name() == named)
    });
    Some(found.map_or(named, |participant| participant.id.clone()))
}

/// A piece of the user's own content.
struct Own<'a> {
    texts: Vec<Cow<'a, str>>,
    media: Vec<(MediaKind, Cow<'a, str>)>,
}

impl<'a> Own<'a> {
    fn add_media(&mut self, view: &View<'a>, media: &'a Media, position: u32, losses: &mut Losses) {
        let is_heard = matches!(media.kind, MediaKind::Image | MediaKind::Audio);
        match view.policy.media {
            MediaPolicy::Drop => losses.at(LossCode::MediaDropped, position, "policy drops media"),
            MediaPolicy::Keep if is_heard && web_address(media).is_some() => {
                let described = u64::from(media.name.is_some()) + u64::from(media.media_type.is_some());
                losses.several(
                    LossCode::MediaDescriptionDropped,
                    position,
                    described,
                    "a medium is its address only",
                );
                let url = web_address(media).map(Cow::Borrowed);
                self.media.extend(url.map(|url| (media.kind, url)));
            }
            MediaPolicy::Keep | MediaPolicy::Placeholder => {
                losses.at(
                    LossCode::MediaPlaceholder,
                    position,
                    "the medium is only named in the text",
                );
                self.texts.push(Cow::Owned(placeholder(media)));
            }
        }
    }
}

fn request<'a>(
    view: &View<'a>,
    message: &'a Message,
    active: &Active<'a>,
    ordinal: u32,
) -> Option<Rendering<'a>> {
    let mut losses = Losses::default();
    let wording = wording(view);
    let mut own = own_content(view, message, &mut losses);
    let only_tools = own.texts.is_empty()
        && own.media.is_empty()
        && message
            .parts
            .iter()
            .any(|part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_)));
    if only_tools {
        return None;
    }
    let quotes = match view.policy.references {
        References::Quote => quotes_in(
            wording,
            view,
            &active.roster,
            message,
            active.hearer(view, message).as_deref(),
            &mut losses,
        ),
        References::Drop => {
            let amount = message.references.len() as u64;
            losses.several(
                LossCode::ReferenceDropped,
                message.position,
                amount,
                "policy drops replies",
            );
            Vec::new()
        }
    };
    if message.role == Role::Assistant {
        losses.at(
            LossCode::RoleMapped,
            message.position,
            "every request is a user's",
        );
    }
    let proxy = proxy_name(view, message).filter(|_| wording.names_proxies && quotes.is_empty());
    if let Some(name) = proxy
        && let Some(first) = own.texts.first_mut()
        && matches!(message.parts.first(), Some(Part::Text(_)))
    {
        *first = Cow::Owned(format!("{name}: {first}"));
        losses.at(
            LossCode::NameInlined,
            message.position,
            "this version names proxies in front of their text",
        );
    } else if message.sender.is_some() {
        losses.at(
            LossCode::NameDropped,
            message.position,
            "a request does not name its user",
        );
    }
    declare_conversation(view, &mut losses);
    definitions::lose(&view.conversation().tools, &mut losses);
    declare_messages(
        view,
        &[message],
        &[Lack::MessageIds, Lack::Times, Lack::Mentions, Lack::Extra],
        &mut losses,
    );

    let mut rope = Rope::new();
    rope.speak(Voice::Other);
    rope.framing("[{\"role\":\"user\",\"content\":");
    if own.media.is_empty() && quotes.is_empty() {
        rope.framing("\"");
        write_texts(&mut rope, own.texts);
        rope.framing("\"}]");
    } else {
        let mut media = own.media;
        if is_worded_as_quote(&own.texts) {
            losses.at(
                LossCode::SpecialTokenInText,
                message.position,
                "the message itself is worded as a quote, and the format cannot tell them apart",
            );
        }
        rope.framing("[{\"type\":\"text\",\"text\":\"");
        let mut needs_break = !own.texts.is_empty() || wording.leads_with_separator;
        write_texts(&mut rope, own.texts);
        for mut quote in quotes {
            if needs_break {
                rope.content(wording.separator, Level::JsonString, Component::Replies);
            }
            needs_break = true;
            media.extend(quote.medium.take());
            losses.append(std::mem::take(&mut quote.losses));
            quote.write(&mut rope, Level::JsonString);
        }
        rope.framing("\"}");
        for (kind, url) in media {
            let (open, close) = match kind {
                MediaKind::Audio => (",{\"type\":\"audio_url\",\"audio_url\":{\"url\":", "}}"),
                _ => (",{\"type\":\"image_url\",\"image_url\":{\"url\":", "}}"),
            };
            rope.framing(open);
            rope.json_string(url, Component::Content);
            rope.framing(close);
        }
        rope.framing("]}]");
    }
    Some(Rendering {
        rope,
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

/// Whether a line of somebody's own text reads as the words in front of a quote.
fn is_worded_as_quote(texts: &[Cow<'_, str>]) -> bool {
    let opens = |line: &str| {
        line.ends_with(" said:")
            || line.starts_with("You said earlier: \"")
            || [" said: \"", " said (with "]
                .iter()
                .any(|words| line.contains(words))
    };
    texts.iter().flat_map(|text| text.split('\n')).any(opens)
}

fn wording(view: &View<'_>) -> &'static Wording {
    match view.profile {
        "v2-final" => &V2_FINAL,
        _ => &DOCUMENT,
    }
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

fn write_texts<'a>(rope: &mut Rope<'a>, texts: Vec<Cow<'a, str>>) {
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            rope.content("\n", Level::JsonString, Component::Framing);
        }
        rope.content(text, Level::JsonString, Component::Content);
    }
}

fn own_content<'a>(view: &View<'a>, message: &'a Message, losses: &mut Losses) -> Own<'a> {
    let mut own = Own {
        texts: Vec::new(),
        media: Vec::new(),
    };
    let mut plain_texts = 0_u64;
    for part in &message.parts {
        match part {
            Part::Text(text) => {
                let text = said_declared(view, message, text, losses);
                let length = text.len();
                let clean = change(text, without_controls);
                if clean.len() < length {
                    losses.at(
                        LossCode::ControlCharacterRemoved,
                        message.position,
                        "the format removes control characters",
                    );
                }
                if !clean.is_empty() {
                    plain_texts += 1;
                    own.texts.push(clean);
                }
            }
            Part::Media(media) => own.add_media(view, media, message.position, losses),
            Part::ToolCall(_) => {
                losses.at(
                    LossCode::ToolCallDropped,
                    message.position,
                    "the format has no tools",
                );
            }
            Part::ToolResult(_) => {
                losses.at(
                    LossCode::ToolResultDropped,
                    message.position,
                    "the format has no tools",
                );
            }
            Part::Reasoning(_) => losses.at(
                LossCode::ReasoningDropped,
                message.position,
                "the format has no reasoning",
            ),
            Part::Notice(_) => losses.at(
                LossCode::NoticeDropped,
                message.position,
                "the format has no notices",
            ),
            Part::CacheMark => losses.at(
                LossCode::CacheMarkDropped,
                message.position,
                "the format has no cache marks",
            ),
        }
    }
    losses.several(
        LossCode::PartFlattened,
        message.position,
        plain_texts.saturating_sub(1),
        "texts are joined into the first element",
    );
    own
}
