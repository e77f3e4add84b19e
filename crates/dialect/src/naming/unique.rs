//! Unique spellings: the characters of a word, and the number after a spelling that is taken.

use std::collections::{BTreeMap, BTreeSet};

use crate::text::arena::TextArena;

/// Whether a text is a word of `[a-zA-Z0-9_-]` with 1 to `most` characters.
pub(super) fn is_word(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(is_word_byte)
}

/// Returns a text with `_` for all other characters, cut to `most` characters.
pub(super) fn as_word(text: &str, most: usize) -> String {
    let signs = text.chars().map(|sign| match u8::try_from(sign) {
        Ok(byte) if is_word_byte(byte) => sign,
        _ => '_',
    });
    signs.take(most).collect()
}

const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Returns the id unchanged, or with a number after it if it is taken.
pub(crate) fn free_id(plain: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut id = plain.to_owned();
    let mut count = 2_u64;
    while is_taken(&id) {
        id = format!("{plain}~{count}");
        count += 1;
    }
    id
}

/// Names that are taken.
#[derive(Default)]
pub(super) struct TakenNames<'a> {
    names: BTreeSet<&'a str>,
    numbers: Numbers,
}

impl<'a> TakenNames<'a> {
    /// Creates the set with names that are taken from the beginning.
    pub(super) fn new(names: impl Iterator<Item = &'a str>) -> Self {
        Self {
            names: names.collect(),
            numbers: Numbers::default(),
        }
    }

    #[expect(clippy::expect_used, reason = "no conversation has a billion names")]
    /// Returns a name unchanged, or with a number if it is taken, and marks the result as taken.
    pub(super) fn unique(&mut self, name: &'a str, arena: &'a TextArena) -> &'a str {
        if self.names.insert(name) {
            return name;
        }
        let is_free = |spelling: &str| !self.names.contains(spelling);
        let free = self.numbers.free(name, 64, 9, is_free);
        let name = arena.keep(free.expect("a number of nine digits is free"));
        self.names.insert(name);
        name
    }
}

/// Numbers after spellings that are taken. Thousands of names may share a spelling, or share a stem after they are cut. Counting from 2 for
/// each of them would be quadratic, so the next number to try is kept for each stem.
#[derive(Default)]
pub(super) struct Numbers(BTreeMap<(usize, String), u32>);

impl Numbers {
    /// Returns the spelling with the smallest number from 2 on that makes it free, cut so that the result has at most `most` characters.
    /// The caller has to use the result: the same number is not tried again.
    pub(super) fn free(
        &mut self,
        spelling: &str,
        most: usize,
        most_digits: u32,
        is_free: impl Fn(&str) -> bool,
    ) -> Option<String> {
        (1..=most_digits).find_map(|digits| {
            let capacity = most.saturating_sub(1 + digits as usize);
            let stem: String = spelling.chars().take(capacity).collect();
            let first = 10_u32.pow(digits - 1).max(2);
            let next = self.0.entry((capacity, stem.clone())).or_insert(first);
            (*next..10_u32.pow(digits)).find_map(|number| {
                *next = number + 1;
                Some(format!("{stem}_{number}")).filter(|spelled| is_free(spelled))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_where_they_are_cut_for_a_number_are_asked_for_once() {
        let mut numbers = Numbers::default();
        let mut taken = BTreeSet::new();
        let asked = std::cell::Cell::new(0);
        for number in 0..1_000 {
            let name = format!("{}{number:04}", "n".repeat(60));
            let free = numbers.free(&name, 64, 9, |spelling| {
                asked.set(asked.get() + 1);
                !taken.contains(spelling)
            });
            assert!(taken.insert(free.unwrap()));
        }
        assert!(asked.get() < 2_000, "{}", asked.get());
    }
}
