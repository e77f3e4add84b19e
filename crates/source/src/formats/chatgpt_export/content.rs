//! The content of a message: its `content_type` decides which fields have the text.
//!
//! [`read`] is called for each message. It returns the parts of the message and its extra fields in a [`Turn`], and the [`Nature`] of its text.

use std::cell::OnceCell;
use std::collections::HashMap;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part};

use crate::base::{Keep as _, Site, Turn, present, text};

/// The nature of the text in a content, which decides the role or the kind of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    /// Text that the author of the message wrote.
    Text,
    /// Custom instructions of the user, or what the program remembers about the user: the message becomes system text.
    Instruction,
    /// How long the model thought: the message becomes a notice.
    Remark,
    /// An error of a tool: the result is a failure.
    Failure,
}

/// Content types that have their text in certain fields: the type, the fields, and the nature of the text.
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

/// Fields of `user_editable_context`: what users wrote about themselves, and their instructions.
const USER_CONTEXT: [&str; 2] = ["user_profile", "user_instructions"];

/// Types that quote a web page, the address of which becomes a link.
const QUOTATIONS: [&str; 2] = ["tether_quote", "sonic_webpage"];

/// Fields that may contain text, for unknown types.
const WORDS: [&str; 6] = ["text", "result", "content", "output_str", "summary", "title"];

/// The files that the metadata of a message lists, found by id.
pub(super) struct Attachments<'d> {
    list: Option<Value<'d>>,
    /// The attachments by id, the first of each; built when an attachment is looked up for the first time.
    by_id: OnceCell<HashMap<String, Value<'d>>>,
}

impl<'d> Attachments<'d> {
    /// Creates the attachments from the list in the metadata, if there is one.
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

/// Reads the content of a message; `attachments` are those in its metadata.
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

/// Adds the text of these fields to the parts, and all other fields to the extra fields.
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

/// Adds the address of the quoted page as a link, in place of the extra field.
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

/// Adds each thought as reasoning.
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

/// Reads the list `parts`, the elements of which are texts or objects.
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

/// Reads a part that is an object: media, or the text of a spoken message.
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

/// Reads an uploaded picture, sound or film. The record has a pointer that ends with the id of a file; the attachment with this id has its
/// name and media type. The bytes are in another file of the export, or missing, and are not read.
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
