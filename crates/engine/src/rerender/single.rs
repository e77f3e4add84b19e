//! Reads one conversation of a dataset: only its rows of each table.

use std::collections::BTreeMap;

use chatmill_dataset::{Dataset, DatasetError};
use chatmill_dialect::Rendering;
use chatmill_model::{Alternative, Linked, Sink};

use super::answers::{Answers, TABLE};
use super::rebuilt::{Conversations, StoredConversation};
use super::replaced::{Replaced, Replacements};
use super::{Renderer, Rerenderer, Rerendering};

/// The facts about a conversation of a dataset that its renderings need.
#[derive(Debug)]
pub struct StoredFacts {
    /// Its id.
    pub id: String,
    /// The name of its input.
    pub input: String,
    replaced: Replaced,
}

/// Reconstructs the conversation with this id from its rows; `None` if the dataset does not have it.
pub fn conversation(dataset: &Dataset, id: &str) -> Result<Option<(StoredFacts, Linked)>, DatasetError> {
    let Some(stored) = Conversations::of_one(dataset, id)?.next()? else {
        return Ok(None);
    };
    let StoredConversation {
        id: stored_id,
        input,
        mut linked,
    } = stored;
    if dataset.has(TABLE) {
        let answers = Answers::of_one(dataset, id)?.of_next(id, &linked.conversation)?;
        // The answer in the conversation decides how many messages belong to the position.
        let own = answers.iter().filter(|answer| answer.in_conversation);
        let own = own.map(|answer| {
            (
                answer.position,
                u32::try_from(answer.messages.len()).unwrap_or(u32::MAX),
            )
        });
        let own: BTreeMap<u32, u32> = own.collect();
        let alternatives = answers.into_iter().map(|answer| Alternative {
            place: own
                .get(&answer.position)
                .map_or(answer.position..answer.position, |messages| {
                    answer.position..answer.position.saturating_add(*messages)
                }),
            origin: answer.origin,
            judgement: answer.judgement,
            messages: (!answer.in_conversation).then_some(answer.messages),
        });
        linked.conversation.alternatives = alternatives.collect();
    }
    let facts = StoredFacts {
        replaced: Replacements::of_one(dataset, id)?.of_next(id)?,
        id: stored_id,
        input,
    };
    Ok(Some((facts, linked)))
}

impl Rerenderer<'_> {
    /// Visits the renderings of a conversation that [`conversation`] has read, as [`each`](Self::each)
    /// does for all, with the sink and the rendering.
    pub fn each_of<E>(
        &self,
        (facts, linked): (&StoredFacts, &Linked),
        visit: &mut dyn FnMut(&Rerendering<'_>, &Sink<'_>, &Rendering) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut renderer = Renderer::new(self);
        renderer.replaced = facts.replaced.clone();
        renderer.render_whole((&facts.id, &facts.input, linked), visit)
    }
}
