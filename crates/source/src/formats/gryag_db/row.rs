//! Reads one row by itself: role, text, attachment, columns without a place, and whether its reply is real.

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, Role};

use super::cells::{DERIVED, KNOWN, cell, is_of_2026, is_queried, is_yes, row_id, scalar};
use crate::base::{ExtraFields, Keep as _, Site, Turn, present, raw};
use crate::formats::gemini_contents::meta::Meta;

/// The role of a message. The column `role` decides; a contradicting `sender_role` is a finding.
pub(super) fn role(row: Value<'_>, site: &mut Site<'_>) -> Role {
    if is_of_2026(row) {
        return match cell(row, "is_bot_reply") {
            Some(cell) if is_yes(&cell) => Role::Assistant,
            _ => Role::User,
        };
    }
    let Some(value) = present(row, "role") else {
        site.empty("role");
        return Role::User;
    };
    let Some(role) = value.as_str().and_then(|word| known_role(&word)) else {
        let text = "the role is none of the known words: the row is read as a user's";
        site.error("role", text, value);
        return Role::User;
    };
    if let Some(of_sender) = row.get("sender_role")
        && let Some(word) = of_sender.as_str()
        && known_role(&word) != Some(role)
    {
        let text = "sender_role contradicts role, which counts";
        site.note(&codes::ROLE_CONFLICT, text, ".sender_role", of_sender);
    }
    role
}

fn known_role(word: &str) -> Option<Role> {
    match word {
        "model" => Some(Role::Assistant),
        word => word.parse().ok(),
    }
}

/// The columns that have no place in the model: the row's own id, unknown columns, and lists in columns of text.
pub(super) fn columns(row: Value<'_>, site: &mut Site<'_>) -> ExtraFields {
    let own_id = row_id(row);
    if cell(row, own_id).is_none() && !is_queried(row) {
        site.empty(own_id);
    }
    site.repeated_keys(row, |_| false);
    let mut extra = ExtraFields::new();
    for (key, value) in row.fields() {
        let key = &*key;
        let is_plain = !matches!(value.kind(), Kind::Array | Kind::Object);
        let has_use = match key {
            _ if value.is_null() || DERIVED.contains(&key) => false,
            "media" | "metadata" => false,
            _ if key == own_id || !KNOWN.contains(&key) => true,
            _ if is_plain => false,
            "ts" | "created_at" => true,
            _ => {
                let text = "the column holds a list or an object and is kept as it is";
                site.error(key, text, value);
                true
            }
        };
        if has_use {
            extra.keep(key, value);
        }
    }
    extra
}

/// Adds the text of the row, unless it only counts the attachments: the bot stores such a text for messages without
/// words.
pub(super) fn text(row: Value<'_>, has_attachments: bool, content: &mut Turn, site: &mut Site<'_>) {
    let Some((value, text)) = row.get("text").and_then(|value| Some((value, scalar(value)?))) else {
        return;
    };
    if value.kind() != Kind::String {
        let message = "the text is not a string and is read as written";
        site.warn("text", message, value);
    }
    if has_attachments && counts_attachments(&text) {
        content.rest.push(("text".to_owned(), raw(value)));
    } else {
        content.parts.push(Part::Text(text.into_owned()));
    }
}

/// Whether a text is the bot's count of attachments: `Прикріплення: фото, 2 відео`.
fn counts_attachments(text: &str) -> bool {
    const KINDS: [&str; 4] = ["фото", "відео", "аудіо", "YouTube відео"];
    text.strip_prefix("Прикріплення: ").is_some_and(|list| {
        list.split(", ").all(|one| {
            let kind = one.trim_start_matches(|character: char| character.is_ascii_digit());
            let counted = kind.strip_prefix(' ').filter(|_| kind.len() < one.len());
            KINDS.contains(&counted.unwrap_or(kind))
        })
    })
}

/// Kinds of attachments, by the first letters of the words for them.
const KINDS: [(&str, MediaKind); 7] = [
    ("image", MediaKind::Image),
    ("photo", MediaKind::Image),
    ("sticker", MediaKind::Image),
    ("video", MediaKind::Video),
    ("animation", MediaKind::Video),
    ("audio", MediaKind::Audio),
    ("voice", MediaKind::Audio),
];

/// Adds the attachment that rows of 2026 describe by its kind and Telegram's id of the file.
pub(super) fn attachment(row: Value<'_>, content: &mut Turn) {
    let word = cell(row, "media_type");
    let file = cell(row, "file_id");
    if word.is_none() && file.is_none() {
        return;
    }
    let media_type = word.as_deref().filter(|word| word.contains('/'));
    if media_type.is_none()
        && let Some(value) = present(row, "media_type")
    {
        content.keep("media_type", value);
    }
    let mut kinds = KINDS.iter();
    let kind = kinds.find(|(start, _)| word.as_deref().is_some_and(|word| word.starts_with(start)));
    content.parts.push(Part::Media(Media {
        kind: kind.map_or(MediaKind::File, |(_, kind)| *kind),
        source: MediaSource::Upload,
        media_type: media_type.map(str::to_owned),
        name: file.map(std::borrow::Cow::into_owned),
    }));
}

/// Whether the bot made the reply up: if nobody replied, rows of 2025 name the latest message of the room, but not its
/// author.
pub(super) fn is_pseudo_reply(row: Value<'_>, role: Role, meta: &Meta) -> bool {
    role == Role::User
        && !is_of_2026(row)
        && meta.get("reply_to_message_id").is_some()
        && meta.get("reply_to_user_id").is_none()
        && meta.get("reply_to_username").is_none()
}

/// A hash of a row without its own id and computed columns.
pub(super) fn fingerprint(row: Value<'_>) -> blake3::Hash {
    let own_id = row_id(row);
    let mut hasher = blake3::Hasher::new();
    for (key, value) in row.fields() {
        if key != own_id && !DERIVED.contains(&&*key) {
            hasher.update(key.as_bytes());
            hasher.update(b"\0");
            hasher.update(value.written().as_bytes());
            hasher.update(b"\0");
        }
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::counts_attachments;

    #[test]
    fn a_count_of_attachments_differs_from_a_text() {
        for text in [
            "Прикріплення: фото",
            "Прикріплення: 2 фото, YouTube відео",
            "Прикріплення: фото, 2 відео, аудіо",
        ] {
            assert!(counts_attachments(text), "{text}");
        }
        for text in [
            "Прикріплення: ",
            "Прикріплення: фото і кіт",
            "фото",
            "Прикріплення: 2фотоапарати",
        ] {
            assert!(!counts_attachments(text), "{text}");
        }
    }
}
