//! The scan and its tape, for any bytes. What must hold is said in the workshop's `targets`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chatmill_workshop::targets::json_scan(bytes));
