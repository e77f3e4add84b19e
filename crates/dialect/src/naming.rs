//! Ids and names as a dialect can spell them: of participants, messages, calls and tools, unique where that matters.
//!
//! A speller goes by a view and by a rule of the dialect. Passes and dialects decide in which field a name or an id stands,
//! and whether it stands at all.

pub(crate) mod calls;
pub(crate) mod messages;
pub(crate) mod participants;
pub(crate) mod record_calls;
pub(crate) mod tools;
pub(crate) mod unique;
