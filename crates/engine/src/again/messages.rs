//! Messages read from the table `messages`, and the columns that the table of alternatives shares with it.

use std::collections::HashMap;

use chatmill_dataset::{Batch, DatasetError, Numbers, Reals, TextLists, Texts, Times, columns};
use chatmill_intake::json::{self, Kind};
use chatmill_model::{
    ArgumentForm, Arguments, Conversation, Media, MediaKind, MediaSource, Message, MessageOrigin,
    OffsetOrigin, Part, Participant, RawJson, Role, Timestamp, ToolCall, ToolResult, Weight,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::stored::{fields, parsed, word};

columns! {
    /// Cells that messages and answers beside them have.
    pub(super) struct CommonColumns with batch: Batch {
        conversation_id: Texts,
        message_id: Texts,
        sender_id: Texts,
        sender_name: Texts,
        role: Texts,
        kind: Texts,
        text: Texts,
        parts: Texts,
        model: Texts,
        extra: Texts,
    }

    /// Cells of `messages`.
    pub(super) struct MessageColumns with common: CommonColumns {
        position: Numbers,
        source_type: Texts,
        created_at: Times,
        created_at_raw: Texts,
        mentions: TextLists,
        weight: Reals,
        byte_start: Numbers,
    }
}

impl CommonColumns {
    /// A message whose sender `find` gives by id; its parts are as deep as `depth` allows.
    pub(super) fn message(
        &self,
        row: usize,
        participants: &[Participant],
        find: &dyn Fn(&str) -> Option<usize>,
        depth: u32,
    ) -> Result<Message, DatasetError> {
        let owned = |texts: &Texts| texts.get(row).map(str::to_owned);
        let role: Role = word(self.role.at(row), &self.batch)?;
        let sender = self.sender_id.get(row).and_then(find);
        let listed = sender.and_then(|index| participants.get(index));
        let listed = listed.and_then(|participant| participant.name.as_deref());
        Ok(Message {
            id: owned(&self.message_id),
            sender,
            // The column holds the name of the roster where the message gives none.
            sender_name: owned(&self.sender_name).filter(|name| listed != Some(name)),
            kind: word(self.kind.at(row), &self.batch)?,
            parts: match self.parts.get(row) {
                None => vec![Part::Text(self.text.at(row).to_owned())],
                Some(json) => parts(json, depth, &self.batch)?,
            },
            model: self.model.get(row).map(Box::from),
            extra: fields(self.extra.get(row), &self.batch)?,
            ..Message::new(role, 0, MessageOrigin::default())
        })
    }
}

impl MessageColumns {
    pub(super) fn message(
        &self,
        row: usize,
        participants: &HashMap<String, usize>,
        conversation: &Conversation,
        depth: u32,
    ) -> Result<Message, DatasetError> {
        let position = u32::try_from(self.position.at(row)).unwrap_or(u32::MAX);
        if position as usize != conversation.messages.len() {
            return Err(self.common.batch.corrupt("its messages are not in order"));
        }
        let find = |id: &str| participants.get(id).copied();
        let message = self
            .common
            .message(row, &conversation.participants, &find, depth)?;
        let start = self.byte_start.at(row);
        let instant = self.created_at.get(row);
        let timestamp = self.created_at_raw.get(row).map(|written| Timestamp {
            instant,
            raw: written.to_owned(),
            offset: if instant.is_some() {
                OffsetOrigin::Explicit
            } else {
                OffsetOrigin::Missing
            },
        });
        Ok(Message {
            position,
            origin: MessageOrigin {
                start,
                end: start,
                index: position,
            },
            source_type: self.source_type.get(row).map(str::to_owned),
            timestamp,
            mentions: self.mentions.at(row),
            weight: self.weight.get(row).and_then(Weight::new),
            ..message
        })
    }
}

/// A part in the column `parts`.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WrittenPart {
    Text {
        text: String,
    },
    Reasoning {
        text: String,
    },
    Notice {
        text: String,
    },
    Media(WrittenMedia),
    ToolCall {
        id: Option<String>,
        name: Option<String>,
        arguments: String,
        #[serde(default)]
        embedded: bool,
        #[serde(default)]
        free_text: bool,
    },
    ToolResult {
        call_id: Option<String>,
        name: Option<String>,
        content: String,
        #[serde(default)]
        is_error: bool,
        #[serde(default)]
        media: u32,
    },
    CacheMark,
}

#[derive(Deserialize)]
struct WrittenMedia {
    #[serde(deserialize_with = "media_kind")]
    kind: MediaKind,
    url: Option<String>,
    inline: Option<String>,
    text: Option<String>,
    media_type: Option<String>,
    name: Option<String>,
}

fn media_kind<'de, D: Deserializer<'de>>(from: D) -> Result<MediaKind, D::Error> {
    let word = String::deserialize(from)?;
    let unknown = |_| D::Error::custom(format!("there is no medium `{word}`"));
    word.parse().map_err(unknown)
}

fn parts(json: &str, depth: u32, batch: &Batch) -> Result<Vec<Part>, DatasetError> {
    let written: Vec<WrittenPart> = parsed(json, batch)?;
    Ok(written.into_iter().map(|part| part.read(depth)).collect())
}

impl WrittenPart {
    fn read(self, depth: u32) -> Part {
        match self {
            Self::Text { text } => Part::Text(text),
            Self::Reasoning { text } => Part::Reasoning(text),
            Self::Notice { text } => Part::Notice(text),
            Self::Media(media) => Part::Media(media.read()),
            Self::ToolCall {
                id,
                name,
                arguments: text,
                embedded,
                free_text,
            } => {
                let given = match (free_text, embedded) {
                    (true, _) => (Arguments::Malformed(text), ArgumentForm::FreeText),
                    (false, true) => (arguments(text, depth), ArgumentForm::Embedded),
                    (false, false) => (arguments(text, depth), ArgumentForm::Text),
                };
                Part::ToolCall(ToolCall::new(id, name, given))
            }
            Self::ToolResult {
                call_id,
                name,
                content,
                is_error,
                media,
            } => Part::ToolResult(ToolResult {
                call_id,
                name,
                content,
                is_error,
                media,
                ..ToolResult::default()
            }),
            Self::CacheMark => Part::CacheMark,
        }
    }
}

impl WrittenMedia {
    fn read(self) -> Media {
        Media {
            kind: self.kind,
            source: match (self.url, self.inline, self.text) {
                (Some(url), ..) => MediaSource::Url(url),
                (None, Some(base64), _) => MediaSource::Inline(base64),
                (None, None, Some(text)) => MediaSource::Text(text),
                (None, None, None) => MediaSource::Upload,
            },
            media_type: self.media_type,
            name: self.name,
        }
    }
}

/// Arguments by their text: an object, other JSON, or text that is neither, as sources distinguish them.
fn arguments(text: String, depth: u32) -> Arguments {
    match json::scan(text.as_bytes(), depth).map(|document| document.root().kind()) {
        Ok(Kind::Object) => Arguments::Object(RawJson(text)),
        Ok(_) => Arguments::NotObject(RawJson(text)),
        Err(_) => Arguments::Malformed(text),
    }
}
