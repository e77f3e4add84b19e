//! Writes pictures by address or as a data URL with their bytes, and files as OpenAI's APIs accept them.

use chatmill_model::{Component, Level, Media, MediaKind, MediaSource, Sink};

use crate::text::media::{carried, file_bytes, inline_bytes, path, picture_type, web_address};
use crate::transcript::turns::{Block, BlockContent};

/// Returns how many facts about a picture are lost; carries pictures with an address, or with bytes of a known type.
pub(crate) fn picture(media: &Media) -> Option<u64> {
    let named = media.name.is_some();
    if media.kind != MediaKind::Image {
        None
    } else if web_address(media).is_some() {
        Some(u64::from(named) + u64::from(media.media_type.is_some()))
    } else {
        (inline_bytes(media).is_some() && picture_type(media).is_some()).then(|| u64::from(named))
    }
}

/// The same, and carries pictures by path, as in training data.
pub(crate) fn picture_or_path(media: &Media) -> Option<u64> {
    let described = u64::from(media.name.is_some()) + u64::from(media.media_type.is_some());
    let has_path = media.kind == MediaKind::Image && path(media).is_some();
    picture(media).or(has_path.then_some(described))
}

/// Writes the address of a picture, or its bytes as a data URL if it has none.
pub(crate) fn picture_address<'a>(sink: &mut Sink<'a>, media: &'a Media) {
    if let Some(address) = web_address(media) {
        sink.json_string(address, Component::Content);
        return;
    }
    let (kind, bytes) = (carried(picture_type(media)), carried(inline_bytes(media)));
    write_data_url(sink, kind, bytes);
}

/// Writes bytes as a data URL, in a JSON string.
pub(crate) fn write_data_url<'a>(sink: &mut Sink<'a>, kind: &'a str, bytes: &'a str) {
    sink.framing("\"data:");
    sink.content(kind, Level::JsonString, Component::Meta);
    sink.framing(";base64,");
    sink.content(bytes, Level::JsonString, Component::Content);
    sink.framing("\"");
}

/// Returns how many facts about a medium are lost; carries pictures, and files as bytes or by the id of their upload.
pub(crate) fn picture_or_file(media: &Media) -> Option<u64> {
    match (file_bytes(media), file_id(media)) {
        (None, None) => picture(media),
        _ => Some(0),
    }
}

/// Returns the id of an uploaded file.
fn file_id(media: &Media) -> Option<&str> {
    let is_file = media.kind == MediaKind::File && media.source == MediaSource::Upload;
    let id = media
        .name
        .as_deref()
        .filter(|_| is_file && media.media_type.is_none())?;
    let rest = id.strip_prefix("file-").or_else(|| id.strip_prefix("file_"))?;
    let is_id = rest.len() >= 8
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    is_id.then_some(id)
}

/// Returns the file in a block, if [`write_file`] can write it.
pub(crate) fn file<'a>(block: &Block<'a>) -> Option<&'a Media> {
    match block.content {
        BlockContent::Media(media, _) if file_bytes(media).is_some() || file_id(media).is_some() => {
            Some(media)
        }
        _ => None,
    }
}

/// Writes the fields of a file: its id, or its name and its bytes as a data URL.
pub(crate) fn write_file<'a>(sink: &mut Sink<'a>, media: &'a Media) {
    if let Some(id) = file_id(media) {
        sink.framing("\"file_id\":");
        return sink.json_string(id, Component::Content);
    }
    if let Some(name) = &media.name {
        sink.framing("\"filename\":");
        sink.json_string(name.as_str(), Component::Content);
        sink.framing(",");
    }
    sink.framing("\"file_data\":");
    let (kind, bytes) = carried(file_bytes(media));
    write_data_url(sink, kind, bytes);
}
