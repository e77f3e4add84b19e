//! Attachments: what `type` says a message carries, where its bytes are, and what `extra` knows of it.

use chatmill_intake::json::Value;
use chatmill_model::{Media, MediaKind, MediaSource};

/// Fields of `extra` that hold an address, the preferred one first.
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

/// Whether a content is one web address and nothing else.
pub(super) fn is_lone_url(content: &str) -> bool {
    let rest = content
        .strip_prefix("https://")
        .or_else(|| content.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

/// The media item of a message; `address` is its content, where that is a lone URL.
pub(super) fn media_item(kind: MediaKind, address: Option<String>, extra: Option<Value<'_>>) -> Media {
    let mut name = None;
    let mut media_type = None;
    let mut listed: Option<(usize, String)> = None;
    for (key, value) in extra.iter().flat_map(|extra| extra.fields()) {
        let Some(text) = value.string().filter(|text| !text.is_empty()) else {
            continue;
        };
        match &*key {
            "file_name" => name = Some(text.into_owned()),
            "file_type" if text.contains('/') => media_type = Some(text.into_owned()),
            other => {
                let rank = ADDRESSES.iter().position(|address| *address == other);
                if let Some(rank) = rank
                    && listed.as_ref().is_none_or(|(best, _)| rank <= *best)
                {
                    listed = Some((rank, text.into_owned()));
                }
            }
        }
    }
    let source = match address.or(listed.map(|(_, url)| url)) {
        Some(url) => MediaSource::Url(url),
        None => MediaSource::Upload,
    };
    Media {
        kind,
        source,
        media_type,
        name,
    }
}
