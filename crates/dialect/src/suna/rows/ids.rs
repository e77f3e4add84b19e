//! Ids of rows and of calls: the source's, else made up so that nothing meets by chance.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{CallStatus, Message, Part, PartPlace, ToolCall, ToolResult};

use crate::loss::{LossCode, Losses};
use crate::view::View;

/// The ids of a rendering.
pub(super) struct Ids<'a> {
    messages: BTreeSet<&'a str>,
    calls: BTreeMap<PartPlace, (Cow<'a, str>, &'a ToolCall)>,
    /// The call of each result.
    paired: BTreeMap<PartPlace, PartPlace>,
}

impl<'a> Ids<'a> {
    /// Ids for what is shown. A call without an id goes by the one in its metadata; where that
    /// is missing or another call's, by a counted one.
    pub(super) fn new(view: &View<'a>, shown: &[&'a Message], losses: &mut Losses) -> Self {
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
                let own = call.id.as_deref().filter(|id| !id.is_empty());
                let stored = call.metadata_id.as_deref();
                let stored = stored.filter(|id| own.is_none() && !id.is_empty());
                losses.several(
                    LossCode::ToolIdRewritten,
                    message.position,
                    u64::from(stored.is_some()),
                    "the id in the metadata is the call's own",
                );
                let wanted = own.or(stored);
                let id = wanted
                    .filter(|id| taken.insert(*id))
                    .map(Cow::Borrowed)
                    .or_else(|| {
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
        let messages = all.iter().filter_map(|message| message.id.as_deref()).collect();
        Self {
            messages,
            calls,
            paired,
        }
    }

    /// The id of a row: the message's for its first, else one made from it.
    pub(super) fn of(&self, message: &'a Message, number: u64, losses: &mut Losses) -> Cow<'a, str> {
        let made = match (message.id.as_deref(), number) {
            (Some(id), 0) => return Cow::Borrowed(id),
            (Some(id), number) => format!("{id}/{number}"),
            (None, 0) => format!("m{}", message.position),
            (None, number) => format!("m{}/{number}", message.position),
        };
        losses.at(
            LossCode::MessageIdSynthesised,
            message.position,
            "every row has an id",
        );
        let mut id = made.clone();
        let mut count = 2_u64;
        while self.messages.contains(id.as_str()) {
            id = format!("{made}~{count}");
            count += 1;
        }
        Cow::Owned(id)
    }

    /// The id of a call.
    pub(super) fn of_call(&self, message: &Message, index: usize) -> Cow<'a, str> {
        let call = self.calls.get(&place(message, index));
        call.map(|(id, _)| id.clone()).unwrap_or_default()
    }

    /// The id of the call that a result answers, else what the result says.
    pub(super) fn of_result(
        &self,
        message: &Message,
        index: usize,
        result: &'a ToolResult,
    ) -> Option<Cow<'a, str>> {
        let own = [result.call_id.as_deref(), result.metadata_id.as_deref()];
        let own = own.into_iter().flatten().find(|id| !id.is_empty());
        let answered = self.answered(message, index);
        answered.map(|(id, _)| id.clone()).or(own.map(Cow::Borrowed))
    }

    /// The name of the tool that a result answers for.
    pub(super) fn tool_of(&self, message: &Message, index: usize) -> Option<&'a str> {
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
