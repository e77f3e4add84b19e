//! Messages of the format: fields in the order of the document, then what the format does not know.

use chatmill_model::{
    Component, Media, MediaSource, Message, MessageKind, Part, Reference, ReferenceForm, Role, Rope,
    ToolCall, ToolResult,
};

use super::object::{Object, key};
use super::{MessageIds, extra, is_native};
use crate::json;
use crate::loss::{LossCode, Losses};
use crate::media::is_web_address;
use crate::progress::Progress;
use crate::times;
use crate::view::View;

/// Fields of `extra` in which archives keep an address.
pub(super) const ADDRESSES: [&str; 6] = ["url", "file_url", "image_url", "audio_url", "video_url", "link"];

/// Writes one message or notice.
pub(super) fn write<'a>(
    rope: &mut Rope<'a>,
    view: &View<'a>,
    message: &'a Message,
    ids: &MessageIds<'_>,
    losses: &mut Losses,
    progress: &mut Progress,
) {
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
        let made_up = ids.made_up(message.position);
        object.string(key!("message_id"), Some(made_up), Component::Meta);
    }
    let time = message.timestamp.as_ref().map(times::uncounted);
    object.string(key!("create_time"), time, Component::Meta);
    match view.sender(message) {
        Some(sender) => object.string(key!("sender"), Some(&sender.id), Component::Names),
        None => losses.at(
            LossCode::SenderMissing,
            message.position,
            "the format wants a sender",
        ),
    }
    object.string(
        key!("sender_name"),
        message.sender_name.as_deref(),
        Component::Names,
    );
    object.word(key!("role"), role_word(pieces.role));
    if pieces.role != message.role {
        losses.at(
            LossCode::RoleMapped,
            message.position,
            "a result is a tool's message",
        );
    }
    if let Some(word) = type_word(view, message, &pieces, losses) {
        object.string(key!("type"), Some(word), Component::Meta);
    }
    content(&mut object, message, &pieces);
    references(object.key(key!("refer_list")), view, message, losses);
    extra::write(&mut object, view, message, &pieces, losses);
    object.close();
    match message.kind {
        MessageKind::Message => progress.said(message.position, pieces.role.as_str()),
        MessageKind::Notice => progress.noted(message.position),
    }
}

const fn role_word(role: Role) -> &'static str {
    match role {
        Role::System => "\"system\"",
        Role::User => "\"user\"",
        Role::Assistant => "\"assistant\"",
        Role::Tool => "\"tool\"",
    }
}

/// What of a message has a place in the format.
pub(super) struct Pieces<'a> {
    /// The role that is written.
    pub(super) role: Role,
    texts: Vec<&'a str>,
    pub(super) medium: Option<&'a Media>,
    pub(super) calls: Vec<&'a ToolCall>,
    pub(super) result: Option<&'a ToolResult>,
}

impl<'a> Pieces<'a> {
    fn of(message: &'a Message, losses: &mut Losses) -> Self {
        let position = message.position;
        let mut pieces = Self {
            role: message.role,
            texts: Vec::new(),
            medium: None,
            calls: Vec::new(),
            result: None,
        };
        for part in &message.parts {
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
                Part::Media(_) | Part::ToolCall(_) | Part::ToolResult(_)
                    if message.kind == MessageKind::Notice =>
                {
                    let code = match part {
                        Part::ToolCall(_) => LossCode::ToolCallDropped,
                        Part::ToolResult(_) => LossCode::ToolResultDropped,
                        _ => LossCode::MediaDropped,
                    };
                    losses.at(code, position, "an event is text only");
                }
                Part::Media(media) if pieces.medium.is_none() => pieces.medium = Some(media),
                Part::Media(_) => {
                    losses.at(LossCode::MediaDropped, position, "a message has one medium");
                }
                Part::ToolCall(call) => pieces.calls.push(call),
                Part::ToolResult(result) if pieces.result.is_none() => {
                    pieces.result = Some(result);
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
fn type_word<'a>(
    view: &View<'a>,
    message: &'a Message,
    pieces: &Pieces<'a>,
    losses: &mut Losses,
) -> Option<&'a str> {
    if is_native(view.conversation()) {
        return message.source_type.as_deref();
    }
    let word = match (message.kind, pieces.medium) {
        (MessageKind::Notice, _) => "system",
        (MessageKind::Message, Some(media)) => media.kind.as_str(),
        (MessageKind::Message, None) => "text",
    };
    if message.source_type.as_deref().is_some_and(|own| own != word) {
        losses.at(
            LossCode::ExtraDropped,
            message.position,
            "the type of another system is none of the format's",
        );
    }
    Some(word)
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

fn references<'a>(rope: &mut Rope<'a>, view: &View<'a>, message: &'a Message, losses: &mut Losses) {
    rope.framing("[");
    let mut has_one = false;
    for (reference, link) in view.references(message) {
        let target = link.target.and_then(|target| view.message(target));
        // Who said nothing in particular is no reference to anybody who reads the format.
        let tells = reference.preview.as_ref().is_some_and(|preview| {
            preview
                .content
                .as_deref()
                .is_some_and(|content| !content.is_empty())
        });
        if reference.target.is_none() && !is_native(view.conversation()) && !tells {
            losses.at(
                LossCode::ReferenceUnresolved,
                message.position,
                "the reference has neither an id nor words",
            );
            continue;
        }
        if has_one {
            rope.framing(",");
        }
        has_one = true;
        match &reference.form {
            ReferenceForm::Object(raw) if is_native(view.conversation()) => {
                rope.raw_json(raw.as_str(), Component::Replies);
            }
            ReferenceForm::Id if reference.preview.is_none() => {
                let id = reference.target.as_deref().unwrap_or_default();
                rope.json_string(id, Component::Replies);
            }
            _ => preview(rope, reference, target),
        }
    }
    rope.framing("]");
}

/// A reference of another system as an object with what is known of the target.
fn preview<'a>(rope: &mut Rope<'a>, reference: &'a Reference, target: Option<&'a Message>) {
    let mut object = Object::open(rope);
    let id = reference
        .target
        .as_deref()
        .or(target.and_then(|target| target.id.as_deref()));
    object.string(key!("message_id"), id, Component::Replies);
    if let Some(preview) = &reference.preview {
        object.string(key!("sender"), preview.sender.as_deref(), Component::Replies);
        object.string(
            key!("sender_name"),
            preview.sender_name.as_deref(),
            Component::Replies,
        );
        if preview.from_agent {
            object.word(key!("role"), "\"assistant\"");
        }
        object.string(key!("content"), preview.content.as_deref(), Component::Replies);
    }
    object.close();
}
