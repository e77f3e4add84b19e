//! Publishing: a dataset or a folder of files appears complete at its destination, by one rename. This module checks
//! destinations and guards output paths; `work` holds the work of a run until it is published.
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
