//! The inputs of a manifest, packed: there may be millions, and an unpacked one with its strings and maps takes about a kilobyte.
//!
//! A packed input is one allocation of bytes: its name, its hash, its counts as variable-length numbers, and the rare
//! fields. In the JSON of the manifest each input is an ordinary object; the objects are written and read one at a
//! time.
//!
//! Why: docs/decisions/2026-11-22-memory-per-input.md.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::InputEntry;

/// The inputs of a run, in order.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inputs {
    packed: Vec<Packed>,
}

/// One packed entry, which is an ordinary object in JSON.
#[derive(Clone, PartialEq, Eq)]
struct Packed(Box<[u8]>);

impl Inputs {
    /// `count` inputs about which nothing is known yet.
    pub fn blank(count: usize) -> Self {
        Self {
            packed: vec![Packed::pack(InputEntry::default()); count],
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// The entry at `index`.
    pub fn get(&self, index: usize) -> Option<InputEntry> {
        self.packed.get(index).map(Packed::unpack)
    }

    /// All entries in order, unpacked one at a time.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = InputEntry> {
        self.packed.iter().map(Packed::unpack)
    }

    /// The names of the inputs.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &str> {
        self.packed.iter().map(|packed| Rest(&packed.0).text())
    }

    /// Appends an entry.
    pub fn push(&mut self, input: InputEntry) {
        self.packed.push(Packed::pack(input));
    }

    /// Changes the entry at an index.
    #[expect(
        clippy::indexing_slicing,
        reason = "the account of a missing input would be lost"
    )]
    pub fn change(&mut self, index: usize, change: impl FnOnce(&mut InputEntry)) {
        let packed = &mut self.packed[index];
        let mut input = packed.unpack();
        change(&mut input);
        *packed = Packed::pack(input);
    }
}

impl FromIterator<InputEntry> for Inputs {
    fn from_iter<I: IntoIterator<Item = InputEntry>>(inputs: I) -> Self {
        Self {
            packed: inputs.into_iter().map(Packed::pack).collect(),
        }
    }
}

impl fmt::Debug for Inputs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.unpack().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        InputEntry::deserialize(deserializer).map(Self::pack)
    }
}

/// The counts of an input, in the order in which they are packed.
fn counts(input: &mut InputEntry) -> [&mut u64; COUNTS] {
    let rows = &mut input.rows;
    [
        &mut input.bytes,
        &mut input.entries,
        &mut input.framed,
        &mut input.accepted,
        &mut input.rejected,
        &mut input.filtered,
        &mut input.skipped,
        &mut rows.rows,
        &mut rows.messages,
        &mut rows.notices,
        &mut rows.alternatives,
        &mut rows.repeated,
        &mut rows.merged,
        &mut rows.rejected,
        &mut input.conversations,
        &mut input.findings,
        &mut input.errors,
        &mut input.decoded_bytes,
        &mut input.accepted_bytes,
        &mut input.rejected_bytes,
        &mut input.filtered_bytes,
        &mut input.separator_bytes,
        &mut input.skipped_bytes,
        &mut input.section,
    ]
}

/// The number of counts. The lowest bits of the mask mark the counts that are not zero; the bits above them mark which
/// other fields follow.
const COUNTS: usize = 24;
const HASH: u64 = 1 << COUNTS;
/// Marks a text that is no hash in the place of one; no run writes that.
const OTHER_HASH: u64 = HASH << 1;
const SOURCE: u64 = OTHER_HASH << 1;
const REFUSED: u64 = SOURCE << 1;
const SKIPPED_TABLES: u64 = REFUSED << 1;
const SKIPPED_FILES: u64 = SKIPPED_TABLES << 1;
const FILTERED_BY: u64 = SKIPPED_FILES << 1;
const PLAIN: u64 = FILTERED_BY << 1;

impl Packed {
    /// Packs an input: its name, a mask of its fields, then the fields. An input about which nothing is known takes no bytes.
    fn pack(mut input: InputEntry) -> Self {
        let mut there = if input.plain { PLAIN } else { 0 };
        let mut rest = Vec::new();
        for (place, count) in counts(&mut input).into_iter().enumerate() {
            if *count > 0 {
                there |= 1 << place;
                put_number(&mut rest, *count);
            }
        }
        if let Some(hash) = input.hash.as_deref().and_then(hash_of) {
            there |= HASH;
            rest.extend_from_slice(hash.as_bytes());
            input.hash = None;
        }
        for (bit, word) in [
            (OTHER_HASH, &input.hash),
            (SOURCE, &input.source),
            (REFUSED, &input.refused),
        ] {
            if let Some(word) = word {
                there |= bit;
                put_text(&mut rest, word);
            }
        }
        for (bit, map) in [
            (SKIPPED_TABLES, &input.skipped_tables),
            (SKIPPED_FILES, &input.skipped_files),
            (FILTERED_BY, &input.filtered_by),
        ] {
            if !map.is_empty() {
                there |= bit;
                put_number(&mut rest, map.len() as u64);
                for (key, count) in map {
                    put_text(&mut rest, key);
                    put_number(&mut rest, *count);
                }
            }
        }
        if input.path.is_empty() && there == 0 {
            return Self(Box::default());
        }
        let mut packed = Vec::new();
        put_text(&mut packed, &input.path);
        put_number(&mut packed, there);
        packed.extend_from_slice(&rest);
        Self(packed.into_boxed_slice())
    }

    fn unpack(&self) -> InputEntry {
        let mut rest = Rest(&self.0);
        let mut input = InputEntry {
            path: rest.text().to_owned(),
            ..InputEntry::default()
        };
        let there = rest.number();
        input.plain = there & PLAIN != 0;
        for (place, count) in counts(&mut input).into_iter().enumerate() {
            if there & 1 << place != 0 {
                *count = rest.number();
            }
        }
        if there & HASH != 0 {
            input.hash = rest.hash();
        }
        for (bit, word) in [
            (OTHER_HASH, &mut input.hash),
            (SOURCE, &mut input.source),
            (REFUSED, &mut input.refused),
        ] {
            if there & bit != 0 {
                *word = Some(rest.text().to_owned());
            }
        }
        for (bit, map) in [
            (SKIPPED_TABLES, &mut input.skipped_tables),
            (SKIPPED_FILES, &mut input.skipped_files),
            (FILTERED_BY, &mut input.filtered_by),
        ] {
            if there & bit != 0 {
                *map = (0..rest.number())
                    .map(|_| (rest.text().to_owned(), rest.number()))
                    .collect();
            }
        }
        input
    }
}

/// The hash that a text names, if it has exactly the form in which hashes are written.
fn hash_of(text: &str) -> Option<blake3::Hash> {
    let hash = blake3::Hash::from_hex(text).ok()?;
    (hash.to_hex().as_str() == text).then_some(hash)
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// Appends a number with seven bits per byte, the lowest first; the highest bit is clear only in the last byte.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// The bytes that are still to be unpacked, followed by zeros without end. They were always written by [`Packed::pack`].
struct Rest<'p>(&'p [u8]);

impl<'p> Rest<'p> {
    fn take(&mut self, count: usize) -> &'p [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn byte(&mut self) -> u8 {
        // An input about which nothing is known takes no bytes.
        let Some((byte, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *byte
    }

    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn text(&mut self) -> &'p str {
        let length = usize::try_from(self.number()).unwrap_or(usize::MAX);
        str::from_utf8(self.take(length)).unwrap_or_default()
    }

    fn hash(&mut self) -> Option<String> {
        let hash = blake3::Hash::from_slice(self.take(blake3::OUT_LEN)).ok()?;
        Some(hash.to_hex().to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use chatmill_diag::RowLedger;

    use super::*;

    /// A small chat in its own file.
    fn usual(number: u64) -> InputEntry {
        InputEntry {
            path: format!("2024/07/chat-{number:07}.json"),
            bytes: 4_096,
            hash: Some(blake3::hash(&number.to_le_bytes()).to_hex().to_string()),
            plain: true,
            entries: 1,
            source: Some("openai-messages".to_owned()),
            framed: 1,
            accepted: 1,
            rows: RowLedger {
                rows: 12,
                messages: 12,
                ..RowLedger::default()
            },
            conversations: 1,
            findings: 2,
            decoded_bytes: 4_096,
            accepted_bytes: 4_095,
            separator_bytes: 1,
            ..InputEntry::default()
        }
    }

    #[test]
    fn a_packed_input_unpacks_to_the_same() {
        let map = |word: &str| BTreeMap::from([(word.to_owned(), u64::MAX), (String::new(), 128)]);
        let mut uneven = InputEntry {
            path: "ä/\u{fffd}\0".to_owned(),
            hash: Some("AB".repeat(32)),
            refused: Some(String::new()),
            source: Some("a,b".to_owned()),
            skipped_tables: map("t"),
            skipped_files: map("f"),
            filtered_by: map("k\0"),
            ..InputEntry::default()
        };
        for (index, count) in counts(&mut uneven).into_iter().enumerate() {
            *count = u64::MAX >> (2 * index);
        }
        let refused = InputEntry {
            path: "refused".to_owned(),
            refused: Some("IN014".to_owned()),
            framed: 1,
            rejected: 1,
            ..InputEntry::default()
        };
        let inputs = [usual(1), uneven, InputEntry::default(), refused];
        let packed: Inputs = inputs.iter().cloned().collect();
        assert_eq!(packed.iter().collect::<Vec<_>>(), inputs);
        assert!(packed.paths().eq(inputs.iter().map(|input| input.path.as_str())));
        let json = serde_json::to_string(&packed).unwrap();
        assert_eq!(json, serde_json::to_string(&inputs).unwrap());
        assert_eq!(serde_json::from_str::<Inputs>(&json).unwrap(), packed);
        assert_eq!(packed.get(4), None);
        assert_eq!(packed.get(2), Inputs::blank(1).get(0));
    }

    #[test]
    fn a_changed_input_leaves_the_others_alone() {
        let mut inputs = Inputs::blank(3);
        inputs.change(1, |input| input.framed += 7);
        inputs.change(1, |input| input.framed += 7);
        assert_eq!(
            inputs.iter().map(|input| input.framed).collect::<Vec<_>>(),
            [0, 14, 0]
        );
    }

    #[test]
    fn a_usual_input_takes_less_than_a_hundred_and_twenty_bytes() {
        let inputs: Inputs = (0..1_000).map(usual).collect();
        let stretches: usize = inputs.packed.iter().map(|packed| packed.0.len()).sum();
        let taken = inputs.packed.capacity() * size_of::<Box<[u8]>>() + stretches;
        assert!(taken / inputs.len() < 120, "{} bytes each", taken / inputs.len());
    }
}
