//! Conversations inside one another, such as those of agents that an agent started.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::ParticipantKind;

use super::one;
use crate::format::language::budget::Budget;
use crate::format::language::path::InnerPath;
use crate::format::loaded::Loaded;
use crate::frame::{FrameView, Reading};

/// The structure of a conversation inside another.
const SUBAGENT: &str = "subagent";

/// Reads a conversation and the nested ones, each after the one around it.
pub(super) fn read(
    format: &'static Loaded,
    frame: FrameView<'_>,
    limits: &Limits,
) -> Result<Reading, Box<Finding>> {
    let map = &format.language.conversation;
    let root = frame.root();
    // Each id includes the ids of the outer conversations.
    let budget = Budget::of(root);
    let mut waiting = vec![("$".to_owned(), root, None::<String>)];
    let mut all = Vec::new();
    while let Some((path, record, around)) = waiting.pop() {
        let own = map.id.id(record);
        let name = match (&around, own) {
            (Some(around), Some(own)) => Some(format!("{around}/{own}")),
            (Some(around), None) => Some(format!("{around}/{}", all.len())),
            (None, own) => own,
        };
        let begin = waiting.len();
        for InnerPath(list) in &map.inside.0 {
            for (at, inner) in list.find(record).into_iter().enumerate() {
                let place = format!("{path}{}[{at}]", list.list().trim_start_matches('$'));
                let around = name.as_deref().unwrap_or_default();
                if !budget.take(place.len() + around.len()) {
                    break;
                }
                waiting.push((place, inner, Some(around.to_owned())));
            }
        }
        if let Some(inner) = waiting.get_mut(begin..) {
            inner.reverse();
        }
        all.push((path, record, around.and(name)));
    }
    let none = || {
        frame.error(
            &codes::MISSING_FIELD,
            "the record holds no conversation",
            "$",
            root,
        )
    };
    let read = |(path, record, inner_id): (String, _, Option<String>)| {
        let mut read = one(format, frame, limits, (record, path));
        if let (Ok(reading), Some(inner_id)) = (&mut read, inner_id)
            && let Some(conversation) = &mut reading.conversation
        {
            conversation.source_id = Some(inner_id).filter(|id| !id.is_empty());
            conversation.shape = SUBAGENT;
            // An agent is asked by the agent that started it, not by a person.
            let asking = conversation.participants.iter_mut();
            for asking in asking.filter(|person| person.kind == ParticipantKind::Human) {
                asking.kind = ParticipantKind::Unknown;
            }
        }
        (read, record)
    };
    let reading = Reading::of_several(frame, all.into_iter().map(read), limits, none)?;
    budget.bounded(frame, root, reading)
}
