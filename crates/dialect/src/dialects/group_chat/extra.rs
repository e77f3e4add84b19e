//! Fields of messages that the format does not know, and our own in `extra`: addresses and names of media, tools.

use std::borrow::Cow;

use chatmill_model::{ArgumentForm, Arguments, Component, Message, Role, Sink, ToolCall};

use super::pieces::{ADDRESSES, Pieces, holds_address};
use super::{Made, is_native};
use crate::arguments::as_text;
use crate::json_object::{Object, key};
use crate::loss::{LossCode, Losses, reasons};
use crate::view::View;

/// Unknown fields and `extra`, where there is anything to put in.
pub(super) fn write<'a>(
    object: &mut Object<'_, 'a>,
    view: &View<'a>,
    message: &'a Message,
    pieces: &Pieces<'a>,
    made: &Made<'a>,
    losses: &mut Losses,
) {
    let is_native = is_native(view.conversation());
    let mut has_whole_extra = false;
    let mut inside = Vec::new();
    for (key, value) in &message.extra.0 {
        if !is_native && is_taken(key, pieces) {
            losses.at(
                LossCode::ExtraDropped,
                message.position,
                reasons::FIELD_LIKE_THE_FORMATS_OWN,
            );
            continue;
        }
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
        reasons::FORMAT_HAS_NO_MENTIONS,
    );
    let added = Added::of(message, pieces, made, losses);
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
    if pieces.is_system_text() {
        extra.word(key!("role"), "\"system\"");
    }
    if !pieces.calls.is_empty() {
        let list = extra.key(key!("tool_calls"));
        calls(list, view, message, &pieces.calls, made, losses);
    }
    extra.string(key!("tool_call_id"), added.call_id, Component::Meta);
    extra.string(key!("name"), added.name, Component::Tools);
    extra.close();
}

/// Whether a field of another system has a name that means something else here: a field beside `extra`, of a tool, or of a
/// medium.
fn is_taken(key: &str, pieces: &Pieces<'_>) -> bool {
    match key {
        "tool_calls" => pieces.role == Role::Assistant,
        "tool_call_id" | "name" => pieces.role == Role::Tool,
        "role" => pieces.is_system_text(),
        "file_name" | "file_type" => pieces.medium.is_some(),
        _ => key.starts_with('/') || pieces.medium.is_some() && ADDRESSES.contains(&key),
    }
}

/// What our own fields in `extra` hold, apart from calls.
struct Added<'a> {
    url: Option<&'a str>,
    file_name: Option<&'a str>,
    file_type: Option<&'a str>,
    is_system_text: bool,
    call_id: Option<Cow<'a, str>>,
    name: Option<&'a str>,
}

impl<'a> Added<'a> {
    fn of(message: &'a Message, pieces: &Pieces<'a>, made: &Made<'a>, losses: &mut Losses) -> Self {
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
            is_system_text: pieces.is_system_text(),
            call_id: call_id(message, pieces, made, losses),
            name: pieces.result.and_then(|(_, result)| result.name.as_deref()),
        }
    }

    fn is_empty(&self) -> bool {
        !self.is_system_text
            && self.call_id.is_none()
            && [self.url, self.file_name, self.file_type, self.name]
                .iter()
                .all(Option::is_none)
    }
}

/// The id of the call that a message answers. One that answers none names a call that nobody made: without a name it would be
/// taken for the next call's.
fn call_id<'a>(
    message: &'a Message,
    pieces: &Pieces<'a>,
    made: &Made<'a>,
    losses: &mut Losses,
) -> Option<Cow<'a, str>> {
    let (index, result) = pieces.result?;
    let id = made.tools.of_result(message, index, result);
    let id = id.unwrap_or_else(|| made.tools.unused());
    if result.known_id() != Some(id) {
        losses.at(
            LossCode::ToolIdRewritten,
            message.position,
            reasons::RESULT_BEARS_THE_CALLS_ID,
        );
    }
    Some(Cow::Borrowed(id))
}

/// Calls as OpenAI writes them: arguments are text, unless a group chat had them as JSON.
fn calls<'a>(
    sink: &mut Sink<'a>,
    view: &View<'a>,
    message: &'a Message,
    calls: &[(usize, &'a ToolCall)],
    made: &Made<'a>,
    losses: &mut Losses,
) {
    sink.framing("[");
    for (nth, (index, call)) in calls.iter().copied().enumerate() {
        if nth > 0 {
            sink.framing(",");
        }
        let mut object = Object::open(sink);
        let id = made.tools.of_call(message, index);
        object.string(key!("id"), Some(id), Component::Meta);
        object.word(key!("type"), "\"function\"");
        let mut function = Object::open(object.key(key!("function")));
        function.string(key!("name"), call.name.as_deref(), Component::Tools);
        match (&call.arguments, call.form) {
            (Arguments::Object(raw) | Arguments::NotObject(raw), ArgumentForm::Embedded)
                if is_native(view.conversation()) =>
            {
                function
                    .key(key!("arguments"))
                    .raw_json(raw.as_str(), Component::Tools);
            }
            _ => {
                let text = as_text(call, message.position, losses);
                function.string(key!("arguments"), Some(text), Component::Tools);
            }
        }
        function.close();
        object.close();
    }
    sink.framing("]");
}
