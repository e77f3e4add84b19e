//! Ids and names of participants, messages, calls and tools in spellings that a dialect allows, unique where that matters.
//!
//! Each type takes a view and a rule of the dialect and returns spellings, with declared losses for those that change. Passes call it for
//! turns, and dialects for records; they decide in which field a name or an id is written, or whether it is written at all.

pub(crate) mod calls;
pub(crate) mod messages;
pub(crate) mod participants;
pub(crate) mod record_calls;
pub(crate) mod tools;
pub(crate) mod unique;
