//! Likenesses of the conversations of earlier datasets, by which those of a run are compared with them.

use std::sync::atomic::AtomicBool;

use chatmill_dataset::{Dataset, DatasetError, Flags, Numbers, Rows, Texts, columns};
use chatmill_diag::Limits;
use chatmill_link::Likeness;
use chatmill_model::{Alternative, Conversation, Judgement};

use super::messages::CommonColumns;
use super::rebuilt::{Conversations, StoredConversation};
use super::stored::word;
use crate::error::{RunError, go_on};
use crate::plan::Plan;
use crate::work::survey::likeness;

columns! {
    /// Cells of `alternatives`.
    struct Answers with common: CommonColumns {
        position: Numbers,
        ordinal: Numbers,
        origin: Texts,
        in_conversation: Flags,
    }
}

/// The likenesses of all conversations of a plan's earlier datasets; more than `most` are refused.
pub(crate) fn likenesses(plan: &Plan, most: u64, stop: &AtomicBool) -> Result<Vec<Likeness>, RunError> {
    let mut found = Vec::new();
    for earlier in &plan.earlier {
        let dataset = Dataset::open(&earlier.folder)?;
        let all = dataset.rows("conversations").saturating_add(found.len() as u64);
        if all > most {
            let limit = plan.limits().compared;
            let found = limit.saturating_add(all - most);
            return Err(RunError::TooManyToCompare { found, limit });
        }
        let mut conversations = Conversations::of(&dataset)?;
        let mut answers = Rows::<Answers>::of(&dataset, "alternatives")?;
        while let Some(StoredConversation { id, linked, .. }) = conversations.next()? {
            go_on(stop, 0)?;
            let mut conversation = linked.conversation;
            let mut place = None;
            while let Some((cells, row)) = answers.current()
                && cells.common.conversation_id.at(row) == id
            {
                let here = (cells.position.at(row), cells.ordinal.at(row));
                cells.add(row, place.replace(here) != Some(here), &mut conversation)?;
                answers.advance()?;
            }
            found.push(likeness(&conversation, &plan.pipeline.dedup));
        }
    }
    Ok(found)
}

impl Answers {
    /// Adds a row: the first message of an answer, or a further one of the last.
    fn add(&self, row: usize, is_first: bool, conversation: &mut Conversation) -> Result<(), DatasetError> {
        let participants = &conversation.participants;
        let find = |id: &str| participants.iter().position(|person| person.id == id);
        let message = self
            .common
            .message(row, participants, &find, Limits::default().depth)?;
        if is_first {
            let start = u32::try_from(self.position.at(row)).unwrap_or(u32::MAX);
            conversation.alternatives.push(Alternative {
                place: start..start,
                origin: word(self.origin.at(row), &self.common.batch)?,
                judgement: Judgement::default(),
                messages: (!self.in_conversation.at(row)).then(Vec::new),
            });
        }
        if let Some(messages) = conversation
            .alternatives
            .last_mut()
            .and_then(|last| last.messages.as_mut())
        {
            messages.push(message);
        }
        Ok(())
    }
}
