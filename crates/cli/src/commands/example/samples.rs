//! The files that `chatmill example` prints: those of `data-samples`, built into the program by their names (`build.rs`).
//!
//! The broken ones are the samples of the rules. A rule that takes a device, a second file or a lowered limit has none.

include!(concat!(env!("OUT_DIR"), "/samples.rs"));
