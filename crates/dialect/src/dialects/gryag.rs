//! Facts that only gryag's own records have.

use std::borrow::Cow;

use chatmill_model::{Conversation, RawJson};

use crate::text::json;

/// Whether a conversation was read from one of gryag's own records: its database, or a captured prompt.
pub(crate) fn is_gryags(conversation: &Conversation) -> bool {
    conversation.keeps_fields_of("gryag")
}

/// Returns the id of the chat, and in gryag's own records the id of the thread.
pub(crate) fn chat_and_thread(conversation: &Conversation) -> (Option<&str>, Option<&str>) {
    let id = conversation.source_id.as_deref();
    match id.and_then(|id| id.split_once('/')) {
        Some((chat, thread)) if is_gryags(conversation) => (Some(chat), Some(thread)),
        _ => (id, None),
    }
}

/// Whether a further field belongs to a media item that is an address directly in its part, as in gryag's document; the bot itself stores
/// such media in `file_data`.
pub(crate) fn is_bare_file(field: &str) -> bool {
    field.ends_with(".file_uri")
}

/// Returns the text of a JSON number or string.
pub(crate) fn plain_value(raw: &RawJson) -> Option<Cow<'_, str>> {
    let raw = raw.as_str();
    if raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Some(Cow::Borrowed(raw));
    }
    json::decode_string(raw).map(Cow::Owned)
}
