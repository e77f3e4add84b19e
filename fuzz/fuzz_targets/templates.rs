//! Chat templates, for any bytes. What must hold is said in the testkit's `targets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chatmill_testkit::targets::templates(bytes));
