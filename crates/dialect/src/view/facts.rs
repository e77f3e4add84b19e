//! Facts about a whole conversation that all of its windows share, computed by the first rendering that needs them.
//!
//! Without this cache each window would read the whole conversation again: many windows would take quadratic time in its length.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use chatmill_model::fingerprint::content_hash;
use chatmill_model::{CallStatus, Linked, Message, Part, PartPlace, RawJson};

use crate::view::window::{CutPoints, Rendered};

/// The facts that renderings of a conversation with the same dialect, profile and perspective share.
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

/// A set of ids.
pub(crate) type Ids = BTreeSet<Box<str>>;

/// A fact that is computed on first use.
pub(crate) type Fact<T> = OnceCell<Rc<T>>;

/// Returns the hash of a conversation's content, in hexadecimal.
pub(crate) fn hash(linked: &Linked) -> String {
    content_hash(&linked.conversation)
}

/// Returns the ids of all messages.
pub(crate) fn message_ids(linked: &Linked) -> Ids {
    let ids = messages(linked).filter_map(|message| message.id.as_deref());
    ids.map(Box::from).collect()
}

/// Returns the ids that references name, also of messages that are missing.
pub(crate) fn referenced_ids(linked: &Linked) -> Ids {
    let references = messages(linked).flat_map(|message| &message.references);
    let ids = references.filter_map(|reference| reference.target.as_deref());
    ids.map(Box::from).collect()
}

/// Returns the ids of all calls and results.
pub(crate) fn tool_ids(linked: &Linked) -> Ids {
    let parts = messages(linked).flat_map(|message| &message.parts);
    let ids = parts.flat_map(|part| match part {
        Part::ToolCall(call) => [call.id.as_deref(), call.metadata_id.as_deref()],
        Part::ToolResult(result) => [result.call_id.as_deref(), result.metadata_id.as_deref()],
        _ => [None, None],
    });
    ids.flatten().map(Box::from).collect()
}

/// Returns the call of each result that has one.
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
