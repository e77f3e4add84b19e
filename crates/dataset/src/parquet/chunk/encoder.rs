//! The encodings of the values in a column: plain, or as indices into a dictionary.

use parquet::basic::Encoding;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::dictionary::Dictionary;
use super::{PAGE_BYTES, empty, hybrid};
use crate::parquet::key::{Key, Keys};

/// The maximum length of a text in the statistics, in bytes; longer ones are cut.
const STATISTICS_BYTES: usize = 64;

/// The bound of small numbers: the indices of these are looked up in a list, those of larger ones in the hash table of
/// the dictionary.
const SMALL_NUMBERS: u64 = 1 << 14;

/// The callback for a finished page.
pub(crate) type Finish<'f> = dyn FnMut(&[u8], Encoding) -> Result<()> + 'f;

/// An encoder for the values of a column.
pub trait Encoder {
    /// The length of the current page, in bytes.
    fn bytes(&self) -> usize;

    /// Whether the current page must end with its row whatever its size.
    fn ends_page(&self) -> bool {
        false
    }

    /// Passes the current page, levels before values, to `finish`, and begins a new one. `page` is a buffer where they
    /// must be joined.
    fn end_page(&mut self, levels: &[u8], page: &mut Vec<u8>, finish: &mut Finish<'_>) -> Result<()>;

    /// Takes the dictionary of the row group with the number of its values, if there is one. The next value begins a
    /// new dictionary.
    fn dictionary(&mut self) -> Option<(Vec<u8>, u32)> {
        None
    }

    /// Takes the statistics of the row group for the footer. The next value begins new ones.
    fn statistics(&mut self, _nulls: u64) -> Option<Statistics> {
        None
    }
}

fn whole<'p>(levels: &[u8], values: &[u8], page: &'p mut Vec<u8>) -> &'p [u8] {
    page.clear();
    page.extend_from_slice(levels);
    page.extend_from_slice(values);
    page
}

/// Appends bytes after their length, as in a plain page.
fn push_bytes(value: &[u8], page: &mut Vec<u8>) -> Result<()> {
    let length = u32::try_from(value.len());
    let length = length.map_err(|_| ParquetError::General("a value has more than 4 GiB".to_owned()))?;
    page.extend_from_slice(&length.to_le_bytes());
    page.extend_from_slice(value);
    Ok(())
}

/// Numbers that rarely repeat.
#[derive(Default)]
pub(crate) struct Fixed(Vec<u8>);

impl Fixed {
    pub(crate) fn number(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
}

/// Texts or other bytes, each after its length. The buffer has room for levels in front of the values, so that joining
/// the two does not copy the page.
#[derive(Default)]
pub struct Bytes(Vec<u8>);

/// The size of that room, in bytes; a page with more levels is joined in another buffer.
const RESERVED: usize = 8 << 10;

impl Bytes {
    pub(crate) fn push(&mut self, value: &[u8]) -> Result<()> {
        if self.0.is_empty() {
            self.0.resize(RESERVED, 0);
        }
        push_bytes(value, &mut self.0)
    }
}

impl Encoder for Bytes {
    fn bytes(&self) -> usize {
        self.0.len().saturating_sub(RESERVED)
    }

    fn end_page(&mut self, levels: &[u8], page: &mut Vec<u8>, finish: &mut Finish<'_>) -> Result<()> {
        // A page without values has no such room.
        let reserved = RESERVED.min(self.0.len());
        if let Some(before) = reserved.checked_sub(levels.len()) {
            let page = self.0.split_at_mut(before).1;
            page.split_at_mut(levels.len()).0.copy_from_slice(levels);
            finish(page, Encoding::PLAIN)?;
        } else {
            finish(whole(levels, self.0.split_at(reserved).1, page), Encoding::PLAIN)?;
        }
        empty(&mut self.0);
        Ok(())
    }
}

impl Encoder for Fixed {
    fn bytes(&self) -> usize {
        self.0.len()
    }

    fn end_page(&mut self, levels: &[u8], page: &mut Vec<u8>, finish: &mut Finish<'_>) -> Result<()> {
        finish(whole(levels, &self.0, page), Encoding::PLAIN)?;
        empty(&mut self.0);
        Ok(())
    }
}

/// Booleans, one bit each.
#[derive(Default)]
pub struct Bits {
    bits: Vec<bool>,
    seen: [bool; 2],
}

impl Bits {
    pub(crate) fn push(&mut self, bit: bool) {
        self.bits.push(bit);
        let [no, yes] = &mut self.seen;
        *(if bit { yes } else { no }) = true;
    }
}

impl Encoder for Bits {
    fn bytes(&self) -> usize {
        self.bits.len() / 8
    }

    fn end_page(&mut self, levels: &[u8], page: &mut Vec<u8>, finish: &mut Finish<'_>) -> Result<()> {
        page.clear();
        page.extend_from_slice(levels);
        page.extend(self.bits.chunks(8).map(|bits| {
            let shifted = (0..).zip(bits).map(|(place, bit)| u8::from(*bit) << place);
            shifted.fold(0, |byte, bit| byte | bit)
        }));
        self.bits.clear();
        finish(page, Encoding::PLAIN)
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        let [no, yes] = std::mem::take(&mut self.seen);
        let bounds = (no || yes).then_some((!no, yes));
        let (least, most) = bounds.unzip();
        Some(Statistics::boolean(least, most, None, Some(nulls), false))
    }
}

/// Values that repeat: a page contains indices into a dictionary, or the values themselves once the dictionary is full.
pub struct Coded {
    kind: CodedKind,
    dictionary: Dictionary,
    state: CodedState,
    indices: Vec<u32>,
    /// For each key or small number its dictionary index plus one; 0 where it is not in the dictionary.
    known: Vec<u32>,
    /// The values of a page that uses no dictionary.
    plain: Vec<u8>,
    /// The smallest and the largest value that is not in the dictionary.
    bounds: Option<(Vec<u8>, Vec<u8>)>,
}

/// The values that a dictionary can encode, and how they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodedKind {
    Text,
    Long,
    Int,
    Real,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodedState {
    /// The dictionary accepts values.
    Open,
    /// The dictionary still accepts the values of the current row, because a page has one encoding and a row is on one page.
    Full,
    /// Pages contain the values themselves.
    Plain,
}

impl Coded {
    pub(crate) fn new(kind: CodedKind) -> Self {
        Self {
            kind,
            dictionary: match kind {
                CodedKind::Text => Dictionary::of_texts(),
                CodedKind::Long | CodedKind::Int | CodedKind::Real => Dictionary::of_numbers(),
            },
            state: CodedState::Open,
            indices: Vec::new(),
            known: Vec::new(),
            plain: Vec::new(),
            bounds: None,
        }
    }

    /// Writes a text, or a number in the byte order of the file.
    pub(crate) fn push(&mut self, value: &[u8]) -> Result<()> {
        if self.state == CodedState::Plain {
            if self.kind == CodedKind::Text {
                push_bytes(value, &mut self.plain)?;
            } else {
                self.plain.extend_from_slice(value);
            }
            self.bounds = Some(widened(self.kind, self.bounds.take(), value));
            return Ok(());
        }
        let index = if let Some(index) = self.dictionary.index(value, PAGE_BYTES) {
            index
        } else {
            self.state = CodedState::Full;
            self.dictionary.append(value)?
        };
        self.indices.push(index);
        Ok(())
    }

    /// Writes the text of a key. Its index is searched once per row group.
    pub(crate) fn push_key(&mut self, key: Key, keys: &Keys) -> Result<()> {
        self.push_known(key.index(), || keys.text(key).as_bytes())
    }

    /// Writes a number in the byte order of the file. The index of a small number is searched once per row group.
    pub(crate) fn push_number<const BYTES: usize>(&mut self, number: u64, value: [u8; BYTES]) -> Result<()> {
        if number < SMALL_NUMBERS {
            return self.push_known(number as usize, || &value);
        }
        self.push(&value)
    }

    fn push_known<'v>(&mut self, place: usize, value: impl FnOnce() -> &'v [u8]) -> Result<()> {
        let known = self.known.get(place).and_then(|index| index.checked_sub(1));
        if let (Some(index), CodedState::Open) = (known, self.state) {
            self.indices.push(index);
            return Ok(());
        }
        self.push(value())?;
        if let (CodedState::Open, Some(index)) = (self.state, self.indices.last()) {
            if self.known.len() <= place {
                self.known.resize(place + 1, 0);
            }
            if let Some(known) = self.known.get_mut(place) {
                *known = index + 1;
            }
        }
        Ok(())
    }
}

impl Encoder for Coded {
    fn bytes(&self) -> usize {
        size_of_val(&self.indices[..]) + self.plain.len()
    }

    fn ends_page(&self) -> bool {
        self.state == CodedState::Full
    }

    fn end_page(&mut self, levels: &[u8], page: &mut Vec<u8>, finish: &mut Finish<'_>) -> Result<()> {
        if self.indices.is_empty() {
            finish(whole(levels, &self.plain, page), Encoding::PLAIN)?;
            empty(&mut self.plain);
            return Ok(());
        }
        let width = hybrid::width(self.dictionary.len().saturating_sub(1)).max(1);
        page.clear();
        page.extend_from_slice(levels);
        page.push(width as u8);
        hybrid::encode(&self.indices, width, page);
        self.indices.clear();
        if self.state == CodedState::Full {
            self.state = CodedState::Plain;
            self.known.clear();
        }
        finish(page, Encoding::RLE_DICTIONARY)
    }

    fn dictionary(&mut self) -> Option<(Vec<u8>, u32)> {
        self.state = CodedState::Open;
        self.known.clear();
        let count = self.dictionary.len();
        let page = self.dictionary.take();
        (count > 0).then_some((page, count))
    }

    fn statistics(&mut self, nulls: u64) -> Option<Statistics> {
        let mut bounds = self.bounds.take();
        for value in self.dictionary.values() {
            bounds = Some(widened(self.kind, bounds, value));
        }
        let nulls = Some(nulls);
        let (least, most) = bounds
            .as_ref()
            .map(|(least, most)| (&least[..], &most[..]))
            .unzip();
        Some(match self.kind {
            CodedKind::Text => return Some(of_texts(least, most, nulls)),
            CodedKind::Long => Statistics::int64(least.map(long), most.map(long), None, nulls, false),
            CodedKind::Int => Statistics::int32(least.map(int), most.map(int), None, nulls, false),
            CodedKind::Real => return None,
        })
    }
}

fn widened(kind: CodedKind, bounds: Option<(Vec<u8>, Vec<u8>)>, value: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let Some((mut least, mut most)) = bounds else {
        return (value.to_vec(), value.to_vec());
    };
    let is_less = |one: &[u8], other: &[u8]| match kind {
        CodedKind::Text => one < other,
        CodedKind::Long => long(one) < long(other),
        CodedKind::Int => int(one) < int(other),
        CodedKind::Real => false,
    };
    for (bound, replaced) in [
        (is_less(value, &least), &mut least),
        (is_less(&most, value), &mut most),
    ] {
        if bound {
            replaced.clear();
            replaced.extend_from_slice(value);
        }
    }
    (least, most)
}

fn long(bytes: &[u8]) -> i64 {
    <[u8; 8]>::try_from(bytes).map_or(0, i64::from_le_bytes)
}

fn int(bytes: &[u8]) -> i32 {
    <[u8; 4]>::try_from(bytes).map_or(0, i32::from_le_bytes)
}

/// The statistics of texts. The lower bound of a long text is its beginning; the upper bound is a text that exceeds all
/// texts with this beginning.
fn of_texts(least: Option<&[u8]>, most: Option<&[u8]>, nulls: Option<u64>) -> Statistics {
    let cut_least = least.map(beginning);
    let cut_most = most.and_then(|most| {
        let cut = beginning(most);
        if cut.len() == most.len() {
            return Some(cut);
        }
        larger(&cut)
    });
    let (least_is_exact, most_is_exact) = (cut_least.as_deref() == least, cut_most.as_deref() == most);
    let [least, most] = [cut_least, cut_most].map(|cut| cut.map(ByteArray::from));
    ValueStatistics::new(least, most, None, nulls, false)
        .with_min_is_exact(least_is_exact)
        .with_max_is_exact(most_is_exact)
        .into()
}

/// The beginning of a text, cut between characters.
fn beginning(text: &[u8]) -> Vec<u8> {
    let mut end = text.len().min(STATISTICS_BYTES);
    while text
        .get(end)
        .is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000)
    {
        end -= 1;
    }
    text.split_at(end).0.to_vec()
}

/// The smallest text that is larger than all texts with this beginning and has at most as many characters; `None` where
/// there is none.
fn larger(text: &[u8]) -> Option<Vec<u8>> {
    let mut text: Vec<char> = str::from_utf8(text).ok()?.chars().collect();
    while let Some(last) = text.pop() {
        // The code points of surrogates are no characters, and a character of more bytes might not fit.
        let next = char::from_u32(u32::from(last) + 1).filter(|next| next.len_utf8() == last.len_utf8());
        if let Some(next) = next {
            text.push(next);
            return Some(text.into_iter().collect::<String>().into_bytes());
        }
    }
    None
}
