//! Inputs: the files that patterns match, the JSON that a scan accepts, and the rows of dumps. The tests create the
//! folders that are read.
#![allow(clippy::disallowed_methods)]

mod discover;
mod fresh_dumps;
mod json_differential;
