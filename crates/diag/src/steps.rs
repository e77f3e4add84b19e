//! Steps of work that ask for no memory, such as those along a list or a text, counted in builds with debug assertions: by them a
//! test sees how work grows, on every machine alike.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The steps of all threads, without those that running threads have not added yet.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Steps that a thread keeps for itself, so that threads do not wait for each other.
const THREAD_STEPS: usize = 1 << 3;

/// The steps of a thread since it last added them; a thread that ends adds them.
struct Rest(Cell<usize>);

impl Drop for Rest {
    fn drop(&mut self) {
        TAKEN.fetch_add(self.0.get(), Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: Rest = const { Rest(Cell::new(0)) };
}

/// Says that so many steps are taken.
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

/// The number of steps of this process, without those that other running threads have not added yet.
pub fn so_far() -> usize {
    TAKEN.load(Ordering::Relaxed) + OWN.with(|Rest(pending)| pending.get())
}
