//! The content of a message: its `content_type` decides the field.

use std::cell::OnceCell;
use std::collections::HashMap;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part};

use crate::base::{Keep as _, Site, Turn, present, text};

/// The nature of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// Text of a message.
    Text,
    /// Custom instructions of the person, or what the program remembers of the person.
    Instruction,
    /// A remark on the time that the model thought.
    Remark,
    /// A failure.
    Failure,
}

/// Types with text in some of their fields: the fields, and the nature of the text.
const TYPES: [(&str, &[&str], Nature); 11] = [
    ("reasoning_recap", &["content"], Nature::Remark),
    ("user_editable_context", &USER_CONTEXT, Nature::Instruction),
    (
        "model_editable_context",
        &["model_set_context"],
        Nature::Instruction,
    ),
    ("code", &["text"], Nature::Text),
    ("execution_output", &["text"], Nature::Text),
    ("system_error", &["name", "text"], Nature::Failure),
    ("tether_quote", &["title", "text"], Nature::Text),
    ("sonic_webpage", &["title", "text"], Nature::Text),
    ("tether_browsing_display", &["result", "summary"], Nature::Text),
    ("tether_browsing_code", &["result", "summary"], Nature::Text),
    ("citable_code_output", &["output_str"], Nature::Text),
];

/// Fields that users wrote about themselves.
const USER_CONTEXT: [&str; 2] = ["user_profile", "user_instructions"];

/// Types that quote a page.
const QUOTATIONS: [&str; 2] = ["tether_quote", "sonic_webpage"];

/// Fields that may contain text, for types that are not known.
const WORDS: [&str; 6] = ["text", "result", "content", "output_str", "summary", "title"];

/// The files listed in the metadata of a message.
pub(super) struct Attachments<'d> {
    list: Option<Value<'d>>,
    /// The first attachment with each id, built by the first search.
    by_id: OnceCell<HashMap<String, Value<'d>>>,
}

impl<'d> Attachments<'d> {
    pub(super) fn of(list: Option<Value<'d>>) -> Self {
        let by_id = OnceCell::new();
        Self { list, by_id }
    }

    fn find(&self, id: &str) -> Option<Value<'d>> {
        let by_id = self.by_id.get_or_init(|| {
            let mut by_id = HashMap::new();
            for listed in self.list.into_iter().flat_map(Value::items) {
                if let Some(id) = text(listed.get("id")) {
                    by_id.entry(id).or_insert(listed);
                }
            }
            by_id
        });
        by_id.get(id).copied()
    }
}

/// Reads the content of a message; `attachments` are what its metadata lists.
pub(super) fn read(content: Value<'_>, attachments: &Attachments<'_>, site: &mut Site<'_>) -> (Nature, Turn) {
    let mut read = Turn::default();
    let word = text(content.get("content_type"));
    let known = TYPES.iter().find(|(known, ..)| Some(*known) == word.as_deref());
    let nature = match (word.as_deref(), known) {
        (None | Some("text" | "multimodal_text"), _) => {
            parts(content, attachments, &mut read, site);
            Nature::Text
        }
        (_, Some((name, fields, nature))) => {
            words(content, fields, &mut read);
            if QUOTATIONS.contains(name) {
                page(content, &mut read);
            }
            *nature
        }
        (Some("thoughts"), _) => {
            thoughts(content, &mut read, site);
            Nature::Text
        }
        (Some("computer_output"), _) => {
            let shot = present(content, "screenshot").and_then(|shot| asset(shot, attachments));
            read.parts.extend(shot.map(Part::Media));
            read.keep_rest(content, "content", &["content_type", "screenshot"]);
            Nature::Text
        }
        _ => {
            let text =
                "the content is of a type that is not known here: its words are read, the rest is kept";
            let place = content.get("content_type").unwrap_or(content);
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".content.content_type", place);
            if present(content, "parts").is_some() {
                parts(content, attachments, &mut read, site);
            } else {
                words(content, &WORDS, &mut read);
            }
            Nature::Text
        }
    };
    if let Some(word) = word.filter(|word| word != "text" && word != "multimodal_text") {
        read.keep_text("content.content_type", &word);
    }
    (nature, read)
}

/// Adds the text of these fields, and keeps everything else unchanged.
fn words(content: Value<'_>, fields: &[&str], read: &mut Turn) {
    let mut known = vec!["content_type"];
    for field in fields {
        if let Some(words) = text(content.get(field)) {
            known.push(field);
            if !words.is_empty() {
                read.parts.push(Part::Text(words));
            }
        }
    }
    read.keep_rest(content, "content", &known);
}

/// The page that a quotation is from.
fn page(content: Value<'_>, read: &mut Turn) {
    if let Some(url) = text(content.get("url")).filter(|url| !url.is_empty()) {
        read.rest.retain(|(path, _)| path != "content.url");
        read.parts.push(Part::Media(Media {
            kind: MediaKind::Link,
            source: MediaSource::Url(url),
            media_type: None,
            name: text(content.get("title")),
        }));
    }
}

fn thoughts(content: Value<'_>, read: &mut Turn, site: &mut Site<'_>) {
    let list = present(content, "thoughts");
    for (index, thought) in list.into_iter().flat_map(Value::items).enumerate() {
        let words = text(thought.get("content")).filter(|words| !words.is_empty());
        let words = words
            .or_else(|| text(thought.get("summary")))
            .or_else(|| text(Some(thought)));
        match words {
            Some(words) => {
                read.parts.push(Part::Reasoning(words));
                let path = format!("content.thoughts[{index}]");
                read.keep_rest(thought, &path, &["content", "finished", "chunks"]);
            }
            None => site.warn(
                &format!("content.thoughts[{index}]"),
                "the thought has no words",
                thought,
            ),
        }
    }
    read.keep_rest(content, "content", &["content_type", "thoughts"]);
}

fn parts(content: Value<'_>, attachments: &Attachments<'_>, read: &mut Turn, site: &mut Site<'_>) {
    let Some(list) = present(content, "parts") else {
        words(content, &["text"], read);
        return;
    };
    if list.kind() != Kind::Array {
        site.warn("content.parts", "parts is not a list", list);
        read.parts.extend(text(Some(list)).map(Part::Text));
    }
    for (index, part) in list.items().enumerate() {
        let path = format!("content.parts[{index}]");
        match part.kind() {
            Kind::String => read
                .parts
                .extend(text(Some(part)).filter(|words| !words.is_empty()).map(Part::Text)),
            Kind::Object => object(part, &path, attachments, read, site),
            Kind::Null => {}
            _ => {
                site.warn(
                    &path,
                    "a part is neither text nor an object and is kept as it is",
                    part,
                );
                read.keep(path, part);
            }
        }
    }
    read.keep_rest(content, "content", &["content_type", "parts"]);
}

fn object(part: Value<'_>, path: &str, attachments: &Attachments<'_>, read: &mut Turn, site: &mut Site<'_>) {
    let word = text(part.get("content_type"));
    let transcript = text(part.get("text"));
    if let Some(media) = asset(part, attachments) {
        read.parts.push(Part::Media(media));
        read.keep_rest(part, path, &["content_type"]);
        return;
    }
    if let (Some("audio_transcription" | "text") | None, Some(transcript)) = (word.as_deref(), transcript) {
        read.parts.push(Part::Text(transcript));
        read.keep_rest(part, path, &["content_type", "text"]);
        return;
    }
    let text = "the part has no form that is known here and is kept as it is";
    site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, format!(".{path}"), part);
    read.keep_reported(path, part);
}

/// Reads an uploaded picture, sound or film. The export names it, and usually contains it as a file.
fn asset(part: Value<'_>, attachments: &Attachments<'_>) -> Option<Media> {
    let word = text(part.get("content_type"))?;
    let (kind, inner) = match word.as_str() {
        "image_asset_pointer" => (MediaKind::Image, None),
        "audio_asset_pointer" => (MediaKind::Audio, None),
        "video_container_asset_pointer" => (MediaKind::Video, None),
        "real_time_user_audio_video_asset_pointer" => {
            (MediaKind::Audio, present(part, "audio_asset_pointer"))
        }
        _ => return None,
    };
    let pointer = text(inner.unwrap_or(part).get("asset_pointer"));
    let id = pointer.as_deref().and_then(|pointer| pointer.rsplit("//").next());
    let listed = id.and_then(|id| attachments.find(id));
    let name = listed.and_then(|listed| text(listed.get("name")));
    let media_type = listed.and_then(|listed| {
        let word = listed.get("mime_type").or_else(|| listed.get("mimeType"));
        text(word).filter(|word| !word.is_empty())
    });
    Some(Media {
        kind,
        source: MediaSource::Upload,
        media_type,
        name: name.or_else(|| id.map(str::to_owned)),
    })
}
