//! Attachments: the kind by `type`, the address of the bytes, and further data in `extra`.

use std::borrow::Cow;

use chatmill_intake::json::Value;
use chatmill_model::{Media, MediaKind, MediaSource};

/// Fields of `extra` that contain an address, the preferred one first.
const ADDRESSES: [&str; 6] = ["url", "file_url", "image_url", "audio_url", "video_url", "link"];

/// The kind of media that a message type names.
pub(super) fn kind(word: &str) -> Option<MediaKind> {
    match word {
        "image" => Some(MediaKind::Image),
        "audio" => Some(MediaKind::Audio),
        "video" => Some(MediaKind::Video),
        "file" => Some(MediaKind::File),
        "link" => Some(MediaKind::Link),
        _ => None,
    }
}

/// Whether a content is only one web address.
pub(super) fn is_lone_url(content: &str) -> bool {
    let rest = content
        .strip_prefix("https://")
        .or_else(|| content.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

/// The media item of a message; `address` is its content, if that is only a URL.
pub(super) fn media_item(kind: MediaKind, address: Option<String>, extra: Option<Value<'_>>) -> Media {
    let field = |key: &str| {
        let values = extra?.fields().filter(|(name, _)| name == key);
        let texts = values.filter_map(|(_, value)| value.string());
        texts.filter(|text| !text.is_empty()).last()
    };
    let listed = || ADDRESSES.into_iter().find_map(field).map(Cow::into_owned);
    let source = match address.or_else(listed) {
        Some(url) => MediaSource::Url(url),
        None => MediaSource::Upload,
    };
    Media {
        kind,
        source,
        media_type: field("file_type")
            .filter(|word| word.contains('/'))
            .map(Cow::into_owned),
        name: field("file_name").map(Cow::into_owned),
    }
}
