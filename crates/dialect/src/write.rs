//! Writers that several dialects share: message lists, JSON objects, and pictures and files. They lose nothing.
//!
//! A plan of turns or single values come in, and JSON goes into the sink. Passes have fitted the turns to the dialect before; a writer that
//! only one dialect needs is in its file.

pub(crate) mod list;
pub(crate) mod object;
pub(crate) mod picture;
