//! A reader of Thrift's compact protocol, as far as it is needed to measure a Parquet file before it is decoded.

/// The maximum nesting of structs that are read.
const MAX_DEPTH: usize = 16;

const END: u8 = 0;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Reads values one after another; `None` where the bytes end or are invalid.
pub(super) struct Thrift<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// The header of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// The length of the header in bytes.
    pub header: usize,
    /// The decompressed length in bytes.
    pub plain: i64,
    /// The stored length in bytes.
    pub stored: i64,
    /// The number of values, or the largest of several stated numbers; those of a dictionary are not included.
    pub values: i64,
    /// The number of uncompressed bytes of levels in front.
    pub levels: i64,
    /// Whether the page is stated to be uncompressed.
    pub is_plain: bool,
}

impl<'b> Thrift<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at)?;
        self.at += 1;
        Some(*byte)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// The next field of a struct: its number and its type, which is [`END`] after the last one.
    fn field(&mut self, last: &mut i64) -> Option<(i64, u8)> {
        let byte = self.byte()?;
        if byte == END {
            return Some((0, END));
        }
        let step = byte >> 4;
        *last = if step == 0 {
            self.signed()?
        } else {
            *last + i64::from(step)
        };
        Some((*last, byte & 0x0f))
    }

    /// Reads the fields of a struct; `read` receives the number and the type of each field and reads its value.
    fn fields(&mut self, mut read: impl FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        let mut last = 0;
        loop {
            let (number, kind) = self.field(&mut last)?;
            if kind == END {
                return Some(());
            }
            read(self, number, kind)?;
        }
    }

    /// The number and the type of a list's elements.
    fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let short = u64::from(byte >> 4);
        let count = if short == 15 { self.unsigned()? } else { short };
        Some((count, byte & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            // A boolean has no bytes: its type is its value.
            1 | 2 => {}
            3 => {
                self.byte()?;
            }
            4..=6 => {
                self.unsigned()?;
            }
            7 => self.at = self.at.checked_add(8)?,
            BINARY => {
                let length = usize::try_from(self.unsigned()?).ok()?;
                self.at = self.at.checked_add(length)?;
            }
            LIST | 10 => {
                let (count, element) = self.list()?;
                for _ in 0..count {
                    // In a list, a boolean is one byte.
                    self.skip(if element <= 2 { 3 } else { element }, depth + 1)?;
                }
            }
            STRUCT => self.fields(|inside, _, kind| inside.skip(kind, depth + 1))?,
            _ => return None,
        }
        (self.at <= self.bytes.len()).then_some(())
    }

    /// The depth of the schema in the footer of a file.
    pub(super) fn schema_depth(&mut self) -> Option<usize> {
        let mut last = 0;
        loop {
            let (number, kind) = self.field(&mut last)?;
            if kind == END {
                break;
            }
            if number != 2 || kind != LIST {
                self.skip(kind, 0)?;
                continue;
            }
            let (count, element) = self.list()?;
            if element != STRUCT {
                return None;
            }
            // Elements are in the order of a walk. For each open group, the number of its remaining children is kept.
            let (mut open, mut deepest) = (Vec::<i64>::new(), 0);
            for _ in 0..count {
                let children = self.children()?;
                while open.last() == Some(&0) {
                    open.pop();
                }
                if let Some(left) = open.last_mut() {
                    *left -= 1;
                }
                if children > 0 {
                    open.push(children);
                }
                deepest = deepest.max(open.len());
            }
            return Some(deepest);
        }
        None
    }

    /// The number of children of a schema element.
    fn children(&mut self) -> Option<i64> {
        let mut children = 0;
        self.fields(|inside, number, kind| {
            if (number, kind) != (5, 5) {
                return inside.skip(kind, 0);
            }
            children = inside.signed()?;
            Some(())
        })?;
        Some(children)
    }

    /// The header of a page.
    pub(super) fn page(&mut self) -> Option<Page> {
        let mut page = Page::default();
        self.fields(|head, number, kind| {
            match (number, kind) {
                (2, 5) => page.plain = head.signed()?,
                (3, 5) => page.stored = head.signed()?,
                // The header of the page's kind: a data page of version 1, or one of version 2.
                (5 | 8, STRUCT) => head.fields(|head, inside, kind| {
                    match (number, inside, kind) {
                        (_, 1, 5) => page.values = page.values.max(head.signed()?),
                        (8, 5 | 6, 5) => page.levels = page.levels.checked_add(head.signed()?)?,
                        (8, 7, 2) => page.is_plain = true,
                        _ => head.skip(kind, 0)?,
                    }
                    Some(())
                })?,
                _ => head.skip(kind, 0)?,
            }
            Some(())
        })?;
        page.header = self.at;
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_a_page_is_measured() {
        // Type 0, 300 bytes, 20 of them stored, then a struct with the number of values, 2.
        let bytes = [
            0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x28, 0x2c, 0x15, 0x04, 0x00, 0x00,
        ];
        let page = Thrift::new(&bytes).page().unwrap();
        assert_eq!((page.header, page.plain, page.stored), (12, 300, 20));
        assert_eq!((page.values, page.levels), (2, 0));
        for cut in 0..bytes.len() {
            assert_eq!(Thrift::new(&bytes[..cut]).page(), None, "{cut}");
        }
    }

    #[test]
    fn structs_without_an_end_are_not_followed() {
        let bytes = [0x1c; 4096];
        assert_eq!(Thrift::new(&bytes).page(), None);
        assert_eq!(Thrift::new(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f]).page(), None);
    }
}
