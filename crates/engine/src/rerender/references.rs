//! Reads references from the table `message_references`, with their links.

use chatmill_dataset::{Batch, DatasetError, Flags, Numbers, Texts, columns};
use chatmill_model::{Link, LinkStatus, Message, RawJson, Reference, ReferenceForm};

use super::stored::{parsed, word};
use crate::work::tables::written::WrittenPreview;

columns! {
    /// Cells of `message_references`.
    pub(super) struct Referred with batch: Batch {
        conversation_id: Texts,
        position: Numbers,
        path: Texts,
        target_id: Texts,
        target_position: Numbers,
        status: Texts,
        same_sender: Flags,
        preview: Texts,
        quoted: Texts,
    }
}

impl Referred {
    /// Adds a reference to its message, at its path below other references.
    pub(super) fn add(
        &self,
        row: usize,
        messages: &mut [Message],
        links: &mut [Vec<Link>],
    ) -> Result<(), DatasetError> {
        let astray = || self.batch.corrupt("a reference has no place");
        let position = usize::try_from(self.position.at(row)).unwrap_or(usize::MAX);
        let mut references = &mut messages.get_mut(position).ok_or_else(astray)?.references;
        let mut links = links.get_mut(position).ok_or_else(astray)?;
        // All but the last step of the path are references that were read before.
        let above = self.path.at(row).rsplit_once('.');
        for step in above.into_iter().flat_map(|(above, _)| above.split('.')) {
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
        Ok(Link {
            target: self
                .target_position
                .get(row)
                .and_then(|target| u32::try_from(target).ok()),
            status: word(self.status.at(row), &self.batch)?,
            same_sender: self.same_sender.at(row),
            nested: Vec::new(),
        })
    }

    fn reference(&self, row: usize) -> Result<Reference, DatasetError> {
        let shown = self.quoted.get(row).or(self.preview.get(row));
        let preview = shown
            .map(|json| parsed::<WrittenPreview<'_>>(json, &self.batch))
            .transpose()?;
        let target = self.target_id.get(row).map(str::to_owned);
        let form = match (self.quoted.get(row), self.preview.get(row)) {
            (Some(_), Some(object)) => ReferenceForm::Object(RawJson(object.to_owned())),
            // A message without an id can only be found by its position.
            _ if target.is_none() && self.target_position.get(row).is_some() => ReferenceForm::Excerpt,
            _ => ReferenceForm::Id,
        };
        Ok(Reference {
            target,
            preview: preview.map(WrittenPreview::read),
            form,
            is_pseudo: self.status.at(row) == LinkStatus::Pseudo.as_str(),
            nested: Vec::new(),
        })
    }
}
