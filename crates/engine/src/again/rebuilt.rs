//! Conversations put together from the tables of a dataset, one after the other.
//!
//! Tables hold their rows in the order of the conversations, so each is read once, side by side with the others. What became
//! of references stands in the table; calls and results are paired anew, which changes nothing.

use std::collections::HashMap;

use chatmill_dataset::{Batch, Dataset, DatasetError, Elements, Texts};
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{Conversation, Link, Linked, Participant, ParticipantKind, RawJson, Scene};
use serde_json::value::RawValue;

use super::messages::{SAID, Said};
use super::references::{REFERRED, Referred};
use super::stored::{Rows, fields, parsed, raw};

/// The key of fields at the record's root among those of a conversation.
const ROOT: &str = "/";

/// The conversations of a dataset.
pub(super) struct Conversations<'d> {
    heads: Rows<'d, Heads>,
    messages: Rows<'d, Said>,
    references: Rows<'d, Referred>,
    limits: Limits,
}

impl<'d> Conversations<'d> {
    pub(super) fn of(dataset: &'d Dataset) -> Result<Self, DatasetError> {
        Ok(Self {
            heads: Rows::of(dataset, "conversations", &HEADS, Heads::of)?,
            messages: Rows::of(dataset, "messages", &SAID, Said::of)?,
            references: Rows::of(dataset, "message_references", &REFERRED, Referred::of)?,
            limits: Limits::default(),
        })
    }

    /// The next conversation, with its id in the dataset.
    pub(super) fn next(&mut self) -> Result<Option<(String, Linked)>, DatasetError> {
        let Some((heads, row)) = self.heads.current() else {
            return match (self.messages.current(), self.references.current()) {
                (None, None) => Ok(None),
                (Some((said, _)), _) => Err(said.told.batch.fault("it has messages of no conversation")),
                (None, Some((referred, _))) => Err(referred.batch.fault("it has references of no message")),
            };
        };
        let id = heads.id.at(row).to_owned();
        let mut conversation = heads.conversation(row)?;
        self.heads.advance()?;
        let participants: HashMap<String, usize> = conversation
            .participants
            .iter()
            .enumerate()
            .map(|(index, participant)| (participant.id.clone(), index))
            .collect();
        while let Some((said, row)) = self.messages.current()
            && said.told.id.at(row) == id
        {
            let message = said.message(row, &participants, &conversation, self.limits.depth)?;
            conversation.messages.push(message);
            self.messages.advance()?;
        }
        let mut links: Vec<Vec<Link>> = vec![Vec::new(); conversation.messages.len()];
        while let Some((referred, row)) = self.references.current()
            && referred.id.at(row) == id
        {
            referred.add(row, &mut conversation.messages, &mut links)?;
            self.references.advance()?;
        }
        let (linked, ..) = link(conversation, &self.limits);
        Ok(Some((id, Linked { links, ..linked })))
    }
}

const HEADS: [&str; 11] = [
    "conversation_id",
    "source_conversation_id",
    "source",
    "format_version",
    "title",
    "description",
    "model",
    "scene",
    "participants",
    "tools",
    "extra",
];

/// Cells of `conversations`.
struct Heads {
    batch: Batch,
    id: Texts,
    source_id: Texts,
    source: Texts,
    format_version: Texts,
    title: Texts,
    description: Texts,
    model: Texts,
    scene: Texts,
    tools: Texts,
    extra: Texts,
    people: Elements,
}

impl Heads {
    fn of(batch: Batch) -> Result<Self, DatasetError> {
        Ok(Self {
            id: batch.texts("conversation_id")?,
            source_id: batch.texts("source_conversation_id")?,
            source: batch.texts("source")?,
            format_version: batch.texts("format_version")?,
            title: batch.texts("title")?,
            description: batch.texts("description")?,
            model: batch.texts("model")?,
            scene: batch.texts("scene")?,
            tools: batch.texts("tools")?,
            extra: batch.texts("extra")?,
            people: batch.elements("participants")?,
            batch,
        })
    }

    fn conversation(&self, row: usize) -> Result<Conversation, DatasetError> {
        let owned = |texts: &Texts| texts.get(row).map(str::to_owned);
        let source = chatmill_source::find(self.source.at(row));
        let source = source.ok_or_else(|| self.batch.fault("it names a source that there is not"))?;
        let mut extra = fields(self.extra.get(row), &self.batch)?;
        let root = extra.0.iter().position(|(name, _)| name == ROOT);
        let envelope = root.map(|place| extra.0.remove(place).1);
        let scenes = [Scene::Assistant, Scene::GroupChat];
        let scene = scenes
            .into_iter()
            .find(|scene| scene.as_str() == self.scene.at(row));
        let tools: Vec<&RawValue> = parsed(self.tools.get(row).unwrap_or("[]"), &self.batch)?;
        Ok(Conversation {
            source: source.id(),
            customs: source.about().customs,
            source_id: owned(&self.source_id),
            format_version: owned(&self.format_version),
            scene: scene.unwrap_or_default(),
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
        let people = self.people.batch();
        let texts = |name| people.texts(name);
        let (ids, names, aliases, roles) = (texts("id")?, texts("name")?, texts("alias")?, texts("role")?);
        let (kinds, custom_roles) = (texts("kind")?, texts("custom_role")?);
        let (departments, emails, extras) = (texts("department")?, texts("email")?, texts("extra")?);
        let (listed, made) = (people.flags("listed")?, people.flags("is_id_made")?);
        let one = |place: usize| {
            let owned = |texts: &Texts| texts.get(place).map(str::to_owned);
            let known = [ParticipantKind::Human, ParticipantKind::Agent];
            let kind = known.into_iter().find(|kind| kind.as_str() == kinds.at(place));
            Ok(Participant {
                id: ids.at(place).to_owned(),
                is_id_made: made.at(place),
                name: owned(&names),
                alias: owned(&aliases),
                role: owned(&roles),
                kind: kind.unwrap_or_default(),
                custom_role: owned(&custom_roles),
                department: owned(&departments),
                email: owned(&emails),
                listed: listed.at(place),
                extra: fields(extras.get(place), people)?,
            })
        };
        self.people.of(row).map(one).collect()
    }
}
