//! Values by dialect, profile, coverage and encoding, found fast for rows that come in the same order again and again.

use std::collections::BTreeMap;

/// What a value belongs to. `group` is empty where nothing is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey<T> {
    /// What is billed apart: a source, a conversation, a day.
    pub group: T,
    /// What is billed apart beside it.
    pub second: T,
    /// Id of the dialect.
    pub dialect: T,
    /// Its profile.
    pub profile: T,
    /// What its renderings show.
    pub coverage: T,
    /// Encoding.
    pub encoding: T,
}

impl GroupKey<&str> {
    fn to_owned(self) -> GroupKey<String> {
        GroupKey {
            group: self.group.to_owned(),
            second: self.second.to_owned(),
            dialect: self.dialect.to_owned(),
            profile: self.profile.to_owned(),
            coverage: self.coverage.to_owned(),
            encoding: self.encoding.to_owned(),
        }
    }
}

impl GroupKey<String> {
    /// The key without its texts.
    pub fn as_ref(&self) -> GroupKey<&str> {
        GroupKey {
            group: &self.group,
            second: &self.second,
            dialect: &self.dialect,
            profile: &self.profile,
            coverage: &self.coverage,
            encoding: &self.encoding,
        }
    }
}

/// Values by key, in the order in which the keys first came.
#[derive(Clone, Debug)]
pub(crate) struct Cells<V> {
    entries: Vec<(GroupKey<String>, V)>,
    places: BTreeMap<GroupKey<String>, usize>,
    last: usize,
}

impl<V> Default for Cells<V> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            places: BTreeMap::new(),
            last: 0,
        }
    }
}

impl<V: Default> Cells<V> {
    /// The value of a key, made when the key is new.
    #[expect(clippy::indexing_slicing, reason = "the place was found or made just now")]
    pub(crate) fn at(&mut self, key: GroupKey<&str>) -> &mut V {
        let place = self.place(key);
        self.last = place;
        &mut self.entries[place].1
    }

    fn place(&mut self, key: GroupKey<&str>) -> usize {
        // The renderings of a conversation come in the order of those of the conversation before it.
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
        let key = key.to_owned();
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
    fn a_key_keeps_its_value_in_whatever_order_it_comes() {
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
