//! Reconstructs conversations from the tables of a dataset, one after the other.
//!
//! Tables have their rows in the order of the conversations, so each table
//! is read once, in step with the others. The links of references are stored
//! in a table; calls and results are paired again, with the same result.

use std::collections::HashMap;

use chatmill_dataset::{Batch, Columns, Dataset, DatasetError, Elements, Flags, Rows, Texts, columns};
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{Conversation, Link, Linked, Participant, RawJson};
use serde_json::value::RawValue;

use super::messages::MessageColumns;
use super::references::Referred;
use super::stored::{fields, parsed, raw, word};

/// The key in `extra` for fields at the root of the record.
const ROOT: &str = "/";

/// The conversations of a dataset.
pub(super) struct Conversations<'d> {
    heads: Rows<'d, Heads>,
    messages: Rows<'d, MessageColumns>,
    references: Rows<'d, Referred>,
    limits: Limits,
}

/// A conversation of a dataset.
pub(super) struct StoredConversation {
    pub(super) id: String,
    /// The name of its input.
    pub(super) input: String,
    pub(super) linked: Linked,
}

impl<'d> Conversations<'d> {
    pub(super) fn of(dataset: &'d Dataset) -> Result<Self, DatasetError> {
        Ok(Self {
            heads: Rows::of(dataset, "conversations")?,
            messages: Rows::of(dataset, "messages")?,
            references: Rows::of(dataset, "message_references")?,
            limits: Limits::default(),
        })
    }

    /// Reads only the conversation with this id.
    pub(super) fn of_one(dataset: &'d Dataset, id: &'d str) -> Result<Self, DatasetError> {
        Ok(Self {
            heads: Rows::of_conversation(dataset, "conversations", id)?,
            messages: Rows::of_conversation(dataset, "messages", id)?,
            references: Rows::of_conversation(dataset, "message_references", id)?,
            limits: Limits::default(),
        })
    }

    /// Reads the next conversation, with its id and its input in the dataset.
    pub(super) fn next(&mut self) -> Result<Option<StoredConversation>, DatasetError> {
        let Some((heads, row)) = self.heads.current() else {
            return match (self.messages.current(), self.references.current()) {
                (None, None) => Ok(None),
                (Some((cells, _)), _) => {
                    Err(cells.common.batch.corrupt("it has messages of no conversation"))
                }
                (None, Some((referred, _))) => Err(referred.batch.corrupt("it has references of no message")),
            };
        };
        let id = heads.conversation_id.at(row).to_owned();
        let input = heads.input.at(row).to_owned();
        let mut conversation = heads.conversation(row)?;
        self.heads.advance()?;
        let participants: HashMap<String, usize> = conversation
            .participants
            .iter()
            .enumerate()
            .map(|(index, participant)| (participant.id.clone(), index))
            .collect();
        while let Some((cells, row)) = self.messages.current()
            && cells.common.conversation_id.at(row) == id
        {
            let message = cells.message(row, &participants, &conversation, self.limits.depth)?;
            conversation.messages.push(message);
            self.messages.advance()?;
        }
        let mut links: Vec<Vec<Link>> = vec![Vec::new(); conversation.messages.len()];
        while let Some((referred, row)) = self.references.current()
            && referred.conversation_id.at(row) == id
        {
            referred.add(row, &mut conversation.messages, &mut links)?;
            self.references.advance()?;
        }
        let (linked, ..) = link(conversation, &self.limits);
        let linked = Linked { links, ..linked };
        Ok(Some(StoredConversation { id, input, linked }))
    }
}

columns! {
    /// Cells of `conversations`.
    struct Heads with batch: Batch {
        conversation_id: Texts,
        source_conversation_id: Texts,
        source: Texts,
        input: Texts,
        format_version: Texts,
        title: Texts,
        description: Texts,
        model: Texts,
        scene: Texts,
        participants: Elements,
        tools: Texts,
        extra: Texts,
    }

    /// Cells of the participants in `conversations`.
    struct ParticipantColumns {
        id: Texts,
        is_id_made: Flags,
        name: Texts,
        alias: Texts,
        role: Texts,
        kind: Texts,
        custom_role: Texts,
        department: Texts,
        email: Texts,
        listed: Flags,
        extra: Texts,
    }
}

impl Heads {
    fn conversation(&self, row: usize) -> Result<Conversation, DatasetError> {
        let owned = |texts: &Texts| texts.get(row).map(str::to_owned);
        let source = chatmill_source::recorded(self.source.at(row));
        let (source, traits) = source.ok_or_else(|| self.batch.corrupt("it names an unknown source"))?;
        let mut extra = fields(self.extra.get(row), &self.batch)?;
        let root = extra.0.iter().position(|(name, _)| name == ROOT);
        let envelope = root.map(|place| extra.0.remove(place).1);
        // The column is null if a conversation has no tools.
        let tools: Vec<&RawValue> = parsed(self.tools.get(row).unwrap_or("[]"), &self.batch)?;
        Ok(Conversation {
            source,
            traits,
            source_id: owned(&self.source_conversation_id),
            format_version: owned(&self.format_version),
            scene: word(self.scene.at(row), &self.batch)?,
            title: owned(&self.title),
            description: owned(&self.description),
            model: self.model.get(row).map(Box::from),
            participants: self.participants(row)?,
            tools: tools.into_iter().map(raw).collect(),
            envelope: fields(envelope.as_ref().map(RawJson::as_str), &self.batch)?,
            extra,
            ..Conversation::default()
        })
    }

    fn participants(&self, row: usize) -> Result<Vec<Participant>, DatasetError> {
        let batch = self.participants.batch();
        let columns = ParticipantColumns::of(batch)?;
        let one = |place: usize| {
            let owned = |texts: &Texts| texts.get(place).map(str::to_owned);
            Ok(Participant {
                id: columns.id.at(place).to_owned(),
                is_id_made: columns.is_id_made.at(place),
                name: owned(&columns.name),
                alias: owned(&columns.alias),
                role: owned(&columns.role),
                kind: word(columns.kind.at(place), batch)?,
                custom_role: owned(&columns.custom_role),
                department: owned(&columns.department),
                email: owned(&columns.email),
                listed: columns.listed.at(place),
                extra: fields(columns.extra.get(place), batch)?,
            })
        };
        self.participants.of(row).map(one).collect()
    }
}
