//! Finds the messages of a record and makes a conversation of them. A layout is one arrangement: a list, lines of text,
//! rows, a tree, columns, a request with its answer.
//!
//! Formats call a layout with a frame and the grammar of its messages. The layout passes each element to the grammar,
//! receives a turn, and adds it as a message with its speaker, time and place; elements that cannot be read become
//! rejects. The result is a reading: conversations, findings, and the ledger of rows.

pub(crate) mod columns;
pub(crate) mod exchange;
pub(crate) mod lines;
pub(crate) mod list;
pub(crate) mod preference;
pub(crate) mod recognise;
pub(crate) mod request_fields;
pub(crate) mod requests;
pub(crate) mod text;
pub(crate) mod thoughts;
pub(crate) mod tree;
pub(crate) mod turns;

pub(crate) use list::{Element, ListReader};
pub(crate) use recognise::{best, has, holds, is_bare_list, surest};
pub(crate) use request_fields::{Names, RequestFields};
pub(crate) use requests::{RequestForm, Requests, spelled_list};
pub(crate) use thoughts::reading;
pub(crate) use turns::{OUTSIDE_LISTS, Turns};
