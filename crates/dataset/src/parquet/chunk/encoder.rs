//! The encodings of the values of a column: plain, or as indices into a dictionary.

use parquet::basic::Encoding;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::statistics::{Statistics, ValueStatistics};

use super::dictionary::Dictionary;
use super::{PAGE_BYTES, empty, hybrid};
use crate::parquet::key::{Key, Keys};

/// Bytes of a text in the statistics; longer ones are cut.
const STATISTICS_BYTES: usize = 64;

/// Numbers below this are looked up in a list, larger ones in the dictionary's hash table.
const SMALL_NUMBERS: u64 = 1 << 14;

/// The callback for a finished page.
pub(crate) type Finish<'f> = dyn FnMut(&[u8], Encoding) -> Result<()> + 'f;

/// Writes the values of a column.
pub trait Encoder {
    /// The bytes of the current page.
    fn bytes(&self) -> usize;

    /// Whether the current page must end with its row, of any size.
    fn ends_page(&self) -> bool {
        false
    }

    /// Puts levels and values together, in `page` where they need a place, and begins anew.
    fn end_page(&mut self, levels: &[u8], page: &mut Vec<u8>, finish: &mut Finish<'_>) -> Result<()>;

    /// The dictionary of the row group, with the number of its values, if it has one. The following values
    /// start a new one.
    fn dictionary(&mut self) -> Option<(Vec<u8>, u32)> {
        None
    }

    /// The statistics of the row group for the footer. The values that follow are counted anew.
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

/// Appends bytes with their length, as a plain page holds them.
fn push_bytes(value: &[u8], page: &mut Vec<u8>) -> Result<()> {
    let length = u32::try_from(value.len());
    let length = length.map_err(|_| ParquetError::General("a value has more than 4 GiB".to_owned()))?;
    page.extend_from_slice(&length.to_le_bytes());
    page.extend_from_slice(value);
    Ok(())
}

/// Numbers that hardly repeat.
#[derive(Default)]
pub(crate) struct Fixed(Vec<u8>);

impl Fixed {
    pub(crate) fn number(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
}

/// Texts, or bytes that are none, each behind its length. In front of them there is room for levels, so that a page is not copied
/// once more to put the two together.
#[derive(Default)]
pub struct Bytes(Vec<u8>);

/// Bytes of that room; a page with more levels is put together elsewhere.
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
        // A page without values has no room, either.
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

/// Yes or no: a bit each.
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

/// Values that repeat: each page holds the indices of a dictionary, until that is full; then the values themselves.
pub struct Coded {
    kind: CodedKind,
    dictionary: Dictionary,
    state: CodedState,
    indices: Vec<u32>,
    /// By the number of a key, or by a small number itself: its index and one, 0 where that is not known.
    known: Vec<u32>,
    /// The values of a page without a dictionary.
    plain: Vec<u8>,
    /// Least and most of the values without a dictionary.
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
    /// The dictionary takes values.
    Open,
    /// The dictionary takes the values of the current row, for a page has one encoding, and a row lies on one
    /// page.
    Full,
    /// Pages hold the values themselves.
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

    /// A text, or a number as the file holds it.
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

    /// The text of a key, whose index is found once per row group.
    pub(crate) fn push_key(&mut self, key: Key, keys: &Keys) -> Result<()> {
        self.push_known(key.index(), || keys.text(key).as_bytes())
    }

    /// A number as the file holds it. The index of a small one is found once per row group.
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

/// Statistics of texts. For a long text, the lower bound is its first bytes, and the upper bound exceeds
/// every text with these first bytes.
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

/// The first bytes of a text, cut between characters.
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

/// The least text of as many characters or fewer that is larger than all that begin with this one, if there is one.
fn larger(text: &[u8]) -> Option<Vec<u8>> {
    let mut text: Vec<char> = str::from_utf8(text).ok()?.chars().collect();
    while let Some(last) = text.pop() {
        // The numbers of surrogates are no characters, and a character with more bytes might not fit.
        let next = char::from_u32(u32::from(last) + 1).filter(|next| next.len_utf8() == last.len_utf8());
        if let Some(next) = next {
            text.push(next);
            return Some(text.into_iter().collect::<String>().into_bytes());
        }
    }
    None
}
