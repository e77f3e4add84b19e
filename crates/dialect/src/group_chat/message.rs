//! Messages of the format: fields in the order of the document, then what the format does not know.

use std::borrow::Cow;

use chatmill_model::{
    Component, Media, MediaSource, Message, MessageKind, Part, Role, Rope, ToolCall, ToolResult,
};

use super::object::{Object, key};
use super::{Made, extra, is_native, references};
use crate::json;
use crate::loss::{LossCode, Losses};
use crate::media::is_web_address;
use crate::progress::Progress;
use crate::times;
use crate::view::View;
use crate::violation::Violation;

/// Fields of `extra` in which archives keep an address.
pub(super) const ADDRESSES: [&str; 6] = ["url", "file_url", "image_url", "audio_url", "video_url", "link"];

/// Writes one message or notice, and gives the rule that it breaks.
pub(super) fn write<'a>(
    rope: &mut Rope<'a>,
    view: &View<'a>,
    message: &'a Message,
    made: &Made<'a>,
    losses: &mut Losses,
    progress: &mut Progress,
) -> Option<Violation> {
    let pieces = Pieces::of(message, losses);
    let mut object = Object::open(rope);
    if let Some(id) = &message.id {
        object.string(key!("message_id"), Some(id), Component::Meta);
    } else {
        losses.at(
            LossCode::MessageIdSynthesised,
            message.position,
            "the format wants an id",
        );
        let id = made.ids.of_position(message.position);
        object.string(key!("message_id"), Some(id), Component::Meta);
    }
    let time = message.timestamp.as_ref().map(times::uncounted);
    object.string(key!("create_time"), time, Component::Meta);
    let sender = view.sender(message);
    if sender.is_none() {
        losses.at(
            LossCode::SenderMissing,
            message.position,
            "the format wants a sender",
        );
    }
    let sender = sender.map_or(made.people.nobody(), |sender| Cow::Borrowed(sender.id.as_str()));
    object.string(key!("sender"), Some(sender), Component::Names);
    object.string(
        key!("sender_name"),
        message.sender_name.as_deref(),
        Component::Names,
    );
    match role_word(pieces.role) {
        Some(word) => object.word(key!("role"), word),
        None if message.kind == MessageKind::Notice => losses.at(
            LossCode::RoleMapped,
            message.position,
            "an event speaks in nobody's role",
        ),
        None => {}
    }
    if pieces.role != message.role {
        losses.at(
            LossCode::RoleMapped,
            message.position,
            "a result is a tool's message",
        );
    }
    let word = type_word(view, message, &pieces, losses);
    object.string(key!("type"), Some(word), Component::Meta);
    content(&mut object, message, &pieces);
    let list = object.key(key!("refer_list"));
    let violation = references::write(list, view, message, made, losses);
    extra::write(&mut object, view, message, &pieces, made, losses);
    object.close();
    match message.kind {
        MessageKind::Message => progress.said(message.position, pieces.role.as_str()),
        MessageKind::Notice => progress.noted(message.position),
    }
    violation
}

/// The word for a role; system text is known by its type.
const fn role_word(role: Role) -> Option<&'static str> {
    match role {
        Role::System => None,
        Role::User => Some("\"user\""),
        Role::Assistant => Some("\"assistant\""),
        Role::Tool => Some("\"tool\""),
    }
}

/// What of a message has a place in the format.
pub(super) struct Pieces<'a> {
    kind: MessageKind,
    /// The role that is written.
    pub(super) role: Role,
    texts: Vec<&'a str>,
    pub(super) medium: Option<&'a Media>,
    /// Calls, each with its index among the parts.
    pub(super) calls: Vec<(usize, &'a ToolCall)>,
    /// The result with its index among the parts.
    pub(super) result: Option<(usize, &'a ToolResult)>,
}

impl<'a> Pieces<'a> {
    fn of(message: &'a Message, losses: &mut Losses) -> Self {
        let position = message.position;
        let answers = |part: &Part| matches!(part, Part::ToolResult(_));
        let is_event = message.kind == MessageKind::Notice
            || message.role == Role::System && !message.parts.iter().any(answers);
        let mut pieces = Self {
            kind: message.kind,
            role: message.role,
            texts: Vec::new(),
            medium: None,
            calls: Vec::new(),
            result: None,
        };
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                Part::Text(text) | Part::Notice(text) => {
                    if pieces.medium.is_some() || !pieces.calls.is_empty() {
                        losses.at(
                            LossCode::PartMoved,
                            position,
                            "text stands before media and calls",
                        );
                    }
                    pieces.texts.push(text);
                }
                Part::Media(_) | Part::ToolCall(_) | Part::ToolResult(_) if is_event => {
                    let code = match part {
                        Part::ToolCall(_) => LossCode::ToolCallDropped,
                        Part::ToolResult(_) => LossCode::ToolResultDropped,
                        _ => LossCode::MediaDropped,
                    };
                    losses.at(code, position, "events and system text are text only");
                }
                Part::Media(media) if pieces.medium.is_none() => pieces.medium = Some(media),
                Part::Media(_) => {
                    losses.at(LossCode::MediaDropped, position, "a message has one medium");
                }
                Part::ToolCall(call) => pieces.calls.push((index, call)),
                Part::ToolResult(result) if pieces.result.is_none() => {
                    pieces.result = Some((index, result));
                    pieces.role = Role::Tool;
                    pieces.texts.push(&result.content);
                    if result.is_error {
                        losses.at(LossCode::ErrorFlagDropped, position, "the format has no failures");
                    }
                }
                Part::ToolResult(_) => {
                    losses.at(LossCode::ToolResultDropped, position, "a message has one result");
                }
                Part::Reasoning(_) => losses.at(
                    LossCode::ReasoningDropped,
                    position,
                    "the format has no reasoning",
                ),
                Part::CacheMark => losses.at(
                    LossCode::CacheMarkDropped,
                    position,
                    "the format has no cache marks",
                ),
            }
        }
        losses.several(
            LossCode::PartFlattened,
            position,
            (pieces.texts.len() as u64).saturating_sub(1),
            "texts are joined into the content",
        );
        if let Some(Media {
            source: MediaSource::Inline(_),
            ..
        }) = pieces.medium
        {
            losses.at(
                LossCode::MediaDropped,
                position,
                "the format has addresses and names of media, not their bytes",
            );
        }
        pieces
    }

    /// Whether it is what a system says to an assistant, rather than an event in a room.
    pub(super) fn is_system_text(&self) -> bool {
        self.kind == MessageKind::Message && self.role == Role::System
    }

    /// The address of the medium.
    pub(super) fn address(&self) -> Option<&'a str> {
        match &self.medium?.source {
            MediaSource::Url(url) => Some(url),
            MediaSource::Inline(_) | MediaSource::Upload => None,
        }
    }

    /// Whether the address is the content, because there is no text and `extra` does not hold it.
    pub(super) fn content_is_address(&self, message: &Message) -> bool {
        self.texts.is_empty()
            && self.address().is_some_and(|url| {
                is_web_address(url) && !url.contains(char::is_whitespace) && !holds_address(message, url)
            })
    }
}

/// Whether `extra` holds this address.
pub(super) fn holds_address(message: &Message, url: &str) -> bool {
    ADDRESSES
        .iter()
        .filter_map(|key| message.extra.get(key))
        .any(|raw| json::decode_string(raw.as_str()).as_deref() == Some(url))
}

/// The type: the source's own word in its own format, else what the message holds.
fn type_word<'a>(view: &View<'a>, message: &'a Message, pieces: &Pieces<'a>, losses: &mut Losses) -> &'a str {
    let word = match (message.kind, pieces.medium) {
        _ if pieces.is_system_text() => "system",
        (MessageKind::Notice, _) => "system",
        (MessageKind::Message, Some(media)) => media.kind.as_str(),
        (MessageKind::Message, None) => "text",
    };
    match message.source_type.as_deref() {
        Some(own) if is_native(view.conversation()) && !pieces.is_system_text() => return own,
        Some(own) if own != word => losses.at(
            LossCode::ExtraDropped,
            message.position,
            "the type of another system is none of the format's",
        ),
        _ => {}
    }
    word
}

/// The content: text, a lone address, or `null` where there is neither.
fn content<'a>(object: &mut Object<'_, 'a>, message: &Message, pieces: &Pieces<'a>) {
    let component = match pieces.result {
        Some(_) => Component::Tools,
        None => Component::Content,
    };
    match pieces.texts.as_slice() {
        [] if pieces.content_is_address(message) => {
            object.string(key!("content"), pieces.address(), component);
        }
        [] => object.key(key!("content")).framing("null"),
        [only] => object.string(key!("content"), Some(*only), component),
        several => object.string(key!("content"), Some(several.join("\n")), component),
    }
}
