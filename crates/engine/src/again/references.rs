//! References out of the table `message_references`, with what became of them.

use chatmill_dataset::{Batch, DatasetError, Flags, Numbers, Texts};
use chatmill_model::{Link, LinkStatus, Message, Preview, RawJson, Reference, ReferenceForm};
use serde::Deserialize;

use super::stored::parsed;

pub(super) const REFERRED: [&str; 9] = [
    "conversation_id",
    "position",
    "path",
    "target_id",
    "target_position",
    "status",
    "same_sender",
    "preview",
    "quoted",
];

/// Cells of `message_references`.
pub(super) struct Referred {
    pub(super) batch: Batch,
    pub(super) id: Texts,
    position: Numbers,
    path: Texts,
    target_id: Texts,
    target: Numbers,
    status: Texts,
    same_sender: Flags,
    preview: Texts,
    quoted: Texts,
}

#[derive(Deserialize)]
struct WrittenPreview {
    content: Option<String>,
    sender: Option<String>,
    sender_name: Option<String>,
    #[serde(default)]
    from_agent: bool,
}

impl Referred {
    pub(super) fn of(batch: Batch) -> Result<Self, DatasetError> {
        Ok(Self {
            id: batch.texts("conversation_id")?,
            position: batch.numbers("position")?,
            path: batch.texts("path")?,
            target_id: batch.texts("target_id")?,
            target: batch.numbers("target_position")?,
            status: batch.texts("status")?,
            same_sender: batch.flags("same_sender")?,
            preview: batch.texts("preview")?,
            quoted: batch.texts("quoted")?,
            batch,
        })
    }

    /// Adds a reference to its message, below those that show it.
    pub(super) fn add(
        &self,
        row: usize,
        messages: &mut [Message],
        links: &mut [Vec<Link>],
    ) -> Result<(), DatasetError> {
        let astray = || self.batch.fault("a reference has no place");
        let position = usize::try_from(self.position.at(row)).unwrap_or(usize::MAX);
        let mut references = &mut messages.get_mut(position).ok_or_else(astray)?.references;
        let mut links = links.get_mut(position).ok_or_else(astray)?;
        // All but the last step name references that stand there already.
        for step in self
            .path
            .at(row)
            .split('.')
            .rev()
            .skip(1)
            .collect::<Vec<_>>()
            .iter()
            .rev()
        {
            let place: usize = step.parse().map_err(|_| astray())?;
            references = &mut references.get_mut(place).ok_or_else(astray)?.nested;
            links = &mut links.get_mut(place).ok_or_else(astray)?.nested;
        }
        let (reference, link) = (self.reference(row)?, self.link(row)?);
        references.push(reference);
        links.push(link);
        Ok(())
    }

    fn link(&self, row: usize) -> Result<Link, DatasetError> {
        let statuses = [
            LinkStatus::Resolved,
            LinkStatus::Preview,
            LinkStatus::Dangling,
            LinkStatus::Itself,
            LinkStatus::Cyclic,
            LinkStatus::Pseudo,
        ];
        let status = statuses
            .into_iter()
            .find(|status| status.as_str() == self.status.at(row));
        Ok(Link {
            target: self.target.get(row).and_then(|target| u32::try_from(target).ok()),
            status: status.ok_or_else(|| self.batch.fault("it has a status that there is not"))?,
            same_sender: self.same_sender.at(row),
            nested: Vec::new(),
        })
    }

    fn reference(&self, row: usize) -> Result<Reference, DatasetError> {
        let shown = self.quoted.get(row).or(self.preview.get(row));
        let preview = shown
            .map(|json| parsed::<WrittenPreview>(json, &self.batch))
            .transpose()?;
        let target = self.target_id.get(row).map(str::to_owned);
        let form = match (self.quoted.get(row), self.preview.get(row)) {
            (Some(_), Some(object)) => ReferenceForm::Object(RawJson(object.to_owned())),
            // Nothing else finds a message that it does not name.
            _ if target.is_none() && self.target.get(row).is_some() => ReferenceForm::Excerpt,
            _ => ReferenceForm::Id,
        };
        Ok(Reference {
            target,
            preview: preview.map(|preview| Preview {
                content: preview.content,
                sender: preview.sender,
                sender_name: preview.sender_name,
                from_agent: preview.from_agent,
                ..Preview::default()
            }),
            form,
            is_pseudo: self.status.at(row) == LinkStatus::Pseudo.as_str(),
            nested: Vec::new(),
        })
    }
}
