//! Tools that all readers share: fields, findings with their places, extra fields, times, participants, and the turn that a grammar fills.
//! Layouts, grammars and formats call them; nothing here depends on a vendor or a format.

pub(crate) mod arguments;
pub(crate) mod conversations;
pub(crate) mod extra;
pub(crate) mod fields;
pub(crate) mod kinds;
pub(crate) mod media;
pub(crate) mod notes;
pub(crate) mod roles;
pub(crate) mod roster;
pub(crate) mod texts;
pub(crate) mod times;
pub(crate) mod turn;

pub(crate) use arguments::{arguments, embedded};
pub(crate) use extra::{
    ExtraFields, Keep, below, compact, drop_extra, holds_something, left, quoted, quoted_list, raw, repeats,
    text_of,
};
pub(crate) use fields::{
    FieldText, Wire, field_text, filled, first_present, first_text, id, items, present, text, word,
};
pub(crate) use fields::{wire, words};
pub(crate) use kinds::{message_kind, participant_kind, reply_to};
pub(crate) use media::{divided, kind_of};
pub(crate) use notes::{Notes, Site};
pub(crate) use roster::{Roster, those_of};
pub(crate) use texts::repeated_text::RepeatedText;
pub(crate) use times::{Times, iso8601, moment_of};
pub(crate) use turn::{Turn, UnknownFields, are_of_tools, join_texts, only_answers, results_last};
