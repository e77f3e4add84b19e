//! Maps offsets between a JSON string and its decoded text.

use memchr::memchr;

use super::escape::decode;

/// Walks the inside of a JSON string. Offsets must be requested in ascending order, and only in one direction.
#[derive(Clone, Debug)]
pub struct Places<'s> {
    rest: &'s [u8],
    /// The number of bytes up to the next escape, which is looked for only once.
    plain: usize,
    written: usize,
    decoded: usize,
}

impl<'s> Places<'s> {
    /// Begins at the start of a string's inside, which a scan has accepted.
    pub fn new(inside: &'s [u8]) -> Self {
        Self {
            rest: inside,
            plain: plain(inside),
            written: 0,
            decoded: 0,
        }
    }

    /// The offset in the decoded text of the byte at `written` in the string's inside.
    pub fn decoded(&mut self, written: usize) -> usize {
        loop {
            let (length, decoded) = self.step();
            if length == 0 || self.written + length > written {
                break;
            }
            self.pass(length, decoded);
        }
        self.decoded + written.saturating_sub(self.written).min(self.plain)
    }

    /// The offset in the string's inside of the byte at `decoded` in the decoded text.
    pub fn written(&mut self, decoded: usize) -> usize {
        loop {
            let (length, meant) = self.step();
            if length == 0 || self.decoded + meant > decoded {
                break;
            }
            self.pass(length, meant);
        }
        self.written + decoded.saturating_sub(self.decoded).min(self.plain)
    }

    /// The length of the next run or escape, and of its decoded text, in bytes.
    fn step(&self) -> (usize, usize) {
        if self.plain > 0 || self.rest.is_empty() {
            return (self.plain, self.plain);
        }
        let (character, length) = decode(self.rest);
        (length, character.map_or(0, char::len_utf8))
    }

    fn pass(&mut self, written: usize, decoded: usize) {
        self.rest = self.rest.split_at(written).1;
        self.plain = plain(self.rest);
        self.written += written;
        self.decoded += decoded;
    }
}

/// The number of bytes up to the next escape.
fn plain(rest: &[u8]) -> usize {
    memchr(b'\\', rest).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn places_map_to_each_other_and_back() {
        let token = r#""aб\n\"\u00e9\ud83d\ude00/\/中\u003cz\t""#;
        let document = json::scan(token.as_bytes(), 0).unwrap();
        let decoded = document.root().as_str().unwrap().into_owned();
        let inside = &token.as_bytes()[1..token.len() - 1];
        let (mut to, mut back) = (Places::new(inside), Places::new(inside));
        let mut last = 0;
        for (at, character) in decoded.char_indices() {
            let written = to.written(at);
            assert!(at == 0 || written > last, "{character}");
            last = written;
            assert_eq!(back.decoded(written), at, "{character}");
        }
        assert_eq!(to.written(decoded.len()), inside.len());
        assert_eq!(back.decoded(inside.len()), decoded.len());
    }
}
