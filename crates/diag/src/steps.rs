//! Steps of work that ask for no memory, such as those along a list or a text, counted in builds with debug assertions: by them a
//! test sees how work grows, on every machine alike.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all threads took, but for a rest in each that still runs.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Steps that a thread keeps for itself, so that threads do not wait for each other.
const THREAD_STEPS: usize = 1 << 6;

/// What a thread took since it was last added up; a thread that ends adds it.
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
        OWN.with(|Rest(kept)| {
            let own = kept.get() + count;
            let rest = own % THREAD_STEPS;
            kept.set(rest);
            if own > rest {
                TAKEN.fetch_add(own - rest, Ordering::Relaxed);
            }
        });
    }
}

/// How many steps this process took; of other threads that still run, without what each keeps for itself.
pub fn so_far() -> usize {
    TAKEN.load(Ordering::Relaxed) + OWN.with(|Rest(kept)| kept.get())
}
