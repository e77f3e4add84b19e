//! Reads messages from the table `messages`, and the columns that it shares with the table `alternatives`.

use std::collections::HashMap;

use chatmill_dataset::{Batch, DatasetError, Numbers, Reals, TextLists, Texts, Times, columns};
use chatmill_model::{
    Conversation, Message, MessageOrigin, OffsetOrigin, Part, Participant, Role, Timestamp, Weight,
};

use super::stored::{fields, parsed, word};
use crate::work::tables::written::WrittenPart;

columns! {
    /// Cells that messages and alternative answers have.
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
    /// Builds the message of a row. `find` looks its sender up by id; parts are read down to `depth`.
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
            // The column has the name of the roster if the message has none.
            sender_name: owned(&self.sender_name).filter(|name| listed != Some(name)),
            kind: word(self.kind.at(row), &self.batch)?,
            parts: match self.parts.get(row) {
                None => vec![Part::Text(self.text.at(row).to_owned())],
                Some(json) => {
                    let written: Vec<WrittenPart<'_>> = parsed(json, &self.batch)?;
                    written.into_iter().map(|part| part.read(depth)).collect()
                }
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
