//! Writes JSON text: escaping and compaction. Nothing here parses.

use crate::bytes;

/// Appends `text` as a JSON string with quotes.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

/// Appends the inside of a JSON string: only `"`, `\` and U+0000 to U+001F are escaped, in the short form where one exists.
pub fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = bytes::position(rest.as_bytes(), needs_escape) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = tail.chars();
        if let Some(character) = characters.next() {
            push_escape(out, character);
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
}

/// Whether escaping would change the text.
pub(crate) fn has_escapes(text: &str) -> bool {
    bytes::any(text.as_bytes(), needs_escape)
}

#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, whole blocks of bytes are compared at once"
)]
const fn needs_escape(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

fn push_escape(out: &mut String, character: char) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        other => {
            const HEX: [char; 16] = [
                '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
            ];
            out.push_str("\\u00");
            for shift in [4, 0] {
                let digit = (u32::from(other) >> shift) & 0xf;
                out.extend(HEX.get(digit as usize));
            }
        }
    }
}

/// Appends valid JSON without its insignificant white space; numbers, strings and key order are kept as written.
pub fn push_compact(out: &mut String, raw: &str) {
    let mut start = 0;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in raw.bytes().enumerate() {
        if in_string {
            if escaped {
                escaped = false;
            } else if byte == b'\\' {
                escaped = true;
            } else if byte == b'"' {
                in_string = false;
            }
        } else if byte == b'"' {
            in_string = true;
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            out.extend(raw.get(start..at));
            start = at + 1;
        }
    }
    out.extend(raw.get(start..));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_must_be_escaped_is_escaped() {
        let mut out = String::new();
        push_string(&mut out, "a\"b\\c/\u{8}\u{c}\n\r\t\u{1}\u{1f}é\u{2028}\u{7f}");
        assert_eq!(
            out,
            "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001fé\u{2028}\u{7f}\""
        );
    }

    #[test]
    fn compaction_keeps_strings_and_numbers() {
        let mut out = String::new();
        push_compact(
            &mut out,
            " { \"a b\" : [ 1.0 , -0 ,\n\t1e5 ] , \"c\\\" d\" : \" \" } ",
        );
        assert_eq!(out, "{\"a b\":[1.0,-0,1e5],\"c\\\" d\":\" \"}");
    }
}
