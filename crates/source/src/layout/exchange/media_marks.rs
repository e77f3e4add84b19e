//! Media that are listed next to the messages and marked in their text: `<image>`, `<video>`, `<audio>`.
//!
//! Training files of multimodal models have `images` next to `messages`, one for each mark and in the same order. A mark is the
//! place of its picture. A part of type `image` without any other field is a mark, too. Trainers count the marks in turns: in a
//! system text the word is not a mark, unless the turns alone have too few.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, Media, MediaKind, MediaSource, Message, Part, RawJson, Role};

use crate::base::{Notes, drop_extra, media, present, text};

/// Fields with media, the mark in the text, and the kind of media.
const LISTS: [(&str, &str, MediaKind); 6] = [
    ("images", "<image>", MediaKind::Image),
    ("image", "<image>", MediaKind::Image),
    ("videos", "<video>", MediaKind::Video),
    ("video", "<video>", MediaKind::Video),
    ("audios", "<audio>", MediaKind::Audio),
    ("audio", "<audio>", MediaKind::Audio),
];

/// Puts the media of the record's lists in the places of their marks. A list that is used up is removed from `extra`; media without
/// a mark stay there.
pub(crate) fn place(root: Value<'_>, messages: &mut [Message], extra: &mut Extra, notes: &mut Notes) {
    for (field, mark, kind) in LISTS {
        let Some(value) = present(root, field) else {
            continue;
        };
        let Some(media) = media(value, kind) else { continue };
        let is_turn = |message: &Message| message.role != Role::System;
        let [in_turns, in_system] = [true, false].map(|turns| -> usize {
            let of_kind = messages.iter().filter(|message| is_turn(message) == turns);
            of_kind.map(|message| count(message, mark, kind)).sum()
        });
        let are_turns_enough = in_turns == media.len();
        let marks = if are_turns_enough {
            in_turns
        } else {
            in_turns + in_system
        };
        if marks == 0 && media.is_empty() {
            extra.0.retain(|(key, _)| key != field);
            continue;
        }
        if marks != media.len() {
            let text = format!(
                "{field} holds {}, and the messages have {marks} marks for them: those without a mark are kept as they are",
                media.len()
            );
            let finding = Finding::new(&codes::UNPLACED_MEDIA, text);
            notes.push(finding.at_path(format!("$.{field}")), Some(value));
        }
        let unused: Vec<RawJson> = media.iter().skip(marks).map(|(_, raw)| raw.clone()).collect();
        let mut media = media.into_iter().map(|(media, _)| media);
        let marked = messages
            .iter_mut()
            .filter(|message| !are_turns_enough || is_turn(message));
        for message in marked {
            fill(message, mark, kind, &mut media);
        }
        extra.0.retain(|(key, _)| key != field);
        drop_extra(value);
        if !unused.is_empty() {
            let raws: Vec<&str> = unused.iter().map(RawJson::as_str).collect();
            extra
                .0
                .push((field.to_owned(), RawJson(format!("[{}]", raws.join(",")))));
        }
    }
}

/// The media of a field, each with its text in the record; `None` if the field has other elements.
fn media(value: Value<'_>, kind: MediaKind) -> Option<Vec<(Media, RawJson)>> {
    let one = |value: Value<'_>| {
        let raw = RawJson(value.written().to_owned());
        media_item(value, kind).map(|media| (media, raw))
    };
    match value.kind() {
        Kind::Array => value.items().map(one).collect(),
        _ => one(value).map(|media| vec![media]),
    }
}

/// A media item from its address, or from an object with bytes, a path or an address.
fn media_item(value: Value<'_>, kind: MediaKind) -> Option<Media> {
    if let Some(address) = text(Some(value)) {
        return Some(media::located(kind, address, None));
    }
    let name = text(value.get("path"));
    if let Some(bytes) = text(value.get("bytes")) {
        return Some(Media {
            kind,
            source: MediaSource::Inline(bytes),
            media_type: None,
            name,
        });
    }
    let address = text(value.get("url")).or(name)?;
    Some(media::located(kind, address, None))
}

/// Whether a part is a mark for media of this kind.
fn is_open(part: &Part, kind: MediaKind) -> bool {
    matches!(part, Part::Media(media) if media.kind == kind && media.source == MediaSource::Upload && media.name.is_none())
}

fn count(message: &Message, mark: &str, kind: MediaKind) -> usize {
    let marks = message.parts.iter().map(|part| match part {
        Part::Text(text) => text.matches(mark).count(),
        part => usize::from(is_open(part, kind)),
    });
    marks.sum()
}

/// Replaces the marks of a message with media, until there are no more.
fn fill(message: &mut Message, mark: &str, kind: MediaKind, media: &mut impl Iterator<Item = Media>) {
    if count(message, mark, kind) == 0 {
        return;
    }
    let mut parts = Vec::with_capacity(message.parts.len() + 2);
    for part in std::mem::take(&mut message.parts) {
        match part {
            Part::Text(text) => divide(&text, mark, media, &mut parts),
            part if is_open(&part, kind) => parts.push(media.next().map_or(part, Part::Media)),
            part => parts.push(part),
        }
    }
    message.parts = parts;
}

/// Divides a text at its marks, as long as there are media for them.
fn divide(text: &str, mark: &str, media: &mut impl Iterator<Item = Media>, parts: &mut Vec<Part>) {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(mark) {
        plain.push_str(before);
        match media.next() {
            Some(media_item) => {
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(Part::Media(media_item));
            }
            None => plain.push_str(mark),
        }
        rest = after;
    }
    plain.push_str(rest);
    if !plain.is_empty() || text.is_empty() {
        parts.push(Part::Text(plain));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(parts: &[Part]) -> String {
        let shown = parts.iter().map(|part| match part {
            Part::Text(text) => format!("{text:?}"),
            Part::Media(Media {
                source: MediaSource::Url(url),
                ..
            }) => url.clone(),
            _ => "?".to_owned(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn divided(text: &str, media: &[&str]) -> String {
        let mut media = media
            .iter()
            .map(|url| media::located(MediaKind::Image, (*url).to_owned(), None));
        let mut parts = Vec::new();
        divide(text, "<image>", &mut media, &mut parts);
        addresses(&parts)
    }

    #[test]
    fn a_text_is_divided_where_its_marks_stand() {
        assert_eq!(divided("<image>What is it?", &["a"]), r#"a "What is it?""#);
        assert_eq!(
            divided("A <image> or <image>?", &["a", "b"]),
            r#""A " a " or " b "?""#
        );
        assert_eq!(divided("<image><image>", &["a"]), r#"a "<image>""#);
        assert_eq!(divided("no mark", &["a"]), r#""no mark""#);
        assert_eq!(divided("", &[]), r#""""#);
    }
}
