//! Pairs of a long piece that can be joined: the lowest first, then the leftmost.
//!
//! Of megabytes of the same few bytes, millions of pairs become the same token. They stand in one list, and in the heap is only what
//! comes before the list at hand is through.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

/// The pairs of one piece; keeps its room for the next.
#[derive(Default)]
pub(super) struct Joins {
    /// What the pairs of the list at hand become. Whatever becomes no more is in the heap.
    now: u32,
    /// Where these pairs begin.
    places: Vec<u32>,
    /// How many of them were given.
    given: usize,
    /// What pairs become, then where they begin.
    heap: BinaryHeap<Reverse<u64>>,
    /// Where all others begin, by what they become.
    lists: FxHashMap<u32, Vec<u32>>,
    /// What these become.
    lowest: BinaryHeap<Reverse<u32>>,
}

impl Joins {
    /// Begins a piece of which pairs stand in lists where they become more than `heaped`.
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

    /// What the first pair becomes, and where it begins.
    pub(super) fn pop(&mut self) -> Option<(u32, u32)> {
        loop {
            let listed = self.places.get(self.given).map(|start| key(self.now, *start));
            // In reverse, the greater one goes first; none is less than any.
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

/// Orders pairs.
fn key(becomes: u32, start: u32) -> Reverse<u64> {
    Reverse(u64::from(becomes) << 32 | u64::from(start))
}
