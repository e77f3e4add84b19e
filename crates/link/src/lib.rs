//! Links one conversation: drops repeated messages, resolves references and pairs tool calls with their results.
//!
//! A `Conversation` comes in, a `Linked` goes out with findings and the changed positions; `engine` calls [`link()`]. Pure: no input, no
//! clock, no order that depends on hashing. Conversations are also compared with one another: [`memberships`] finds those that repeat, fork
//! or continue others, [`repeats_of`] those that repeat others from elsewhere, and `export` finds texts that parts share with [`Ngrams`].
//!
//! Checks of the result (a dangling reference, an unanswered call) are rules of `chatmill-rule`; findings come from here only if linking
//! changes the conversation.

mod duplicates;
mod excerpts;
mod forest;
mod likeness;
mod ngrams;
mod pairing;
mod question;
mod references;
mod repeats;
mod words;

use chatmill_diag::{Finding, Limits};
use chatmill_model::{Conversation, Linked};

pub use duplicates::{Cluster, ClusterMembership, Duplicate, memberships, repeats_of};
pub use forest::Forest;
pub use likeness::Likeness;
pub use ngrams::{IndexFull, KnownRun, Ngrams};
pub use repeats::Repeats;
pub use words::each_word;

/// Links a conversation: drops repeated messages, makes ids unique, resolves references, pairs calls with results.
///
/// Positions are renumbered when messages are dropped; [`Repeats::position`] translates earlier positions. Linking a linked conversation
/// again changes nothing.
pub fn link(mut conversation: Conversation, limits: &Limits) -> (Linked, Vec<Finding>, Repeats) {
    let mut findings = Vec::new();
    let repeats = repeats::drop_and_qualify(&mut conversation.messages, &mut findings);
    repeats.translate_places(&mut conversation.alternatives);
    references::cap(&mut conversation.messages, limits, &mut findings);
    let links = references::resolve(&conversation);
    let pairings = pairing::pair(&conversation.messages);
    let linked = Linked {
        conversation,
        links,
        pairings,
    };
    (linked, findings, repeats)
}
