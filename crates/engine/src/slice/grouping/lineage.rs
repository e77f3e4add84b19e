//! Conversations that start with the rows of another: resuming or forking a session
//! creates one with a new id in a new file, and the old rows are copied into it.
//!
//! Only the hash of each first row is kept, some bytes for each conversation. When two conversations turn out
//! to be one, their rows are already spilled under both keys; they get one key before they are read back.

use std::borrow::Cow;
use std::collections::HashMap;

/// Bytes of the hash of a first row.
const HASH_BYTES: usize = 16;

/// The conversations that continue each other, and therefore are one.
#[derive(Default)]
pub(super) struct Lineage {
    /// The first conversation that starts with a row, by the hash of the row.
    firsts: HashMap<[u8; HASH_BYTES], Box<[u8]>>,
    /// The conversation that each merged one belongs to.
    one: HashMap<Box<[u8]>, Box<[u8]>>,
    /// Scopes that are merged into another scope.
    scopes: HashMap<String, String>,
}

impl Lineage {
    /// Records that a conversation starts with a row. Equal rows of different families are different.
    pub(super) fn begins(&mut self, family: &str, row: &str, group: &[u8]) {
        let hash = blake3::Hasher::new()
            .update(family.as_bytes())
            .update(&[0])
            .update(row.as_bytes())
            .finalize();
        let Some(hash) = hash.as_bytes().first_chunk().copied() else {
            return;
        };
        let Some(first) = self.firsts.get(&hash) else {
            self.firsts.insert(hash, group.into());
            return;
        };
        let (first, other) = (self.of(first), self.of(group));
        if first != other {
            let (first, other) = (first.into(), other.into());
            self.one.insert(other, first);
        }
    }

    /// Merges the conversations of some scopes into those of others.
    pub(super) fn join(&mut self, scopes: HashMap<String, String>) {
        self.scopes = scopes;
    }

    /// Returns whether any two conversations are one.
    pub(super) fn has_any(&self) -> bool {
        !self.one.is_empty() || !self.scopes.is_empty()
    }

    /// Returns the name under which the rows of a group are read: scope, NUL and key.
    pub(super) fn name_of<'g>(&'g self, group: &'g [u8]) -> Cow<'g, [u8]> {
        let group = self.of(group);
        let end = group.iter().position(|byte| *byte == 0).unwrap_or(group.len());
        let (scope, key) = group.split_at(end);
        let joined = str::from_utf8(scope)
            .ok()
            .and_then(|scope| self.scopes.get(scope));
        match joined {
            Some(scope) => [scope.as_bytes(), key].concat().into(),
            None => group.into(),
        }
    }

    /// Returns the conversation that a group belongs to; usually itself.
    pub(super) fn of<'g>(&'g self, group: &'g [u8]) -> &'g [u8] {
        let mut last = group;
        while let Some(next) = self.one.get(last) {
            last = next;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_with_the_same_first_row_are_one_in_any_order() {
        let mut lineage = Lineage::default();
        lineage.begins("f", "row 1", b"a");
        lineage.begins("f", "row 2", b"b");
        assert!(!lineage.has_any());
        lineage.begins("f", "row 2", b"c");
        lineage.begins("f", "row 1", b"c");
        lineage.begins("f", "row 1", b"c");
        assert_eq!(
            [b"a", b"b", b"c", b"d"].map(|group| lineage.of(group)),
            [b"a", b"a", b"a", b"d"]
        );
    }

    #[test]
    fn the_same_row_in_another_family_is_another_one() {
        let mut lineage = Lineage::default();
        lineage.begins("f", "row", b"a");
        lineage.begins("g", "row", b"b");
        assert!(!lineage.has_any());
    }
}
