//! Files: those in the attachments of a message, and rows of the table of files.

use std::ops::Range;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource};

use super::event::{Attachment, Event, Speaker};
use super::times;
use crate::base::{Site, Times, fields, kind_of, left, raw, reply_to, word, words};

/// Fields of an attachment that have a place in the model.
const TAKEN: [&str; 3] = ["filename", "mimeType", "blobUrl"];

/// Fields of a row of the table that name its owner.
const OWNED: [&str; 6] = words!(projectId messageId uploadedBy uploaderName createdAt id);

/// Reads the field `attachments`; `None` when it is not a list.
pub(super) fn list(value: Value<'_>, site: &mut Site<'_>) -> Option<Vec<Attachment>> {
    if value.kind() != Kind::Array {
        let text = "attachments is not a list and is kept as it is";
        site.error("attachments", text, value);
        return None;
    }
    let mut attachments = Vec::new();
    for (index, file) in value.items().enumerate() {
        if file.kind() == Kind::Object {
            attachments.push(attachment(file, &format!("attachments[{index}]."), &[], site));
        } else {
            let text = "an attachment is not an object and is left out";
            site.error(&format!("attachments[{index}]"), text, file);
        }
    }
    Some(attachments)
}

/// Reads a row of the table as a separate event, which points to the message of the file if that is known.
pub(super) fn upload(
    body: Value<'_>,
    (row, span): (u32, Range<usize>),
    clock: &mut Times,
    site: &mut Site<'_>,
) -> Event {
    let present = |key: &str| fields::present(body, key);
    let mut file = attachment(body, "", &OWNED, site);
    if let Some(id) = present("id") {
        file.rest.insert(0, (".id".to_owned(), raw(id)));
    }
    Event {
        row,
        span,
        word: Some("attachment".to_owned()),
        speaker: Speaker {
            account: present("uploadedBy").and_then(fields::id),
            name: word(present("uploaderName"), "uploaderName", site),
            ..Speaker::default()
        },
        time: present("createdAt").and_then(|time| times::read(clock, time, "createdAt", site)),
        reference: present("messageId").and_then(fields::id).map(reply_to),
        attachments: vec![file],
        ..Event::default()
    }
}

fn attachment(file: Value<'_>, place: &str, known: &[&str], site: &mut Site<'_>) -> Attachment {
    let mut field = |key: &str| word(file.get(key), &format!("{place}{key}"), site);
    let (name, media_type, url) = (field("filename"), field("mimeType"), field("blobUrl"));
    if url.is_none() {
        let text = "the attachment has no address";
        site.note(&codes::SPARED_FIELD, text, format!(".{place}blobUrl"), file);
    }
    let rest = file
        .fields()
        .filter(|(key, value)| !TAKEN.contains(&&**key) && !known.contains(&&**key) && !value.is_null())
        .map(|(key, value)| (format!(".{key}"), left(value)))
        .collect();
    Attachment {
        media: Media {
            kind: kind_of(media_type.as_deref()).unwrap_or(MediaKind::File),
            source: url.map_or(MediaSource::Upload, MediaSource::Url),
            media_type,
            name,
        },
        rest,
    }
}
