//! Pictures by their address, or as a data URL that holds their bytes.

use chatmill_model::{Component, Level, Media, MediaKind, Sink};

use crate::media::{inline_bytes, picture_type, web_address};

/// A picture goes by its address or as bytes of a known type; gives how many facts about it are lost.
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

/// Writes the address of a picture; its bytes as a data URL where it has none.
pub(crate) fn picture_address<'a>(sink: &mut Sink<'a>, media: &'a Media) {
    if let Some(address) = web_address(media) {
        sink.json_string(address, Component::Content);
        return;
    }
    sink.framing("\"data:");
    let kind = picture_type(media).unwrap_or_default();
    sink.content(kind, Level::JsonString, Component::Meta);
    sink.framing(";base64,");
    let bytes = inline_bytes(media).unwrap_or_default();
    sink.content(bytes, Level::JsonString, Component::Content);
    sink.framing("\"");
}
