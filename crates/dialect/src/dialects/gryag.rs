//! What gryag's own records have that others have not.

use std::borrow::Cow;

use chatmill_model::{Conversation, RawJson};

use crate::text::json;

/// Whether a conversation was read from one of gryag's own records: its database, or a captured prompt.
pub(crate) fn is_gryags(conversation: &Conversation) -> bool {
    conversation.keeps_fields_of("gryag")
}

/// The chat of a conversation, and in gryag's own records its thread.
pub(crate) fn chat_and_thread(conversation: &Conversation) -> (Option<&str>, Option<&str>) {
    let id = conversation.source_id.as_deref();
    match id.and_then(|id| id.split_once('/')) {
        Some((chat, thread)) if is_gryags(conversation) => (Some(chat), Some(thread)),
        _ => (id, None),
    }
}

/// Whether a further field states that a media item stood bare in its part, by address, as gryag's document writes it; the bot itself
/// stores such media in `file_data`.
pub(crate) fn is_bare_file(field: &str) -> bool {
    field.ends_with(".file_uri")
}

/// The text of a JSON number or string.
pub(crate) fn plain_value(raw: &RawJson) -> Option<Cow<'_, str>> {
    let raw = raw.as_str();
    if raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Some(Cow::Borrowed(raw));
    }
    json::decode_string(raw).map(Cow::Owned)
}
