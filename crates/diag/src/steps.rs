//! Counts steps of work that allocate no memory, such as those along a list or a text, in builds with debug assertions. Tests use the count
//! to check how work grows, independent of the machine.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The steps of all threads, except for those that running threads have not added yet.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The number of steps that a thread collects before it adds them, so that threads do not contend for the counter.
const THREAD_STEPS: usize = 1 << 3;

/// The steps of a thread that are not added yet; a thread that ends adds them.
struct Rest(Cell<usize>);

impl Drop for Rest {
    fn drop(&mut self) {
        TAKEN.fetch_add(self.0.get(), Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: Rest = const { Rest(Cell::new(0)) };
}

/// Notes that `count` steps were taken.
#[inline]
pub fn taken(count: usize) {
    if cfg!(debug_assertions) {
        OWN.with(|Rest(pending)| {
            let own = pending.get() + count;
            let rest = own % THREAD_STEPS;
            pending.set(rest);
            if own > rest {
                TAKEN.fetch_add(own - rest, Ordering::Relaxed);
            }
        });
    }
}

/// The number of steps of this process, except for those that other running threads have not added yet.
pub fn so_far() -> usize {
    TAKEN.load(Ordering::Relaxed) + OWN.with(|Rest(pending)| pending.get())
}
