//! Errors of the operating system on demand: the Nth call of a kind fails, so that a test can try every one of them.
//!
//! The two places that touch the file system (one module of `intake`, one of `dataset`) make every call through [`call`]. Without the
//! feature `faults` this module does nothing. With it, a fault affects the thread that called [`inject`] and the threads that called the
//! result of [`carried`], so that tests in one process do not disturb each other.

use std::io;

/// A kind of call to the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Opening a file or a folder that exists.
    Open,
    /// Reading from an open file.
    Read,
    /// Moving within an open file.
    Seek,
    /// Reading the metadata of a path or an open file.
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

/// Makes a call, and repeats it as long as signals interrupt it.
pub fn call<T, E: Into<io::Error>>(kind: Call, mut make: impl FnMut() -> Result<T, E>) -> io::Result<T> {
    loop {
        match pass(kind).and_then(|()| make().map_err(Into::into)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Lets a call through, or returns the error that a test asked for.
#[cfg(not(feature = "faults"))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "it must cost nothing outside tests")]
#[expect(clippy::unnecessary_wraps, reason = "it fails where tests ask for it")]
fn pass(_call: Call) -> io::Result<()> {
    Ok(())
}

/// Returns a function that a new thread calls first, to take over the fault of its parent.
#[cfg(not(feature = "faults"))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "it must cost nothing outside tests")]
pub fn carried() -> impl Fn() + Send + Sync + 'static {
    || ()
}

#[cfg(feature = "faults")]
use on::pass;
#[cfg(feature = "faults")]
pub use on::{Fault, Injected, carried, count, inject};

#[cfg(feature = "faults")]
mod on {
    use std::cell::RefCell;
    use std::io;
    use std::marker::PhantomData;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Call;

    /// The call that fails, and its error.
    #[derive(Clone, Copy, Debug)]
    pub struct Fault {
        /// The kind of the call.
        pub call: Call,
        /// The number of the call among those of its kind, from 1; with 0 no call fails.
        pub nth: u64,
        /// The error number of the operating system.
        pub errno: i32,
        /// Whether all later calls of the kind fail, too.
        pub lasting: bool,
    }

    /// A fault, and the number of calls of each kind since.
    #[derive(Debug)]
    struct Waiting {
        fault: Fault,
        seen: [AtomicU64; Call::ALL.len()],
    }

    thread_local! {
        static WAITING: RefCell<Option<Arc<Waiting>>> = const { RefCell::new(None) };
    }

    /// A guard: the fault is active as long as it lives; a thread has one fault at a time.
    #[derive(Debug)]
    pub struct Injected {
        waiting: Arc<Waiting>,
        /// A fault must end on the thread on which it began.
        _here: PhantomData<*const ()>,
    }

    /// Makes calls of this thread, and of threads that it starts, fail until the returned guard is dropped.
    pub fn inject(fault: Fault) -> Injected {
        let waiting = Arc::new(Waiting {
            fault,
            seen: Default::default(),
        });
        WAITING.set(Some(Arc::clone(&waiting)));
        Injected {
            waiting,
            _here: PhantomData,
        }
    }

    /// Counts the calls of this thread, and of threads that it starts, without any fault.
    pub fn count() -> Injected {
        inject(Fault {
            call: Call::Open,
            nth: 0,
            errno: 0,
            lasting: false,
        })
    }

    /// Returns a function that a new thread calls first, to take over the fault of its parent.
    pub fn carried() -> impl Fn() + Send + Sync + 'static {
        let waiting = WAITING.with_borrow(Clone::clone);
        move || WAITING.set(waiting.clone())
    }

    impl Injected {
        /// The number of calls of a kind since the fault began.
        pub fn seen(&self, call: Call) -> u64 {
            let seen = self.waiting.seen.get(call as usize);
            seen.map_or(0, |seen| seen.load(Ordering::SeqCst))
        }
    }

    impl Drop for Injected {
        fn drop(&mut self) {
            WAITING.set(None);
        }
    }

    /// Lets a call through, or returns the error that a test asked for.
    pub(super) fn pass(call: Call) -> io::Result<()> {
        // A thread that is ending needs no faults.
        let waiting = WAITING
            .try_with(|waiting| waiting.borrow().clone())
            .ok()
            .flatten();
        let Some(waiting) = waiting else {
            return Ok(());
        };
        let seen = waiting.seen.get(call as usize);
        let number = seen.map_or(0, |seen| seen.fetch_add(1, Ordering::SeqCst) + 1);
        let Fault {
            call: failing,
            nth,
            errno,
            lasting,
        } = waiting.fault;
        if call == failing && nth > 0 && (number == nth || lasting && number > nth) {
            return Err(io::Error::from_raw_os_error(errno));
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
            assert_eq!((injected.seen(Call::Read), injected.seen(Call::Write)), (4, 1));
            outcomes
        }

        #[test]
        fn only_the_requested_call_fails() {
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

        #[test]
        fn another_thread_is_not_hit_unless_the_fault_is_carried_to_it() {
            let injected = inject(Fault {
                call: Call::Read,
                nth: 1,
                errno: EIO,
                lasting: true,
            });
            let carry = carried();
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(pass(Call::Read).is_ok()));
                scope.spawn(move || {
                    carry();
                    assert!(pass(Call::Read).is_err());
                });
            });
            assert_eq!(injected.seen(Call::Read), 1);
        }
    }
}
