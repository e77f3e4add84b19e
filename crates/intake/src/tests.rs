//! Inputs from outside: what patterns find, what a scan accepts, what dumps hold. The tests lay out the folders that are read.
#![allow(clippy::disallowed_methods)]

mod discover;
mod fresh_dumps;
mod json_differential;
