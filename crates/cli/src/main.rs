//! The chatmill command.
fn main() {}
