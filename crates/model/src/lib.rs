//! The canonical model of a conversation, and the sink that every rendering is written into.
//!
//! Sources write these plain types, `link` resolves their references, rules check them and dialects read them; each type's invariants are
//! in its documentation. No wire format is here. `sink` and `span` are the exit: a dialect writes text into a `Sink`, and token counters
//! read it from there.

pub mod alternative;
pub mod bytes;
pub mod conversation;
pub mod extra;
pub mod fingerprint;
pub mod json;
pub mod linked;
pub mod message;
pub mod participant;
pub mod sink;
pub mod span;
mod target;
pub mod technical;
pub mod timestamp;
pub mod traits;
pub mod usage;

pub use alternative::{Alternative, AlternativeOrigin, Judgement, LabelBasis, Score};
pub use conversation::{Conversation, Scene};
pub use extra::{Extra, RawJson};
pub use linked::{CallStatus, Link, LinkStatus, Linked, PairedBy, Pairing, PartPlace};
pub use message::{
    ArgumentForm, Arguments, EarlierCopy, Fact, Media, MediaKind, MediaSource, Message, MessageKind,
    MessageOrigin, OwnItem, Part, Preview, Reference, ReferenceForm, Role, ToolCall, ToolResult, Unstated,
    Vendor, VendorItem, Weight, own_parts,
};
pub use participant::{Participant, ParticipantKind};
pub use sink::{Piece, PieceRun, Sink, SinkBuffers, TurnStart};
pub use span::{Component, ComponentCounts, ComponentSpan, Level, Speaker};
pub use target::{DEFAULT_PROFILE, target_name};
pub use timestamp::{OffsetOrigin, Timestamp};
pub use traits::{FormatTraits, Records, TextArguments};
pub use usage::{BilledUsage, Cost, ServiceTier, Usage, UsageMismatch};
