//! What formats share. Nothing here knows a format by name, but for the vendors whose blocks tell lists of messages apart.

pub mod arguments;
pub mod beside;
pub mod escapes;
pub mod fields;
pub mod iso8601;
pub mod kept;
pub mod list;
pub mod message_object;
pub mod notes;
pub mod odd_times;
pub mod parts;
pub mod placed_media;
pub mod preference;
pub mod quoted_json;
pub mod recognise;
pub mod requests;
pub mod roster;
pub mod thoughts;
pub mod times;
pub mod tool_calls;
pub mod transcript;
pub mod vendor;
pub mod weight;
