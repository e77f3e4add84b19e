//! Rows that belong to every conversation of their scope: presence, for example, that names no room.
//!
//! They stay in memory and are read with each conversation, so their bytes have limits. They are accounted for with the
//! first conversation that they are read with; where there is none, they are read alone.

use std::collections::BTreeMap;

use crate::record::group::RowPlace;

/// Shared rows by their scopes.
pub(super) struct Shared {
    /// Bytes of the rows of one scope.
    limit: u64,
    /// Bytes of the rows that may still come.
    room: u64,
    scopes: BTreeMap<String, Rows>,
}

#[derive(Default)]
struct Rows {
    bytes: u64,
    list: Vec<(RowPlace, Vec<u8>)>,
    /// Whether they were read with a conversation.
    is_read: bool,
}

impl Shared {
    /// No rows yet, of which one scope has at most `limit` bytes, and all together at most `room`.
    pub(super) fn within(limit: u64, room: u64) -> Self {
        Self {
            limit,
            room,
            scopes: BTreeMap::new(),
        }
    }

    /// Keeps a row, if there is room for it.
    pub(super) fn add(&mut self, scope: &str, place: RowPlace, bytes: &[u8]) -> bool {
        let known = self.scopes.get(scope).map_or(0, |rows| rows.bytes);
        let total = known + bytes.len() as u64;
        let room = self.room.checked_sub(bytes.len() as u64);
        let Some(room) = room.filter(|_| total <= self.limit) else {
            return false;
        };
        self.room = room;
        let rows = self.scopes.entry(scope.to_owned()).or_default();
        rows.bytes = total;
        rows.list.push((place, bytes.to_vec()));
        true
    }

    /// The rows of a scope for one more conversation; in the first of them they count.
    pub(super) fn of(&mut self, scope: &str) -> impl Iterator<Item = (RowPlace, &[u8])> {
        let rows = self.scopes.get_mut(scope);
        let counts = rows.as_ref().is_some_and(|rows| !rows.is_read);
        let rows = rows.map(|rows| {
            rows.is_read = true;
            &rows.list
        });
        rows.into_iter().flatten().map(move |(place, bytes)| {
            let place = RowPlace { counts, ..*place };
            (place, bytes.as_slice())
        })
    }

    /// Scopes whose rows were read with no conversation, in input order.
    pub(super) fn unread(&self) -> Vec<String> {
        let unread = self.scopes.iter().filter(|(_, rows)| !rows.is_read);
        let first = |rows: &Rows| rows.list.first().map(|(place, _)| (place.entry, place.record));
        let mut unread: Vec<_> = unread.map(|(scope, rows)| (first(rows), scope.clone())).collect();
        unread.sort();
        unread.into_iter().map(|(_, scope)| scope).collect()
    }
}
