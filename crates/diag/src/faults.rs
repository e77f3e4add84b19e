//! Errors of the operating system on demand: the Nth call of a kind fails, so that a test can try every one of them.
//!
//! The two places that touch the file system (one module of `intake`, one of `dataset`) ask [`pass`] before each call.
//! Without the feature `faults` it is nothing at all; with it, and without an [`inject`]ed fault, it counts.

#[cfg(not(feature = "faults"))]
use std::io;

/// A kind of call to the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Call {
    /// Opening a file or a folder that exists.
    Open,
    /// Reading from an open file.
    Read,
    /// Moving within an open file.
    Seek,
    /// Asking what a path or an open file is.
    Stat,
    /// Listing a folder.
    List,
    /// Creating a file.
    Create,
    /// Writing to an open file.
    Write,
    /// Making contents or names survive a crash.
    Sync,
    /// Renaming or exchanging.
    Rename,
    /// Creating a folder.
    Folder,
    /// Removing a file or a folder.
    Remove,
    /// Taking a lock.
    Lock,
}

impl Call {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Open,
        Self::Read,
        Self::Seek,
        Self::Stat,
        Self::List,
        Self::Create,
        Self::Write,
        Self::Sync,
        Self::Rename,
        Self::Folder,
        Self::Remove,
        Self::Lock,
    ];
}

/// Lets a call through, or gives the error that a test asked for.
#[cfg(not(feature = "faults"))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "it must cost nothing outside tests")]
pub fn pass(_call: Call) -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "faults")]
pub use on::{Fault, Injected, inject, pass};

#[cfg(feature = "faults")]
mod on {
    use std::io;
    use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::Call;

    /// Which call fails, and how.
    #[derive(Clone, Copy, Debug)]
    pub struct Fault {
        /// The kind of the call.
        pub call: Call,
        /// Its number among those of its kind, from 1; with 0 none fails.
        pub nth: u64,
        /// Error number of the operating system.
        pub errno: i32,
        /// Whether those after it fail, too.
        pub lasting: bool,
    }

    /// An injected fault, for as long as it lives; there is one at a time in a process.
    #[derive(Debug)]
    pub struct Injected {
        _alone: MutexGuard<'static, ()>,
    }

    const NOBODY: usize = usize::MAX;

    static ALONE: Mutex<()> = Mutex::new(());
    static CALL: AtomicUsize = AtomicUsize::new(NOBODY);
    static SEEN: AtomicU64 = AtomicU64::new(0);
    static FIRST: AtomicU64 = AtomicU64::new(0);
    static LAST: AtomicU64 = AtomicU64::new(0);
    static ERRNO: AtomicI32 = AtomicI32::new(0);

    /// Lets calls fail from now on, in all threads of the process, until what it returns is dropped.
    pub fn inject(fault: Fault) -> Injected {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        SEEN.store(0, Ordering::SeqCst);
        FIRST.store(fault.nth, Ordering::SeqCst);
        LAST.store(if fault.lasting { u64::MAX } else { fault.nth }, Ordering::SeqCst);
        ERRNO.store(fault.errno, Ordering::SeqCst);
        CALL.store(fault.call as usize, Ordering::SeqCst);
        Injected { _alone: alone }
    }

    impl Injected {
        /// How many calls of the kind were made since.
        pub fn seen(&self) -> u64 {
            SEEN.load(Ordering::SeqCst)
        }
    }

    impl Drop for Injected {
        fn drop(&mut self) {
            CALL.store(NOBODY, Ordering::SeqCst);
        }
    }

    /// Lets a call through, or gives the error that a test asked for.
    pub fn pass(call: Call) -> io::Result<()> {
        if CALL.load(Ordering::SeqCst) != call as usize {
            return Ok(());
        }
        let number = SEEN.fetch_add(1, Ordering::SeqCst) + 1;
        let first = FIRST.load(Ordering::SeqCst);
        if first > 0 && (first..=LAST.load(Ordering::SeqCst)).contains(&number) {
            return Err(io::Error::from_raw_os_error(ERRNO.load(Ordering::SeqCst)));
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const EIO: i32 = 5;

        fn outcomes(fault: Fault) -> Vec<bool> {
            let injected = inject(fault);
            let outcomes = (0..4).map(|_| pass(Call::Read).is_ok()).collect();
            assert!(pass(Call::Write).is_ok());
            assert_eq!(injected.seen(), 4);
            outcomes
        }

        #[test]
        fn the_call_that_was_asked_for_fails_and_no_other() {
            let fault = Fault {
                call: Call::Read,
                nth: 2,
                errno: EIO,
                lasting: false,
            };
            assert_eq!(outcomes(fault), [true, false, true, true]);
            let lasting = Fault {
                lasting: true,
                ..fault
            };
            assert_eq!(outcomes(lasting), [true, false, false, false]);
            assert_eq!(outcomes(Fault { nth: 0, ..fault }), [true; 4]);
            assert!(pass(Call::Read).is_ok());
        }
    }
}
