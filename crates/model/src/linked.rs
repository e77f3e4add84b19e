//! A conversation whose references are resolved and whose tool calls are paired.

use crate::conversation::Conversation;
use strum::{EnumString, IntoStaticStr};

/// What became of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum LinkStatus {
    /// The target is in the conversation.
    Resolved,
    /// The target is missing, but the reference shows its text.
    Preview,
    /// The target is not there and nothing is known of it.
    Dangling,
    /// The message refers to itself.
    Itself,
    /// The reference lies on a cycle.
    Cyclic,
    /// The source made it up: nobody replied.
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
    /// Position of the target, where it is in the conversation.
    pub target: Option<u32>,
    /// What became of the reference.
    pub status: LinkStatus,
    /// Whether source and target have the same sender.
    pub same_sender: bool,
    /// What became of the references that the reference shows in its turn; shorter than these where they lie too deep.
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
    /// The result stands in the run of results directly after its call.
    Paired,
    /// Paired, but other turns than results stand between, be it another call.
    Late,
    /// The result stands before its call.
    Early,
    /// The call has no result.
    Unanswered,
    /// The result has no call.
    Orphaned,
    /// A further result for an answered call.
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
    /// Order.
    Position,
    /// Name of the tool.
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
    /// Where the call is.
    pub call: Option<PartPlace>,
    /// Where the result is.
    pub result: Option<PartPlace>,
    /// The status of the pair.
    pub status: CallStatus,
    /// What paired them.
    pub paired_by: Option<PairedBy>,
}

/// A conversation after linking. Made by `chatmill-link` only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The conversation, with unique message ids.
    pub conversation: Conversation,
    /// For each message, in order: the link of each of its references.
    pub links: Vec<Vec<Link>>,
    /// Calls in order of appearance; duplicate and orphaned results where they stand.
    pub pairings: Vec<Pairing>,
}
