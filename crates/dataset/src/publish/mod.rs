//! Publishing: a dataset or a folder of files appears at its destination complete, by one rename. This module
//! checks the destination; the work of a run before it is published is in `work`.
//!
//! The contents of a dataset belong to `tables` and `manifest`, their verification to `certify`.

pub(crate) mod derived;
pub(crate) mod destination;
pub(crate) mod folder;
pub(crate) mod free_table;
pub(crate) mod guard;
pub(crate) mod remove;
pub(crate) mod report_file;
pub(crate) mod temporary;
pub(crate) mod work;
