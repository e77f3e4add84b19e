//! What all windows of a conversation share: facts about the whole of it, looked up by the first rendering that asks.
//!
//! Without this cache each window would read the whole conversation again, and many windows would cost the square of its length.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use chatmill_model::fingerprint::content_hash;
use chatmill_model::{CallStatus, Linked, Message, Part, PartPlace, RawJson};

use crate::view::window::{CutPoints, Rendered};

/// What the renderings of a conversation share that have dialect, profile and perspective in common.
#[derive(Debug, Default)]
pub struct Shared {
    pub(crate) cut_points: Fact<CutPoints>,
    pub(crate) rendered: Fact<Rendered>,
    pub(crate) content_hash: Fact<String>,
    pub(crate) message_ids: Fact<Ids>,
    pub(crate) referenced_ids: Fact<Ids>,
    pub(crate) tool_ids: Fact<Ids>,
    pub(crate) answered_calls: Fact<BTreeMap<PartPlace, PartPlace>>,
    pub(crate) has_several_others: Fact<bool>,
    pub(crate) has_other_agents: Fact<bool>,
    pub(crate) inferred_tools: Fact<Vec<RawJson>>,
}

/// Ids that something has.
pub(crate) type Ids = BTreeSet<Box<str>>;

/// Something that is known once somebody has asked.
pub(crate) type Fact<T> = OnceCell<Rc<T>>;

/// The hash of a conversation's content, in hexadecimal.
pub(crate) fn hash(linked: &Linked) -> String {
    content_hash(&linked.conversation)
}

/// The ids of messages.
pub(crate) fn message_ids(linked: &Linked) -> Ids {
    let ids = messages(linked).filter_map(|message| message.id.as_deref());
    ids.map(Box::from).collect()
}

/// The ids that references name, be there such messages or not.
pub(crate) fn referenced_ids(linked: &Linked) -> Ids {
    let references = messages(linked).flat_map(|message| &message.references);
    let ids = references.filter_map(|reference| reference.target.as_deref());
    ids.map(Box::from).collect()
}

/// The ids that calls and results name.
pub(crate) fn tool_ids(linked: &Linked) -> Ids {
    let parts = messages(linked).flat_map(|message| &message.parts);
    let ids = parts.flat_map(|part| match part {
        Part::ToolCall(call) => [call.id.as_deref(), call.metadata_id.as_deref()],
        Part::ToolResult(result) => [result.call_id.as_deref(), result.metadata_id.as_deref()],
        _ => [None, None],
    });
    ids.flatten().map(Box::from).collect()
}

/// The call of each result that has one.
pub(crate) fn answered_calls(linked: &Linked) -> BTreeMap<PartPlace, PartPlace> {
    let pairings = linked.pairings.iter();
    pairings
        .filter(|pairing| pairing.status != CallStatus::Orphaned)
        .filter_map(|pairing| pairing.result.zip(pairing.call))
        .collect()
}

fn messages(linked: &Linked) -> impl Iterator<Item = &Message> {
    linked.conversation.messages.iter()
}
