//! Reads the likenesses of the conversations of earlier datasets, to compare them with those of a run.

use std::sync::atomic::AtomicBool;

use chatmill_dataset::Dataset;
use chatmill_link::Likeness;
use chatmill_model::Alternative;

use super::answers::Answers;
use super::rebuilt::{Conversations, StoredConversation};
use crate::error::{RunError, go_on};
use crate::plan::Plan;
use crate::work::survey::likeness;

/// Returns the likenesses of all conversations in the plan's earlier datasets; more than `most` are refused.
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
        let mut answers = Answers::of(&dataset)?;
        while let Some(StoredConversation { id, linked, .. }) = conversations.next()? {
            go_on(stop, 0)?;
            let mut conversation = linked.conversation;
            let alternatives = answers.of_next(&id, &conversation)?.into_iter();
            conversation
                .alternatives
                .extend(alternatives.map(|answer| Alternative {
                    place: answer.position..answer.position,
                    origin: answer.origin,
                    judgement: answer.judgement,
                    messages: (!answer.in_conversation).then_some(answer.messages),
                }));
            found.push(likeness(&conversation, &plan.pipeline.dedup));
        }
    }
    Ok(found)
}
