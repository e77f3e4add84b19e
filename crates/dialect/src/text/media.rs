//! Media in text: the markers that archives write, and the placeholders of media that a dialect cannot carry.

use std::borrow::Cow;

use chatmill_model::{Media, MediaKind, MediaSource};

use crate::text::edit::is_script_space;

/// Whether an address is a web address.
pub(crate) fn is_web_address(url: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
}

/// Returns the web address of a media item, if it has one.
pub(crate) fn web_address(media: &Media) -> Option<&str> {
    match &media.source {
        MediaSource::Url(url) if is_web_address(url) => Some(url),
        _ => None,
    }
}

/// Returns the path of a media item: an address without a scheme, or with `file://`.
pub(crate) fn path(media: &Media) -> Option<&str> {
    let MediaSource::Url(url) = &media.source else {
        return None;
    };
    let has_scheme = url.split_once(':').is_some_and(|(scheme, _)| {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        // A scheme of one letter is a drive.
        scheme.len() > 1 && scheme.bytes().all(is_sign)
    });
    let is_path = !url.trim().is_empty() && !has_scheme || url.starts_with("file://");
    is_path.then_some(url)
}

/// Returns the base64 text of a media item, if its bytes are in the record.
pub(crate) fn inline_bytes(media: &Media) -> Option<&str> {
    match &media.source {
        MediaSource::Inline(text) if is_base64(text) => Some(text),
        _ => None,
    }
}

/// Returns the value with which a carried medium is written. A pass has checked that it is there: a missing value is a bug and panics at
/// the place of the caller.
#[track_caller]
#[expect(clippy::expect_used, reason = "a pass names every medium that is not carried")]
pub(crate) fn carried<T>(found: Option<T>) -> T {
    found.expect("a medium that is carried has an address or bytes of a known type")
}

/// Whether a text is padded base64 of at least one byte.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    !digits.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - digits.len() <= 2
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

/// Returns the type of a picture if every vendor accepts it; `image/jpg` counts as `image/jpeg`.
pub(crate) fn picture_type(media: &Media) -> Option<&'static str> {
    match media.media_type.as_deref()? {
        "image/png" => Some("image/png"),
        "image/jpeg" | "image/jpg" => Some("image/jpeg"),
        "image/gif" => Some("image/gif"),
        "image/webp" => Some("image/webp"),
        _ => None,
    }
}

/// The media types that training files may contain as bytes, with the file extension of each.
pub const MEDIA_FILES: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/jpg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("audio/mpeg", "mp3"),
    ("audio/mp3", "mp3"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/ogg", "ogg"),
    ("audio/flac", "flac"),
    ("audio/mp4", "m4a"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
    ("video/quicktime", "mov"),
];

/// Returns the type and the base64 text of a media item, if [`MEDIA_FILES`] lists the type and it matches the kind of the item.
pub(crate) fn bytes_of_kind(media: &Media) -> Option<(&'static str, &str)> {
    let kind = media.media_type.as_deref()?;
    let (kind, _) = MEDIA_FILES.iter().find(|(known, _)| *known == kind)?;
    (kind_of_type(Some(kind)) == media.kind).then_some((kind, inline_bytes(media)?))
}

/// Returns the kind of media of a MIME type; a file if the type is missing or another one.
pub(crate) fn kind_of_type(media_type: Option<&str>) -> MediaKind {
    match media_type.and_then(|media_type| media_type.split_once('/')) {
        Some(("image", _)) => MediaKind::Image,
        Some(("audio", _)) => MediaKind::Audio,
        Some(("video", _)) => MediaKind::Video,
        _ => MediaKind::File,
    }
}

/// Returns the capitalised word for a kind.
pub(crate) const fn word(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "Image",
        MediaKind::Audio => "Audio",
        MediaKind::Video => "Video",
        MediaKind::File => "File",
        MediaKind::Link => "Link",
    }
}

/// Returns the mark in a text for a medium that itself is in a list of the record.
pub(crate) const fn mark(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "<image>",
        MediaKind::Audio => "<audio>",
        MediaKind::Video => "<video>",
        MediaKind::File => "<file>",
        MediaKind::Link => "<link>",
    }
}

/// Returns the text of a plain-text document.
pub(crate) fn document_text(media: &Media) -> Option<&str> {
    match &media.source {
        MediaSource::Text(text) => Some(text),
        _ => None,
    }
}

/// Returns the type and the base64 bytes of a file.
pub(crate) fn file_bytes(media: &Media) -> Option<(&str, &str)> {
    let media_type = media.media_type.as_deref().filter(|kind| kind.contains('/'))?;
    let bytes = inline_bytes(media).filter(|_| media.kind == MediaKind::File)?;
    Some((media_type, bytes))
}

/// Appends a line to a text.
pub(crate) fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// Returns `[Video: name]`, with the address if there is no name, or `[Video]` if there is neither. For a document, returns title and text.
pub(crate) fn placeholder(media: &Media) -> String {
    let address = match &media.source {
        MediaSource::Url(url) => Some(url.as_str()),
        MediaSource::Text(text) => {
            return match media.name.as_deref().filter(|name| !name.is_empty()) {
                Some(title) => format!("{title}\n\n{text}"),
                None => text.clone(),
            };
        }
        MediaSource::Inline(_) | MediaSource::Upload => None,
    };
    let word = word(media.kind);
    match media.name.as_deref().filter(|name| !name.is_empty()).or(address) {
        Some(label) => format!("[{word}: {label}]"),
        None => format!("[{word}]"),
    }
}

/// A text without its markers, and the addresses in them.
pub(crate) struct Unmarked<'a> {
    /// The text without its markers.
    pub(crate) text: Cow<'a, str>,
    /// The kind and address of each marker, in order.
    pub(crate) found: Vec<(MediaKind, &'a str)>,
    /// Number of markers of embedded pictures that were removed, too.
    pub(crate) stripped: u64,
}

/// Removes `[Image: http…]` and `[Audio: http…]` from a text, and with `embeds` also `[Embed Image: http…]` and `[Embed Thumbnail: http…]`.
/// Text that does not match exactly stays.
pub(crate) fn take_markers(text: &str, embeds: bool) -> Unmarked<'_> {
    let mut out: Option<String> = None;
    let mut found = Vec::new();
    let mut stripped = 0;
    let mut uncopied = text;
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('[') {
        rest = after;
        if let Some((kind, url, tail)) = marker(after, embeds) {
            let before = uncopied.len() - after.len() - 1;
            out.get_or_insert_default().push_str(uncopied.split_at(before).0);
            match kind {
                Some(kind) => found.push((kind, url)),
                None => stripped += 1,
            }
            uncopied = tail;
            rest = tail;
        }
    }
    let text = match out {
        None => Cow::Borrowed(text),
        Some(mut out) => {
            out.push_str(uncopied);
            Cow::Owned(out)
        }
    };
    Unmarked {
        text,
        found,
        stripped,
    }
}

/// Reads a marker after its opening bracket. Returns the kind (`None` for an embedded picture), the address and the text after the marker.
fn marker(text: &str, embeds: bool) -> Option<(Option<MediaKind>, &str, &str)> {
    const MARKERS: [(&str, Option<MediaKind>); 4] = [
        ("Image: ", Some(MediaKind::Image)),
        ("Audio: ", Some(MediaKind::Audio)),
        ("Embed Image: ", None),
        ("Embed Thumbnail: ", None),
    ];
    let (kind, rest) = MARKERS
        .into_iter()
        .filter(|(_, kind)| embeds || kind.is_some())
        .find_map(|(word, kind)| Some((kind, text.strip_prefix(word)?)))?;
    let end = rest.find(|character| character == ']' || is_script_space(character))?;
    let (url, tail) = rest.split_at(end);
    let tail = tail.strip_prefix(']')?;
    is_web_address(url).then_some((kind, url, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> (String, Vec<(MediaKind, &str)>) {
        let unmarked = take_markers(text, false);
        (unmarked.text.into_owned(), unmarked.found)
    }

    #[test]
    fn markers_are_taken_out_and_spaces_stay() {
        assert_eq!(
            taken("a [Image: https://e.com/1.png] b [Audio: http://e.com/2] c"),
            (
                "a  b  c".to_owned(),
                vec![
                    (MediaKind::Image, "https://e.com/1.png"),
                    (MediaKind::Audio, "http://e.com/2")
                ]
            )
        );
    }

    #[test]
    fn an_address_stops_at_the_first_bracket() {
        assert_eq!(
            taken("x [Image: https://e.com/a]b.png]"),
            ("x b.png]".to_owned(), vec![(MediaKind::Image, "https://e.com/a")])
        );
    }

    #[test]
    fn a_marker_may_stand_inside_brackets() {
        assert_eq!(
            taken("[[Image: https://e.com/a]]"),
            ("[]".to_owned(), vec![(MediaKind::Image, "https://e.com/a")])
        );
    }

    #[test]
    fn what_the_pattern_does_not_match_stays() {
        for text in [
            "[Image: ftp://e.com/1.png]",
            "[Image:https://e.com/1.png]",
            "[image: https://e.com/1.png]",
            "[Image: https://]",
            "[Image: https://e.com/a b]",
            "[Image: https://e.com/a",
        ] {
            assert_eq!(taken(text), (text.to_owned(), vec![]));
        }
    }

    #[test]
    fn only_base64_counts_as_bytes() {
        for (text, is_bytes) in [
            ("aGk=", true),
            ("aGkh", true),
            ("aGk", false),
            ("====", false),
            ("", false),
            ("data:image/png;base64,aGk=", false),
        ] {
            assert_eq!(is_base64(text), is_bytes, "{text}");
        }
    }

    #[test]
    fn a_placeholder_names_the_medium_or_its_address() {
        let mut media = Media {
            kind: MediaKind::Video,
            source: MediaSource::Url("https://e.com/v.mp4".to_owned()),
            media_type: None,
            name: Some("tour.mp4".to_owned()),
        };
        assert_eq!(placeholder(&media), "[Video: tour.mp4]");
        media.name = None;
        assert_eq!(placeholder(&media), "[Video: https://e.com/v.mp4]");
        media.source = MediaSource::Upload;
        assert_eq!(placeholder(&media), "[Video]");
        media.source = MediaSource::Text("Rock.".to_owned());
        assert_eq!(placeholder(&media), "Rock.");
        media.name = Some("Moon".to_owned());
        assert_eq!(placeholder(&media), "Moon\n\nRock.");
    }
}
