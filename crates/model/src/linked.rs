//! A conversation with resolved references and paired tool calls.

use crate::conversation::Conversation;
use strum::{EnumString, IntoStaticStr};

/// The result of resolving a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum LinkStatus {
    /// The target is in the conversation.
    Resolved,
    /// The target is missing, but the reference shows its text.
    Preview,
    /// The target is missing, and nothing is known about it.
    Dangling,
    /// The message refers to itself.
    Itself,
    /// The reference is part of a cycle.
    Cyclic,
    /// The source added it; nobody replied.
    Pseudo,
}

impl LinkStatus {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A resolved reference; its ordinal is its index in the message's references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The position of the target, if it is in the conversation.
    pub target: Option<u32>,
    /// The result of resolving the reference.
    pub status: LinkStatus,
    /// Whether source and target have the same sender.
    pub same_sender: bool,
    /// The links of the references that the preview shows; shorter than that list if they are nested too deep.
    pub nested: Vec<Link>,
}

/// The place of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartPlace {
    /// Position of the message.
    pub position: u32,
    /// Index among the message's parts.
    pub part: u32,
}

/// The status of a tool call or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CallStatus {
    /// The result is in the run of results directly after its call.
    Paired,
    /// Paired, but there are other messages than results in between, or another call.
    Late,
    /// The result precedes its call.
    Early,
    /// The call has no result.
    Unanswered,
    /// The result has no call.
    Orphaned,
    /// Another result for an answered call.
    Duplicate,
}

impl CallStatus {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The rule that paired a call with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum PairedBy {
    /// Equal ids.
    Id,
    /// Ids in the source's metadata.
    Metadata,
    /// The order of calls and results.
    Position,
    /// The name of the tool.
    Name,
}

impl PairedBy {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A call with its result, a call alone, or a result alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// The place of the call.
    pub call: Option<PartPlace>,
    /// The place of the result.
    pub result: Option<PartPlace>,
    /// The status of the pair.
    pub status: CallStatus,
    /// The rule that paired them.
    pub paired_by: Option<PairedBy>,
}

/// A conversation after linking; only `chatmill-link` makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The conversation, with unique message ids.
    pub conversation: Conversation,
    /// The links of each message, one for each of its references.
    pub links: Vec<Vec<Link>>,
    /// Calls in order of appearance, with duplicate and orphaned results at their places.
    pub pairings: Vec<Pairing>,
}
