//! Ids that keep calls and results together where a dialect writes both apart: the source's, else counted ones.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{CallStatus, Message, Part, PartPlace, ToolCall, ToolResult};

use crate::loss::{LossCode, Losses};
use crate::view::View;

/// The ids of the calls that are shown.
pub(crate) struct ToolIds<'a> {
    calls: BTreeMap<PartPlace, (Cow<'a, str>, &'a ToolCall)>,
    /// The call of each result.
    paired: BTreeMap<PartPlace, PartPlace>,
    /// An id that nothing has.
    unused: String,
}

impl<'a> ToolIds<'a> {
    /// Ids for what is shown. A call without an id goes by the one in its metadata; where that is missing, or another call's
    /// and `may_repeat` does not allow it, by a counted one.
    pub(crate) fn new(view: &View<'a>, shown: &[&'a Message], may_repeat: bool, losses: &mut Losses) -> Self {
        let all = &view.conversation().messages;
        let parts = all.iter().flat_map(|message| &message.parts);
        let known: BTreeSet<&str> = parts
            .flat_map(|part| match part {
                Part::ToolCall(call) => [call.id.as_deref(), call.metadata_id.as_deref()],
                Part::ToolResult(result) => [result.call_id.as_deref(), result.metadata_id.as_deref()],
                _ => [None, None],
            })
            .flatten()
            .collect();
        let mut counted = (0_u64..)
            .map(|count| format!("call_{count}"))
            .filter(|id| !known.contains(id.as_str()));
        let mut calls = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for message in shown {
            for (index, part) in message.parts.iter().enumerate() {
                let Part::ToolCall(call) = part else {
                    continue;
                };
                let wanted = call.known_id();
                let free = wanted.filter(|id| taken.insert(*id) || may_repeat);
                let id = free.map(Cow::Borrowed).or_else(|| {
                    let reason = match wanted {
                        Some(_) => "a call has an id of its own, and this one had another's",
                        None => "a call has an id, and this one had none",
                    };
                    losses.at(LossCode::ToolIdRewritten, message.position, reason);
                    counted.next().map(Cow::Owned)
                });
                calls.insert(place(message, index), (id.unwrap_or_default(), call));
            }
        }
        let pairings = view.linked.pairings.iter();
        let paired = pairings
            .filter(|pairing| pairing.status != CallStatus::Orphaned)
            .filter_map(|pairing| pairing.result.zip(pairing.call))
            .collect();
        Self {
            calls,
            paired,
            unused: counted.next().unwrap_or_default(),
        }
    }

    /// The id of a call.
    pub(crate) fn of_call(&self, message: &Message, index: usize) -> Cow<'a, str> {
        let call = self.calls.get(&place(message, index));
        call.map(|(id, _)| id.clone()).unwrap_or_default()
    }

    /// The id of the call that a result answers, else what the result says.
    pub(crate) fn of_result(
        &self,
        message: &Message,
        index: usize,
        result: &'a ToolResult,
    ) -> Option<Cow<'a, str>> {
        let answered = self.answered(message, index);
        answered
            .map(|(id, _)| id.clone())
            .or(result.known_id().map(Cow::Borrowed))
    }

    /// An id that nothing has, for a result that names no call.
    pub(crate) fn unused(&self) -> Cow<'a, str> {
        Cow::Owned(self.unused.clone())
    }

    /// The name of the tool that a result answers for.
    pub(crate) fn tool_of(&self, message: &Message, index: usize) -> Option<&'a str> {
        self.answered(message, index)?.1.name.as_deref()
    }

    fn answered(&self, message: &Message, index: usize) -> Option<&(Cow<'a, str>, &'a ToolCall)> {
        self.calls.get(self.paired.get(&place(message, index))?)
    }
}

fn place(message: &Message, index: usize) -> PartPlace {
    PartPlace {
        position: message.position,
        part: index as u32,
    }
}
