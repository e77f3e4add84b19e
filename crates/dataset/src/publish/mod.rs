//! What appears at a destination, whole and by one rename: a dataset, or a folder of files. Here is the destination with all that may
//! lie there; the work of a run until it is published is in `work`.
//!
//! What the bytes of a dataset are is known to `tables` and `manifest`; whether they are right is asked of `certify`.

pub(crate) mod derived;
pub(crate) mod destination;
pub(crate) mod folder;
pub(crate) mod free_table;
pub(crate) mod remove;
pub(crate) mod temporary;
pub(crate) mod work;
