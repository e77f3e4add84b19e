//! Steps of work that ask for no memory, such as those along a list or a text, counted in builds with debug assertions: by them a
//! test sees how work grows, on every machine alike.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all threads took, but for a rest in each.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Steps that a thread keeps for itself, so that threads do not wait for each other.
const THREAD_STEPS: usize = 1 << 6;

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// Says that so many steps are taken.
#[inline]
pub fn taken(count: usize) {
    if cfg!(debug_assertions) {
        let own = OWN.get() + count;
        let rest = own % THREAD_STEPS;
        OWN.set(rest);
        if own > rest {
            TAKEN.fetch_add(own - rest, Ordering::Relaxed);
        }
    }
}

/// How many steps this process took.
pub fn so_far() -> usize {
    TAKEN.load(Ordering::Relaxed)
}
