//! The alphabet of byte-level vocabularies: a visible character for each byte.

use std::sync::LazyLock;

/// The character of each byte in a byte-level vocabulary: visible characters of Latin-1 are themselves, and the other bytes follow one
/// another from U+0100 on.
pub(crate) static CHARACTERS: LazyLock<Vec<char>> = LazyLock::new(|| {
    let mut others = '\u{100}'..;
    let characters = (0..=u8::MAX).filter_map(|byte| match byte {
        b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => Some(char::from(byte)),
        _ => others.next(),
    });
    characters.collect()
});
