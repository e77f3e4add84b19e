//! Finds the end of a JSON value by counting brackets outside strings, without validating it.

use memchr::memchr2;

/// The nesting inside a value. A chunk may end at any byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balance {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Balance {
    /// Continues a value that begins with a bracket or a quote; returns the length up to its end if that is in `bytes`.
    pub(crate) fn run(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.escaped {
                self.escaped = false;
                at += 1;
                continue;
            }
            let rest = bytes.split_at(at).1;
            if self.in_string {
                let stop = memchr2(b'"', b'\\', rest)?;
                at += stop + 1;
                if rest.get(stop) == Some(&b'\\') {
                    self.escaped = true;
                    continue;
                }
                self.in_string = false;
            } else {
                let stop = structural(rest)?;
                at += stop + 1;
                match rest.get(stop) {
                    Some(b'"') => {
                        self.in_string = true;
                        continue;
                    }
                    Some(b'{' | b'[') => {
                        self.depth += 1;
                        continue;
                    }
                    _ => self.depth = self.depth.saturating_sub(1),
                }
            }
            if self.depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// Continues text that is not a value; returns the length before the comma or `]` that ends it outside all brackets.
    pub(super) fn run_to_separator(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b',' | b']' if self.depth == 0 => return Some(at),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        None
    }
}

/// The position of the first quote or bracket. Framing passes over every byte of an input, so eight bytes are tested at
/// once.
pub(crate) fn structural(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return Some(number * 8 + stops.trailing_zeros() as usize / 8);
        }
    }
    let found = tail
        .iter()
        .position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))?;
    Some(words.len() * 8 + found)
}

/// Marks quotes and brackets by the high bit of their byte. A carry may mark bytes above a true one, so only the lowest
/// mark counts.
const fn stops(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let quote = word ^ (ONES * b'"' as u64);
    // `[` and `{`, `]` and `}` differ in this one bit.
    let folded = word | (ONES * 0x20);
    let open = folded ^ (ONES * b'{' as u64);
    let close = folded ^ (ONES * b'}' as u64);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let open = open.wrapping_sub(ONES) & !open;
    let close = close.wrapping_sub(ONES) & !close;
    (quote | open | close) & HIGH
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Balance, structural};

    #[test]
    fn a_value_ends_with_its_last_bracket_or_quote() {
        for (text, end) in [
            (r#"{"a":[1,{"b":"}]\"{"}]} {"#, 23),
            (r#""a\\"b"#, 5),
            ("[[],[[]]],", 9),
            (r"[1,2}x", 5),
        ] {
            assert_eq!(Balance::default().run(text.as_bytes()), Some(end), "{text}");
        }
        for text in ["{", "[[]", r#"{"a":"}"#, r#""\""#] {
            assert_eq!(Balance::default().run(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(64))]

        #[test]
        fn cuts_into_chunks_change_nothing(text in r#"[\[{"]["a-c\\\[\]{}:, 中]{0,60}"#, cut in 0_usize..60) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let mut whole = Balance::default();
            let mut parts = Balance::default();
            let split = parts.run(&bytes[..cut]).or_else(|| Some(cut + parts.run(&bytes[cut..])?));
            prop_assert_eq!(split, whole.run(bytes));
        }

        #[test]
        fn word_and_byte_scans_agree(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(structural(&bytes), bytes.iter().position(|byte| b"\"{}[]".contains(byte)));
        }
    }
}
