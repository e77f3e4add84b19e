//! Tests that apply to every command.
#![allow(clippy::disallowed_methods, reason = "tests write the files that they need")]

mod outputs;
