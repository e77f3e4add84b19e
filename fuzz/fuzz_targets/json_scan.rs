//! The scan and its tape, for any bytes. The checks are in `targets` of chatmill-workshop.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chatmill_workshop::targets::json_scan(bytes));
