//! Calls libraries that may panic on their input, and turns such a panic into an error.
//!
//! A panic hook asks [`is_expected`] first: a panic that is caught here is no bug of the program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Calls a function; `None` if it panics. Values that it changed before the panic must be discarded.
pub fn catching<T>(act: impl FnOnce() -> T) -> Option<T> {
    DEPTH.with(|depth| depth.set(depth.get() + 1));
    let done = catch_unwind(AssertUnwindSafe(act));
    DEPTH.with(|depth| depth.set(depth.get() - 1));
    done.ok()
}

/// Whether a panic on this thread would be caught by [`catching`].
pub fn is_expected() -> bool {
    DEPTH.with(Cell::get) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_expected_only_inside_catching() {
        assert!(!is_expected());
        assert_eq!(catching(is_expected), Some(true));
        assert_eq!(catching(|| -> u32 { panic!("of somebody else") }), None);
        assert!(!is_expected());
    }
}
