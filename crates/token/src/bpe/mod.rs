//! Byte-pair encoding: the tables of merges, and the merging of pieces into tokens.
//!
//! In go the pieces that `split` has cut; out come lengths of tokens. `tables` is the counter of every encoding, `vocabulary` and
//! `merge_table` are what it looks up, `merge` does the work. `model` and `reached` turn the merges of a file into a vocabulary. Nothing
//! here knows where texts are cut or which file a vocabulary comes from. `encoding` and `token_counter` call it.

pub(crate) mod merge;
mod merge_table;
pub(crate) mod merges;
pub(crate) mod model;
mod pairs;
pub(crate) mod reached;
pub(crate) mod symbols;
pub(crate) mod tables;
pub(crate) mod vocabulary;
