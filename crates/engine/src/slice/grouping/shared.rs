//! Rows that belong to several conversations of their scope: to every one, such as presence without
//! a chat id, or to those that mention the person a row is about, such as a member of a workspace.
//!
//! They stay in memory and are read with each conversation, so their bytes have limits. They are accounted
//! for with the first conversation that they are read with; without any conversation they are read alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::record::group::RowPlace;

/// Shared rows by their scopes.
pub(super) struct Shared {
    /// The maximum bytes of rows in one scope that belong to each of its conversations.
    limit: u64,
    /// The remaining bytes for such rows in all scopes.
    capacity: u64,
    /// The remaining bytes for rows about persons.
    name_capacity: u64,
    scopes: BTreeMap<String, Rows>,
}

#[derive(Default)]
struct Rows {
    /// Bytes of the rows that belong to each conversation.
    bytes: u64,
    list: Vec<Row>,
    /// Rows about persons, by the word that identifies the person.
    named: HashMap<String, Vec<usize>>,
    /// The lengths of these words.
    lengths: BTreeSet<usize>,
}

struct Row {
    place: RowPlace,
    bytes: Vec<u8>,
    belongs_to_all: bool,
    /// Whether the row was read with a conversation.
    is_read: bool,
}

impl Shared {
    /// Creates an empty set. Rows that belong to every conversation may have `limit` bytes per
    /// scope and `capacity` bytes in total; rows about persons may have `capacity` bytes as well.
    pub(super) fn within(limit: u64, capacity: u64) -> Self {
        Self {
            limit,
            capacity,
            name_capacity: capacity,
            scopes: BTreeMap::new(),
        }
    }

    /// Adds a row; returns whether there was capacity for it.
    pub(super) fn add(&mut self, scope: &str, about: Option<String>, place: RowPlace, bytes: &[u8]) -> bool {
        let length = bytes.len() as u64;
        let known = self.scopes.get(scope).map_or(0, |rows| rows.bytes);
        let (capacity, fits_scope) = match about {
            Some(_) => (&mut self.name_capacity, true),
            None => (&mut self.capacity, known + length <= self.limit),
        };
        let Some(left) = capacity.checked_sub(length).filter(|_| fits_scope) else {
            return false;
        };
        *capacity = left;
        let rows = self.scopes.entry(scope.to_owned()).or_default();
        let index = rows.list.len();
        rows.list.push(Row {
            place,
            bytes: bytes.to_vec(),
            belongs_to_all: about.is_none(),
            is_read: false,
        });
        match about {
            None => rows.bytes += length,
            Some(about) => {
                rows.lengths.insert(about.len());
                rows.named.entry(about).or_default().push(index);
            }
        }
        true
    }

    /// Returns the rows of a scope for one more conversation; `own` are the bytes
    /// of the conversation's rows. A shared row counts in the first conversation.
    pub(super) fn of<'b>(
        &mut self,
        scope: &str,
        own: impl Iterator<Item = &'b [u8]>,
    ) -> impl Iterator<Item = (RowPlace, &[u8])> {
        let rows = self.scopes.get_mut(scope);
        let named = rows.as_deref().map(|rows| rows.named_in(own)).unwrap_or_default();
        let list = rows.into_iter().flat_map(|rows| rows.list.iter_mut().enumerate());
        list.filter(move |(index, row)| row.belongs_to_all || named.contains(index))
            .map(|(_, row)| {
                let counts = !std::mem::replace(&mut row.is_read, true);
                (RowPlace { counts, ..row.place }, row.bytes.as_slice())
            })
    }

    /// Returns rows that were read with no conversation, scope by scope in input order.
    pub(super) fn unread(&mut self) -> Vec<Vec<(RowPlace, &[u8])>> {
        let mut unread: Vec<Vec<(RowPlace, &[u8])>> = Vec::new();
        for rows in self.scopes.values_mut() {
            let alone = rows.list.iter_mut().filter(|row| !row.is_read);
            let alone: Vec<_> = alone
                .map(|row| {
                    row.is_read = true;
                    (row.place, row.bytes.as_slice())
                })
                .collect();
            if !alone.is_empty() {
                unread.push(alone);
            }
        }
        unread.sort_by_key(|rows| rows.first().map(|(place, _)| (place.entry, place.record)));
        unread
    }
}

impl Rows {
    /// Returns the rows about persons who occur in these bytes.
    fn named_in<'b>(&self, own: impl Iterator<Item = &'b [u8]>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        if self.named.is_empty() {
            return found;
        }
        let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        for bytes in own {
            for word in bytes.split(|byte| !is_sign(byte)) {
                if self.lengths.contains(&word.len())
                    && let Some(rows) = str::from_utf8(word).ok().and_then(|word| self.named.get(word))
                {
                    found.extend(rows);
                }
            }
        }
        found
    }
}
