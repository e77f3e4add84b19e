//! The pairs of a long piece that can be joined: ordered by id, then from left to right.
//!
//! In megabytes of the same few bytes, millions of pairs become the same token, and a heap of all of them is slow. The pairs of one id are
//! in one list, sorted once; the heap contains only pairs that come before the rest of the current list.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

/// The pairs of one piece; keeps its buffers for the next.
#[derive(Default)]
pub(super) struct Joins {
    /// The id of the current list. Pairs with this id or a lower one that are pushed now go into the heap.
    now: u32,
    /// The positions of the pairs in the current list.
    places: Vec<u32>,
    /// The number of them that were returned.
    given: usize,
    /// The pairs in the heap: id, then position.
    heap: BinaryHeap<Reverse<u64>>,
    /// The positions of all other pairs, by id.
    lists: FxHashMap<u32, Vec<u32>>,
    /// The ids of these lists, lowest first.
    lowest: BinaryHeap<Reverse<u32>>,
}

impl Joins {
    /// Begins a piece; pairs with an id above `heaped` are kept in lists.
    pub(super) fn begin(&mut self, heaped: u32) {
        (self.now, self.given) = (heaped, 0);
        self.places.clear();
        self.heap.clear();
        self.lists.clear();
        self.lowest.clear();
    }

    pub(super) fn push(&mut self, becomes: u32, start: u32) {
        if becomes <= self.now {
            self.heap.push(key(becomes, start));
            return;
        }
        let places = self.lists.entry(becomes).or_default();
        if places.is_empty() {
            self.lowest.push(Reverse(becomes));
        }
        places.push(start);
    }

    /// Returns the first pair: its id, and the position where it begins.
    pub(super) fn pop(&mut self) -> Option<(u32, u32)> {
        loop {
            let listed = self.places.get(self.given).map(|start| key(self.now, *start));
            // In reverse, the greater key goes first; `None` is less than any.
            if self.heap.peek().copied() > listed {
                let Reverse(join) = self.heap.pop()?;
                return Some(((join >> 32) as u32, join as u32));
            }
            if let Some(Reverse(join)) = listed {
                self.given += 1;
                return Some((self.now, join as u32));
            }
            let Reverse(next) = self.lowest.pop()?;
            (self.now, self.given) = (next, 0);
            self.places = self.lists.remove(&next).unwrap_or_default();
            self.places.sort_unstable();
        }
    }
}

/// The order of pairs.
fn key(becomes: u32, start: u32) -> Reverse<u64> {
    Reverse(u64::from(becomes) << 32 | u64::from(start))
}
