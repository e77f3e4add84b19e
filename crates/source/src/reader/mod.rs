//! Readers shared by formats. Nothing here depends on a format's name, except for the vendors, whose messages
//! appear in many formats, and whose blocks distinguish lists of messages.

pub(crate) mod arguments;
pub(crate) mod columns;
pub(crate) mod escapes;
pub(crate) mod exchange;
pub(crate) mod extra;
pub(crate) mod fields;
pub(crate) mod kinds;
pub(crate) mod lines;
pub(crate) mod list;
pub(crate) mod logged;
pub(crate) mod media_marks;
pub(crate) mod message_object;
pub(crate) mod notes;
pub(crate) mod parts;
pub(crate) mod preference;
pub(crate) mod python;
pub(crate) mod quoted_json;
pub(crate) mod recognise;
pub(crate) mod repeated_text;
pub(crate) mod request_fields;
pub(crate) mod requests;
pub(crate) mod role_words;
pub(crate) mod roster;
pub(crate) mod text;
pub(crate) mod thoughts;
pub(crate) mod times;
pub(crate) mod tool_calls;
pub(crate) mod transcript;
pub(crate) mod tree;
pub(crate) mod turns;
pub(crate) mod vendor;
pub(crate) mod weight;

pub(crate) use arguments::{arguments, embedded};
pub(crate) use extra::{
    Content, ExtraFields, Keep, below, compact, drop_extra, holds_something, left, quoted, quoted_list, raw,
    repeats,
};
pub(crate) use fields::{
    FieldText, Wire, field_text, filled, first_present, first_text, id, items, present, text, word,
};
pub(crate) use fields::{wire, words};
pub(crate) use kinds::{message_kind, participant_kind, reply_to};
pub(crate) use list::{Element, ListReader};
pub(crate) use message_object::{MessageObject, text_of};
pub(crate) use notes::{Notes, Site};
pub(crate) use parts::{divided, kind_of};
pub(crate) use recognise::{best, has, holds, is_bare_list, surest};
pub(crate) use repeated_text::RepeatedText;
pub(crate) use request_fields::{Names, RequestFields, Tools, list_of_tools, tools_of_vendor};
pub(crate) use requests::{Described, RequestForm, Requests, of_request};
pub(crate) use roster::{Roster, those_of};
pub(crate) use thoughts::reading;
pub(crate) use times::{Times, iso8601};
pub(crate) use turns::{OUTSIDE_LISTS, Turn, Turns};
pub(crate) use vendor::Vendor;
