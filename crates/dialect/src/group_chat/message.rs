//! Messages of the format: fields in the order of the document, then what the format does not know.

use chatmill_model::{
    ArgumentForm, Arguments, Component, Media, MediaSource, Message, MessageKind, Part, Reference,
    ReferenceForm, Role, Rope, ToolCall, ToolResult,
};

use super::object::{Object, key};
use super::{MessageIds, is_native};
use crate::json;
use crate::loss::{LossCode, Losses};
use crate::media::is_web_address;
use crate::progress::Progress;
use crate::view::View;

/// Fields of `extra` in which archives keep an address.
const ADDRESSES: [&str; 6] = ["url", "file_url", "image_url", "audio_url", "video_url", "link"];

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
    let written_role = match pieces.result {
        Some(_) => Role::Tool,
        None => message.role,
    };
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
    let time = message.timestamp.as_ref().map(|time| time.raw.as_str());
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
    object.word(key!("role"), role_word(written_role));
    if written_role != message.role {
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
    fields(&mut object, message, &pieces, losses);
    object.close();
    match message.kind {
        MessageKind::Message => progress.said(message.position, written_role.as_str()),
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
struct Pieces<'a> {
    texts: Vec<&'a str>,
    medium: Option<&'a Media>,
    calls: Vec<&'a ToolCall>,
    result: Option<&'a ToolResult>,
}

impl<'a> Pieces<'a> {
    fn of(message: &'a Message, losses: &mut Losses) -> Self {
        let position = message.position;
        let mut pieces = Self {
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
                Part::Media(media) if pieces.medium.is_none() => pieces.medium = Some(media),
                Part::Media(_) => {
                    losses.at(LossCode::MediaDropped, position, "a message has one medium");
                }
                Part::ToolCall(call) => pieces.calls.push(call),
                Part::ToolResult(result) if pieces.result.is_none() => {
                    pieces.result = Some(result);
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
    fn address(&self) -> Option<&'a str> {
        match &self.medium?.source {
            MediaSource::Url(url) => Some(url),
            MediaSource::Inline(_) | MediaSource::Upload => None,
        }
    }

    /// Whether the address is the content, because there is no text and `extra` does not hold it.
    fn content_is_address(&self, message: &Message) -> bool {
        self.texts.is_empty()
            && self.address().is_some_and(|url| {
                is_web_address(url) && !url.contains(char::is_whitespace) && !holds_address(message, url)
            })
    }
}

/// Whether `extra` holds this address.
fn holds_address(message: &Message, url: &str) -> bool {
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

/// Unknown fields and `extra`, where there is anything to put in.
fn fields<'a>(object: &mut Object<'_, 'a>, message: &'a Message, pieces: &Pieces<'a>, losses: &mut Losses) {
    let mut has_whole_extra = false;
    let mut inside = Vec::new();
    for (key, value) in &message.extra.0 {
        match key.strip_prefix('/') {
            Some(outside) => {
                has_whole_extra |= outside == "extra";
                object.field(outside, value);
            }
            None => inside.push((key, value)),
        }
    }
    losses.several(
        LossCode::MentionDropped,
        message.position,
        message.mentions.len() as u64,
        "the format has no place for mentions",
    );
    let added = Added::of(message, pieces);
    if has_whole_extra || inside.is_empty() && added.is_empty() && pieces.calls.is_empty() {
        return;
    }
    let mut extra = Object::open(object.key(key!("extra")));
    for (key, value) in inside {
        extra.field(key, value);
    }
    extra.string(key!("url"), added.url, Component::Content);
    extra.string(key!("file_name"), added.file_name, Component::Meta);
    extra.string(key!("file_type"), added.file_type, Component::Meta);
    if !pieces.calls.is_empty() {
        calls(extra.key(key!("tool_calls")), &pieces.calls);
    }
    extra.string(key!("tool_call_id"), added.call_id, Component::Meta);
    extra.string(key!("name"), added.name, Component::Tools);
    extra.close();
}

/// What our own fields in `extra` hold, apart from calls.
struct Added<'a> {
    url: Option<&'a str>,
    file_name: Option<&'a str>,
    file_type: Option<&'a str>,
    call_id: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> Added<'a> {
    fn of(message: &Message, pieces: &Pieces<'a>) -> Self {
        let lacks = |key: &str| message.extra.get(key).is_none();
        Self {
            url: pieces
                .address()
                .filter(|url| !pieces.content_is_address(message) && !holds_address(message, url)),
            file_name: pieces
                .medium
                .and_then(|media| media.name.as_deref())
                .filter(|_| lacks("file_name")),
            file_type: pieces
                .medium
                .and_then(|media| media.media_type.as_deref())
                .filter(|_| lacks("file_type")),
            call_id: pieces.result.and_then(|result| result.call_id.as_deref()),
            name: pieces.result.and_then(|result| result.name.as_deref()),
        }
    }

    fn is_empty(&self) -> bool {
        [self.url, self.file_name, self.file_type, self.call_id, self.name]
            .iter()
            .all(Option::is_none)
    }
}

/// Calls as OpenAI writes them; arguments in the form that the source has them.
fn calls<'a>(rope: &mut Rope<'a>, calls: &[&'a ToolCall]) {
    rope.framing("[");
    for (index, call) in calls.iter().enumerate() {
        if index > 0 {
            rope.framing(",");
        }
        let mut object = Object::open(rope);
        object.string(key!("id"), call.id.as_deref(), Component::Meta);
        object.word(key!("type"), "\"function\"");
        let mut function = Object::open(object.key(key!("function")));
        function.string(key!("name"), call.name.as_deref(), Component::Tools);
        match (&call.arguments, call.form) {
            (Arguments::Object(raw) | Arguments::NotObject(raw), ArgumentForm::Embedded) => function
                .key(key!("arguments"))
                .raw_json(raw.as_str(), Component::Tools),
            (arguments, _) => {
                function.string(key!("arguments"), Some(arguments.source_text()), Component::Tools);
            }
        }
        function.close();
        object.close();
    }
    rope.framing("]");
}
