//! Decodes the inside of a JSON string.

use memchr::memchr;

/// Decodes the escapes of `inside`, which a scan has accepted and repaired.
///
/// An invalid escape, which the scan rules out, is dropped.
pub(super) fn unescape(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(backslash) = memchr(b'\\', rest.as_bytes()) {
        let (plain, escape) = rest.split_at(backslash);
        text.push_str(plain);
        let (decoded, length) = decode(escape.as_bytes());
        text.extend(decoded);
        rest = escape.split_at(length).1;
    }
    text.push_str(rest);
    text
}

/// Decodes the valid escapes in any bytes; everything else stays.
pub(crate) fn unescape_lossy(inside: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(backslash) = memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(backslash);
        text.extend_from_slice(plain);
        let (decoded, length) = decode(escape);
        if let Some(sign) = decoded {
            text.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = escape.split_at(length).1;
    }
    text.extend_from_slice(rest);
    text
}

/// The character of the escape at the start of `escape`, and the length of the escape in bytes.
pub(super) fn decode(escape: &[u8]) -> (Option<char>, usize) {
    let plain = |character| (Some(character), 2);
    match escape.get(1) {
        Some(b'"') => plain('"'),
        Some(b'\\') => plain('\\'),
        Some(b'/') => plain('/'),
        Some(b'b') => plain('\u{8}'),
        Some(b'f') => plain('\u{c}'),
        Some(b'n') => plain('\n'),
        Some(b'r') => plain('\r'),
        Some(b't') => plain('\t'),
        Some(b'u') => match unit(escape, 2) {
            Some(high @ 0xD800..0xDC00) => match unit(escape, 8) {
                Some(low @ 0xDC00..0xE000) => (
                    char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)),
                    12,
                ),
                _ => (None, 6),
            },
            Some(code) => (char::from_u32(code), 6),
            None => (None, 2),
        },
        _ => (None, escape.len().clamp(1, 2)),
    }
}

/// The code unit that the four hexadecimal digits at `at` denote.
fn unit(escape: &[u8], at: usize) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(escape.get(at..at + 4)?).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn every_escape_gives_its_character() {
        assert_eq!(unescape(r#"\"\\\/\b\f\n\r\t"#), "\"\\/\u{8}\u{c}\n\r\t");
        assert_eq!(unescape(r"a\u0041\u00e9\u4E2D\ud83d\ude00z"), "aAé中😀z");
        assert_eq!(unescape(r"\u0000"), "\0");
        assert_eq!(unescape("no escapes: 中"), "no escapes: 中");
    }
}
