//! The files that `chatmill example` prints: those of `data-samples`, which `build.rs` compiles into the program by their names.
//!
//! The broken files are the samples of the rules. Rules that need a device, a second file or a lowered limit have no such file.

include!(concat!(env!("OUT_DIR"), "/samples.rs"));
