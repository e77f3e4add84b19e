//! Where the messages of a conversation are: lists, lines, rows, trees, columns, requests and their answers; and how turns
//! become messages.

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
