//! Runs of words (n-grams) that texts have in common, found exactly: an index of some texts, in which others are looked up.
//!
//! The index holds each word of its texts as a number of a vocabulary and compares runs word by word: no two runs are taken for
//! one another because their hashes are equal.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};

use chatmill_diag::cut;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::words::each_word;

/// An index of the runs of words of some texts. Each text has an owner, a number of the caller's, which is told where a run is met.
///
/// Memory: 8 to 20 bytes for each word of its texts, and each different word once.
#[derive(Debug)]
pub struct Ngrams {
    /// Words in a run.
    length: usize,
    /// The most words that it holds.
    most: u32,
    vocabulary: HashMap<Box<str>, u32, DefaultHashBuilder>,
    /// The words of all texts, one text after another.
    words: Vec<u32>,
    /// Where each text begins in `words`, with its owner.
    owners: Vec<(u32, u32)>,
    /// The place of each run in `words`, the first of equal ones.
    runs: HashTable<u32>,
    /// The range in `words` of each text shorter than a run, the first of equal ones.
    short: HashTable<Range<u32>>,
    hasher: DefaultHashBuilder,
}

/// The words of a text are more than an index may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexFull;

/// A run of words of an index: equal runs are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Run(u32);

impl Ngrams {
    /// An empty index of runs of `length` words, which holds at most `most` words.
    pub fn new(length: NonZeroUsize, most: u32) -> Self {
        Self {
            length: length.get(),
            most,
            vocabulary: HashMap::default(),
            words: Vec::new(),
            owners: Vec::new(),
            runs: HashTable::new(),
            short: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// The number of words that it holds.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Adds the runs of a text; a shorter text has none.
    ///
    /// # Errors
    ///
    /// [`IndexFull`], and then the text is not added.
    pub fn add(&mut self, text: &str, owner: u32) -> Result<(), IndexFull> {
        self.push(text, owner).map(drop)
    }

    /// Adds the runs of a text, or a text shorter than a run as a whole, which [`find_whole`](Self::find_whole) finds.
    ///
    /// # Errors
    ///
    /// [`IndexFull`], and then the text is not added.
    pub fn add_whole(&mut self, text: &str, owner: u32) -> Result<(), IndexFull> {
        let range = self.push(text, owner)?;
        if range.is_empty() || range.len() >= self.length {
            return Ok(());
        }
        let (words, hasher) = (&self.words, &self.hasher);
        let added = cut::slice(words, range.start as usize..range.end as usize);
        let whole = |text: &Range<u32>| cut::slice(words, text.start as usize..text.end as usize);
        let is_equal = |known: &Range<u32>| whole(known) == added;
        let entry = self.short.entry(hasher.hash_one(added), is_equal, |known| {
            hasher.hash_one(whole(known))
        });
        entry.or_insert(range);
        Ok(())
    }

    /// The owner of the first run of a text that the index has.
    pub fn find(&self, text: &str) -> Option<u32> {
        let found = self.each_run(text, &mut |run| ControlFlow::Break(self.owner(run)));
        found.break_value()
    }

    /// The owner of a whole text that has the words of this one.
    pub fn find_whole(&self, text: &str) -> Option<u32> {
        let mut words = Vec::new();
        let mut is_known = !self.short.is_empty();
        each_word(text, &mut |word| match self.vocabulary.get(word) {
            Some(number) if is_known && words.len() < self.length => words.push(*number),
            _ => is_known = false,
        });
        let is_equal = |known: &Range<u32>| self.text(known) == words;
        let found = is_known.then(|| self.short.find(self.hasher.hash_one(&*words), is_equal));
        found.flatten().map(|text| self.owner(Run(text.start)))
    }

    /// Visits the runs of a text that the index has, in order, until `visit` breaks.
    pub fn each_run<B>(&self, text: &str, visit: &mut impl FnMut(Run) -> ControlFlow<B>) -> ControlFlow<B> {
        // The words since the last one that no text of the index has.
        let mut words: Vec<u32> = Vec::new();
        let mut found = ControlFlow::Continue(());
        each_word(text, &mut |word| {
            if found.is_break() {
                return;
            }
            match self.vocabulary.get(word) {
                Some(number) => words.push(*number),
                None => words.clear(),
            }
            let Some(run) = words
                .len()
                .checked_sub(self.length)
                .and_then(|start| words.get(start..))
            else {
                return;
            };
            let is_equal = |place: &u32| self.run(*place) == run;
            if let Some(place) = self.runs.find(self.hasher.hash_one(run), is_equal) {
                found = visit(Run(*place));
            }
        });
        found
    }

    /// The owner of the first text that has a run.
    pub fn owner(&self, run: Run) -> u32 {
        let after = self.owners.partition_point(|(start, _)| *start <= run.0);
        cut::at(&self.owners, after.saturating_sub(1)).1
    }

    /// Adds a text with its runs, and gives its range of words.
    fn push(&mut self, text: &str, owner: u32) -> Result<Range<u32>, IndexFull> {
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
            // A vocabulary has no more words than the texts, so that its numbers fit as well.
            let (false, Ok(next)) = (is_full, u32::try_from(vocabulary.len())) else {
                return;
            };
            let known = vocabulary.get(word).copied();
            words.push(known.unwrap_or_else(|| {
                vocabulary.insert(word.into(), next);
                next
            }));
        });
        let (Ok(first), Ok(end), false) = (u32::try_from(start), u32::try_from(words.len()), is_full) else {
            words.truncate(start);
            return Err(IndexFull);
        };
        self.owners.push((first, owner));
        let (words, hasher, length) = (&self.words, &self.hasher, self.length);
        let run = |place: &u32| cut::slice(words, *place as usize..*place as usize + length);
        for (place, added) in (first..end).zip(cut::slice(words, start..words.len()).windows(length)) {
            let is_equal = |known: &u32| run(known) == added;
            let entry = self.runs.entry(hasher.hash_one(added), is_equal, |known| {
                hasher.hash_one(run(known))
            });
            entry.or_insert(place);
        }
        Ok(first..end)
    }

    fn run(&self, place: u32) -> &[u32] {
        cut::slice(&self.words, place as usize..place as usize + self.length)
    }

    fn text(&self, text: &Range<u32>) -> &[u32] {
        cut::slice(&self.words, text.start as usize..text.end as usize)
    }
}
