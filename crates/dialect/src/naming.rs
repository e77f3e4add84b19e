//! Ids and names as a dialect can spell them: of people, messages, calls and tools, no two alike where that matters.
//!
//! A speller goes by a view and by a rule of the dialect. In which field a name or an id stands, and whether it stands at all, passes and
//! dialects say.

pub(crate) mod calls;
pub(crate) mod messages;
pub(crate) mod people;
pub(crate) mod record_calls;
pub(crate) mod tools;
pub(crate) mod unique;
