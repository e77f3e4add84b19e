//! Runs of words (n-grams) that texts have in common, found exactly: an index of some texts, in which others are looked up.
//!
//! The index keeps each word of its texts as a number of a vocabulary, and compares runs word by word: two runs with equal hashes are never
//! confused.

use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use chatmill_diag::cut;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::words::{each_word, try_each_word};

/// An index of the runs of words of some texts. Each text has an owner, a number that the caller chooses and that a look-up returns.
///
/// Memory: 14 to 25 bytes for each word of its texts, and each different word once.
#[derive(Debug)]
pub struct Ngrams {
    /// Words in a run.
    length: usize,
    /// The most words that it may contain.
    most: u32,
    vocabulary: HashMap<String, u32>,
    /// The words of all texts, one text after another.
    words: Vec<u32>,
    /// The start of each text in `words`, with its owner.
    owners: Vec<(u32, u32)>,
    /// For each run its place in `words`, the first of equal ones, and the tag of its hash.
    runs: HashTable<(u32, u32)>,
    rolling: Rolling,
    /// The words of each text that is shorter than a run, with the owner of the first of equal ones.
    short: HashMap<Box<[u32]>, u32>,
}

/// The error for a text with more words than the index may still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexFull;

/// A run of words in an index; equal runs are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KnownRun(u32);

/// Rolling hashes of runs, each made from the one before it.
#[derive(Clone, Copy, Debug)]
struct Rolling {
    base: u64,
    /// The base to the power of the length of a run.
    power: u64,
}

impl Rolling {
    /// The hash of the run that ends with `word`, from the hash of the run before it and the word that leaves the run.
    fn next(self, before: u64, word: u32, gone: Option<&u32>) -> u64 {
        let gone = gone.map_or(0, |gone| u64::from(*gone) + 1);
        before
            .wrapping_mul(self.base)
            .wrapping_add(u64::from(word) + 1)
            .wrapping_sub(gone.wrapping_mul(self.power))
    }
}

/// The half of a hash that is stored with a run, so that a table can grow without reading the words.
fn tag(hash: u64) -> u32 {
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(MIX);
    u32::try_from(mixed >> 32).unwrap_or(u32::MAX)
}

/// A hash with as many bits as a table needs.
fn spread(tag: u32) -> u64 {
    u64::from(tag).wrapping_mul(MIX)
}

/// An odd number with bits everywhere: 2 to the power of 64, divided by the golden ratio.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

impl Ngrams {
    /// Makes an empty index of runs of `length` words, with at most `most` words.
    pub fn new(length: NonZeroUsize, most: u32) -> Self {
        let base = DefaultHashBuilder::default().hash_one(length) | 1;
        Self {
            length: length.get(),
            most,
            vocabulary: HashMap::default(),
            words: Vec::new(),
            owners: Vec::new(),
            runs: HashTable::new(),
            short: HashMap::default(),
            rolling: Rolling {
                base,
                power: base.wrapping_pow(u32::try_from(length.get()).unwrap_or(u32::MAX)),
            },
        }
    }

    /// The number of words in the index.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Adds the runs of a text; a text shorter than a run adds none.
    ///
    /// # Errors
    ///
    /// [`IndexFull`], and then the text is not added.
    pub fn add(&mut self, text: &str, owner: u32) -> Result<(), IndexFull> {
        let start = self.words.len();
        let Self {
            words,
            vocabulary,
            most,
            ..
        } = self;
        let mut is_full = false;
        each_word(text, &mut |word| {
            is_full |= words.len() >= *most as usize;
            // A vocabulary has no more words than the texts, so its numbers fit as well.
            let (false, Ok(next)) = (is_full, u32::try_from(vocabulary.len())) else {
                return;
            };
            words.push(*vocabulary.entry_ref(word).or_insert(next));
        });
        let (Ok(first), false) = (u32::try_from(start), is_full) else {
            words.truncate(start);
            return Err(IndexFull);
        };
        let (words, length, rolling) = (&self.words, self.length, self.rolling);
        let run = |place: u32| cut::slice(words, place as usize..place as usize + length);
        let added = cut::slice(words, start..words.len());
        if !added.is_empty() {
            self.owners.push((first, owner));
        }
        // The word that leaves the run when the next one enters.
        let gone = std::iter::repeat_n(None, length).chain(added.iter().map(Some));
        let mut hash = 0;
        for (count, (word, gone)) in (1_usize..).zip(added.iter().zip(gone)) {
            hash = rolling.next(hash, *word, gone);
            let place = count
                .checked_sub(length)
                .map(|place| u32::try_from(start + place));
            let (Some(Ok(place)), tag) = (place, tag(hash)) else {
                continue;
            };
            let is_equal = |known: &(u32, u32)| known.1 == tag && run(known.0) == run(place);
            let entry = self.runs.entry(spread(tag), is_equal, |known| spread(known.1));
            entry.or_insert((place, tag));
        }
        Ok(())
    }

    /// Adds the runs of a text, or the whole text if it is shorter than a run, for [`find_whole`](Self::find_whole).
    ///
    /// # Errors
    ///
    /// [`IndexFull`], and then the text is not added.
    pub fn add_whole(&mut self, text: &str, owner: u32) -> Result<(), IndexFull> {
        let start = self.words.len();
        self.add(text, owner)?;
        let added = cut::slice(&self.words, start..self.words.len());
        if !added.is_empty() && added.len() < self.length {
            let added = added.into();
            self.short.entry(added).or_insert(owner);
        }
        Ok(())
    }

    /// The owner of the first run of a text that is in the index.
    pub fn find(&self, text: &str) -> Option<u32> {
        let found = self.each_run(text, &mut |run| ControlFlow::Break(self.owner(run)));
        found.break_value()
    }

    /// The owner of a short text in the index that has exactly the words of this one.
    pub fn find_whole(&self, text: &str) -> Option<u32> {
        if self.short.is_empty() {
            return None;
        }
        let mut words = Vec::new();
        let read = try_each_word(text, &mut |word| match self.vocabulary.get(word) {
            Some(number) if words.len() < self.length => {
                words.push(*number);
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        });
        let is_known = read.is_continue();
        is_known.then(|| self.short.get(&*words).copied()).flatten()
    }

    /// Visits the runs of a text that are in the index, in order, until `visit` breaks.
    pub fn each_run<B>(
        &self,
        text: &str,
        visit: &mut impl FnMut(KnownRun) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        // The words since the last one that is in no text of the index.
        let mut words: Vec<u32> = Vec::new();
        let mut hash = 0;
        try_each_word(text, &mut |word| {
            let Some(number) = self.vocabulary.get(word) else {
                words.clear();
                hash = 0;
                return ControlFlow::Continue(());
            };
            let before = words.len().checked_sub(self.length);
            let gone = before.and_then(|gone| words.get(gone));
            hash = self.rolling.next(hash, *number, gone);
            words.push(*number);
            let start = words.len().checked_sub(self.length);
            let Some(run) = start.and_then(|start| words.get(start..)) else {
                return ControlFlow::Continue(());
            };
            let tag = tag(hash);
            let known_run =
                |place: u32| cut::slice(&self.words, place as usize..place as usize + self.length);
            let is_equal = |known: &(u32, u32)| known.1 == tag && known_run(known.0) == run;
            match self.runs.find(spread(tag), is_equal) {
                Some((place, _)) => visit(KnownRun(*place)),
                None => ControlFlow::Continue(()),
            }
        })
    }

    /// The owner of the first text that contains a run.
    pub fn owner(&self, run: KnownRun) -> u32 {
        let after = self.owners.partition_point(|(start, _)| *start <= run.0);
        cut::at(&self.owners, after.saturating_sub(1)).1
    }
}
