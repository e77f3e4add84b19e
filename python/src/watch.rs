//! Waiting for work while handling the interpreter's needs: signals, and the callback for progress.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use chatmill_cli::STACK_BYTES;
use chatmill_engine::Progress;
use pyo3::prelude::*;

use crate::errors;

/// The time between two checks: short enough that Ctrl-C acts at once, and too long to cost anything.
const PAUSE: Duration = Duration::from_millis(50);

/// Starts work in another thread.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) -> PyResult<JoinHandle<()>> {
    let thread = thread::Builder::new().name("chatmill".to_owned());
    let started = thread.stack_size(STACK_BYTES).spawn(work);
    started.map_err(|error| errors::incomplete(&format!("cannot start a thread: {error}"), "system", None))
}

/// The value guarded by a lock, even if another thread panicked while it held the lock.
pub(crate) fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The progress of the work, as workers report it.
#[derive(Default)]
pub(crate) struct Heard {
    stage: Mutex<(String, u64)>,
    done: AtomicU64,
    notes: Mutex<Vec<String>>,
}

impl Progress for Heard {
    fn stage(&self, name: &str, bytes: u64) {
        *locked(&self.stage) = (name.to_owned(), bytes);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    fn note(&self, text: &str) {
        locked(&self.notes).push(text.to_owned());
    }
}

/// A guard that checks the interpreter for signals while work goes on.
pub(crate) struct Watch {
    /// The calling thread: Python handles signals and expects callbacks only there.
    owner: ThreadId,
    callback: Option<Py<PyAny>>,
    pub(crate) heard: Arc<Heard>,
    pub(crate) stop: Arc<AtomicBool>,
    told: (String, u64),
}

impl Watch {
    /// Makes a watch of the present thread.
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self {
            owner: thread::current().id(),
            callback,
            heard: Arc::default(),
            stop: Arc::default(),
            told: (String::new(), 0),
        }
    }

    /// Waits for a message of the work; `None` when the work is over. An error of Python, such as Ctrl-C, asks the work to stop.
    pub(crate) fn wait<T: Send>(&mut self, messages: &mut Receiver<T>) -> PyResult<Option<T>> {
        // A thread of another library must not wait for the interpreter, because the thread that has it may wait for this one.
        if thread::current().id() != self.owner {
            return Ok(messages.recv().ok());
        }
        loop {
            let messages = &mut *messages;
            let received = Python::attach(|py| {
                // The receiver is moved into the closure: two threads must not read from it at once.
                let received = py.detach(move || messages.recv_timeout(PAUSE));
                self.look(py).map(|()| received)
            })
            .inspect_err(|_| self.stop.store(true, Ordering::Relaxed))?;
            match received {
                Ok(message) => return Ok(Some(message)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn look(&mut self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        let notes = std::mem::take(&mut *locked(&self.heard.notes));
        if !notes.is_empty() {
            let logger = py.import("logging")?.call_method1("getLogger", ("chatmill",))?;
            for note in notes {
                logger.call_method1("info", ("%s", note))?;
            }
        }
        let Some(callback) = &self.callback else {
            return Ok(());
        };
        let (stage, total) = locked(&self.heard.stage).clone();
        let done = self.heard.done.load(Ordering::Relaxed).min(total);
        // No state is reported twice: a progress bar that has reached its end is finished.
        if stage.is_empty() || self.told == (stage.clone(), done) {
            return Ok(());
        }
        callback.call1(py, (stage.as_str(), done, total))?;
        self.told = (stage, done);
        Ok(())
    }
}
