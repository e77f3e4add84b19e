//! A JSON string and what it says, side by side: from a place in the one to the place in the other.

use memchr::memchr;

use super::escape::decode;

/// Walks the inside of a JSON string. Places have to be asked for in ascending order, of one kind.
#[derive(Clone, Debug)]
pub struct Places<'s> {
    rest: &'s [u8],
    /// Bytes up to the next escape, which may be asked for often before it comes.
    plain: usize,
    written: usize,
    said: usize,
}

impl<'s> Places<'s> {
    /// Begins at the start of a string's inside, which a scan has accepted.
    pub fn new(inside: &'s [u8]) -> Self {
        Self {
            rest: inside,
            plain: plain(inside),
            written: 0,
            said: 0,
        }
    }

    /// The offset in what the string says of the byte that is written at `written`.
    pub fn said(&mut self, written: usize) -> usize {
        loop {
            let (length, said) = self.step();
            if length == 0 || self.written + length > written {
                break;
            }
            self.pass(length, said);
        }
        self.said + written.saturating_sub(self.written).min(self.plain)
    }

    /// The offset in the string's inside of what stands at `said` in what it says.
    pub fn written(&mut self, said: usize) -> usize {
        loop {
            let (length, meant) = self.step();
            if length == 0 || self.said + meant > said {
                break;
            }
            self.pass(length, meant);
        }
        self.written + said.saturating_sub(self.said).min(self.plain)
    }

    /// Bytes of the next stretch or escape, and of what it says.
    fn step(&self) -> (usize, usize) {
        if self.plain > 0 || self.rest.is_empty() {
            return (self.plain, self.plain);
        }
        let (character, length) = decode(self.rest);
        (length, character.map_or(0, char::len_utf8))
    }

    fn pass(&mut self, written: usize, said: usize) {
        self.rest = self.rest.split_at(written).1;
        self.plain = plain(self.rest);
        self.written += written;
        self.said += said;
    }
}

/// Bytes up to the next escape.
fn plain(rest: &[u8]) -> usize {
    memchr(b'\\', rest).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn every_place_leads_to_the_other_and_back() {
        let token = r#""aб\n\"\u00e9\ud83d\ude00/\/中\u003cz\t""#;
        let document = json::scan(token.as_bytes(), 0).unwrap();
        let said = document.root().as_str().unwrap().into_owned();
        let inside = &token.as_bytes()[1..token.len() - 1];
        let (mut to, mut back) = (Places::new(inside), Places::new(inside));
        let mut last = 0;
        for (at, character) in said.char_indices() {
            let written = to.written(at);
            assert!(at == 0 || written > last, "{character}");
            last = written;
            assert_eq!(back.said(written), at, "{character}");
        }
        assert_eq!(to.written(said.len()), inside.len());
        assert_eq!(back.said(inside.len()), said.len());
    }
}
