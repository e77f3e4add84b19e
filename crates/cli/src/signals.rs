//! SIGINT and SIGTERM. A run is asked to stop at the first one and ends at the second; every other command ends at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Exit;

const SIGNALS: [(i32, Exit); 2] = [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)];

/// The stop flag and what raised it.
#[derive(Debug)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    last: Arc<AtomicUsize>,
}

impl Signals {
    /// Turns the first signal into the stop flag; the second one ends the process.
    pub fn stop_at_first() -> io::Result<Self> {
        let signals = Self::unwatched()?;
        // A flag of its own: a run that fails raises the stop flag itself, and then a first signal is still a first one.
        let asked = Arc::new(AtomicBool::new(false));
        for (signal, exit) in SIGNALS {
            // In this order: the check for a second signal runs before the first one is noted.
            flag::register_conditional_shutdown(signal, i32::from(exit.code()), Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&signals.stop))?;
            flag::register_usize(signal, Arc::clone(&signals.last), usize::from(exit.code()))?;
        }
        Ok(signals)
    }

    /// Ends the process at the first signal: there is nothing to bring to rest.
    pub fn end_at_first() -> io::Result<Self> {
        let always = Arc::new(AtomicBool::new(true));
        for (signal, exit) in SIGNALS {
            flag::register_conditional_shutdown(signal, i32::from(exit.code()), Arc::clone(&always))?;
        }
        Self::unwatched()
    }

    fn unwatched() -> io::Result<Self> {
        // A file that reaches the size limit is an error of its write, with a message, not the end of the process.
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        Ok(Self {
            stop: Arc::new(AtomicBool::new(false)),
            last: Arc::new(AtomicUsize::new(0)),
        })
    }

    /// The flag that ends work early.
    pub fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// How a stopped run exits.
    pub fn exit(&self) -> Exit {
        if self.last.load(Ordering::Relaxed) == usize::from(Exit::Terminated.code()) {
            Exit::Terminated
        } else {
            Exit::Interrupted
        }
    }
}
