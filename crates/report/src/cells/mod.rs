//! Values by dialect, profile, coverage and encoding, with fast lookup for rows that come in the same order repeatedly. `bill` and `build`
//! sum in them; `token_table` arranges them for pages and summaries.

pub mod token_table;

use std::collections::BTreeMap;

/// The key of a value. `group` is empty if nothing is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey<T> {
    /// The first grouping: a source, a conversation, a day.
    pub group: T,
    /// The second grouping.
    pub second: T,
    /// Id of the dialect.
    pub dialect: T,
    /// The profile of the dialect.
    pub profile: T,
    /// The coverage of its renderings.
    pub coverage: T,
    /// The encoding.
    pub encoding: T,
}

impl<'k> GroupKey<&'k str> {
    /// The key of a value without groups.
    pub(crate) fn of([dialect, profile, coverage, encoding]: [&'k str; 4]) -> Self {
        Self {
            dialect,
            profile,
            coverage,
            encoding,
            ..Self::default()
        }
    }
}

impl<T> GroupKey<T> {
    fn map<'k, U>(&'k self, text: impl Fn(&'k T) -> U) -> GroupKey<U> {
        GroupKey {
            group: text(&self.group),
            second: text(&self.second),
            dialect: text(&self.dialect),
            profile: text(&self.profile),
            coverage: text(&self.coverage),
            encoding: text(&self.encoding),
        }
    }
}

impl GroupKey<String> {
    /// The key with borrowed texts.
    pub fn as_ref(&self) -> GroupKey<&str> {
        self.map(String::as_str)
    }
}

/// Values by key, in the order in which the keys first came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells<V> {
    entries: Vec<(GroupKey<String>, V)>,
    places: BTreeMap<GroupKey<String>, usize>,
    last: usize,
}

impl<V: Default> Cells<V> {
    /// The value of a key, which is created if the key is new.
    #[expect(clippy::indexing_slicing, reason = "the place was found or made just now")]
    pub(crate) fn at(&mut self, key: GroupKey<&str>) -> &mut V {
        let place = self.place(key);
        self.last = place;
        &mut self.entries[place].1
    }

    fn place(&mut self, key: GroupKey<&str>) -> usize {
        // Conversations are rendered in the same dialects and counted in the same encodings, one after the other, so the key is nearly
        // always the one after the last key, the last key again, or the first. Trying these three spares most rows the copy of six texts
        // and the lookup.
        for guess in [self.last + 1, self.last, 0] {
            if self
                .entries
                .get(guess)
                .is_some_and(|(known, _)| known.as_ref() == key)
            {
                return guess;
            }
        }
        let next = self.entries.len();
        let key = key.map(|text| (*text).to_owned());
        let place = *self.places.entry(key.clone()).or_insert(next);
        if place == next {
            self.entries.push((key, V::default()));
        }
        place
    }
}

impl<V> Cells<V> {
    /// The keys and their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&GroupKey<String>, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(dialect: &str) -> GroupKey<&str> {
        GroupKey {
            dialect,
            ..GroupKey::default()
        }
    }

    #[test]
    fn a_key_has_the_same_value_in_any_order() {
        let mut cells: Cells<u64> = Cells::default();
        for dialect in ["a", "b", "c", "a", "b", "c", "c", "a", "b"] {
            *cells.at(key(dialect)) += 1;
        }
        let found: Vec<(&str, u64)> = cells
            .iter()
            .map(|(key, count)| (key.dialect.as_str(), *count))
            .collect();
        assert_eq!(found, [("a", 3), ("b", 3), ("c", 3)]);
    }
}
