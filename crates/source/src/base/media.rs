//! Media and results among the parts of a message, shared by all grammars.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, RawJson, Role, ToolResult};

use super::text_of;

/// A file that is outside the record, or missing: only its kind is known, and its name if the text has it.
pub(crate) fn upload(kind: MediaKind, name: Option<String>) -> Part {
    Part::Media(Media {
        kind,
        source: MediaSource::Upload,
        media_type: None,
        name,
    })
}

/// Adds a placeholder to a user's message without known parts, because otherwise the turns before and after would merge into one. The
/// placeholder is a file of unknown type.
pub(crate) fn hold_place(role: Role, parts: &mut Vec<Part>, rest: &[(String, RawJson)]) {
    let has_unread_element = || rest.iter().any(|(path, _)| path.ends_with(']'));
    if role == Role::User && parts.is_empty() && has_unread_element() {
        parts.push(upload(MediaKind::File, None));
    }
}

/// The kind of media of a MIME type.
pub(crate) fn kind_of(media_type: Option<&str>) -> Option<MediaKind> {
    let (family, _) = media_type?.split_once('/')?;
    Some(match family {
        "image" => MediaKind::Image,
        "audio" => MediaKind::Audio,
        "video" => MediaKind::Video,
        _ => MediaKind::File,
    })
}

/// A media item at an address; a plain base64 data URL is stored as its bytes.
pub(crate) fn located(kind: MediaKind, url: String, name: Option<String>) -> Media {
    let (source, media_type) = match inline(&url) {
        Some((media_type, bytes)) => (MediaSource::Inline(bytes.to_owned()), Some(media_type.to_owned())),
        None => (MediaSource::Url(url), None),
    };
    Media {
        kind,
        source,
        media_type,
        name,
    }
}

/// The beginnings of pictures in base64, with their types.
const PICTURES: [(&str, &str); 4] = [
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
];

/// A picture as its base64 or its address. What is neither a known beginning nor like an address is base64, too.
pub(crate) fn picture(text: String) -> Media {
    let found = PICTURES.iter().find(|(start, _)| text.starts_with(start));
    if found.is_none() && text.contains([':', '.']) {
        return located(MediaKind::Image, text, None);
    }
    Media {
        kind: MediaKind::Image,
        source: MediaSource::Inline(text),
        media_type: found.map(|(_, media_type)| (*media_type).to_owned()),
        name: None,
    }
}

/// Type and bytes of a data URL of the form `data:TYPE;base64,BYTES`.
fn inline(url: &str) -> Option<(&str, &str)> {
    let (media_type, bytes) = url.strip_prefix("data:")?.split_once(";base64,")?;
    (media_type.contains('/') && !media_type.contains([';', ','])).then_some((media_type, bytes))
}

/// The part of an event, which no participant wrote.
pub(crate) fn as_notice(part: Part) -> Part {
    match part {
        Part::Text(text) => Part::Notice(text),
        other => other,
    }
}

/// The content of a result.
#[derive(Debug, Default)]
pub(crate) struct ResultText {
    /// Its texts, joined by line breaks.
    pub text: String,
    /// The number of texts after the first.
    pub joined: u32,
    /// Whether the source has JSON instead of text.
    pub is_json: bool,
}

impl ResultText {
    /// The content of several texts, in order.
    pub(crate) fn of(texts: &[String]) -> Self {
        Self {
            text: texts.join("\n"),
            joined: u32::try_from(texts.len().saturating_sub(1)).unwrap_or(u32::MAX),
            is_json: false,
        }
    }

    /// A text, or the JSON text of anything else.
    pub(crate) fn of_value(value: Value<'_>) -> Self {
        Self {
            text: text_of(value),
            is_json: value.kind() == Kind::Object,
            ..Self::default()
        }
    }
}

impl From<String> for ResultText {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// Divides parts into the texts, and everything else in order.
pub(crate) fn divided(parts: Vec<Part>) -> (ResultText, Vec<Part>) {
    let mut texts: Vec<String> = Vec::new();
    let mut others = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text),
            other => others.push(other),
        }
    }
    (ResultText::of(&texts), others)
}

/// The number of parts after a tool's result that are its media.
pub(crate) fn media_of_answer(others: &[Part]) -> u32 {
    others
        .iter()
        .take_while(|part| matches!(part, Part::Media(_)))
        .count() as u32
}

/// The parts for the content of a tool's message: its texts are a result, and everything else follows.
pub(crate) fn answer(content: Vec<Part>, call_id: Option<String>, name: Option<String>) -> Vec<Part> {
    let result = ToolResult {
        call_id,
        name,
        ..ToolResult::default()
    };
    result_of(result, divided(content))
}

/// A result with this content, and the parts that follow it.
pub(crate) fn result_of(result: ToolResult, (answer, others): (ResultText, Vec<Part>)) -> Vec<Part> {
    let result = ToolResult {
        content: answer.text,
        joined: answer.joined,
        is_json: answer.is_json,
        media: media_of_answer(&others),
        ..result
    };
    std::iter::once(Part::ToolResult(result)).chain(others).collect()
}
