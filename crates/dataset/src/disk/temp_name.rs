//! Names of temporary files.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Hexadecimal digits in a temporary name.
const RANDOM_DIGITS: usize = 16;

/// New random digits, from the random keys of the standard hasher. They must be unique but not secret.
pub(crate) fn random_digits() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{random:0RANDOM_DIGITS$x}")
}

/// A new temporary name for a file that will be renamed to `wanted`.
pub(super) fn new_temp_name(wanted: &str) -> String {
    format!(".{wanted}.{}.new", random_digits())
}

/// Whether `Dir::create_temp` gives such a name to a file that will have one of our names.
pub(crate) fn is_temp_file_of(name: &str, is_ours: impl Fn(&str) -> bool) -> bool {
    let stem = name.strip_prefix('.').and_then(|name| name.strip_suffix(".new"));
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    stem.and_then(|stem| stem.rsplit_once('.'))
        .is_some_and(|(wanted, random)| {
            random.len() == RANDOM_DIGITS && random.bytes().all(is_digit) && is_ours(wanted)
        })
}

/// Whether `Dir::create_temp` gives such a name to any file.
pub(crate) fn is_temp_file(name: &str) -> bool {
    is_temp_file_of(name, |_| true)
}
