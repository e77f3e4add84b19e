//! Runs that are stopped in the middle of their work until they are told to continue, so that tests do not depend on time, however fast or
//! loaded the machine is.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use chatmill_workshop::chaos::watch;

/// The number of runs that may end before they are stopped. One is enough, unless shards take less time than a look at them.
const TRIES: usize = 200;

/// A run that was stopped after one or two of its shards.
pub(crate) struct Caught(Child);

impl Caught {
    /// Starts a run, and stops it when it has finished one or two shards below `folder`.
    ///
    /// The process that `start` starts must have one thread and at least four shards. It is started again if it ended too soon, so `start`
    /// must also remove the results of such a run.
    pub(crate) fn amid(folder: &Path, mut start: impl FnMut() -> Child) -> Self {
        for _ in 0..TRIES {
            let before = receipts(folder);
            let mut run = start();
            let is_amid = || (before + 1..before + 3).contains(&receipts(folder));
            if watch(&mut run, is_amid) {
                signal(&run, "-STOP");
                if watch_stop(&mut run) {
                    let caught = Self(run);
                    if is_amid() {
                        return caught;
                    }
                    caught.goes_on();
                }
            }
        }
        panic!("of {TRIES} runs none was seen at work");
    }

    /// Sends a signal, which arrives when the run continues.
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.0, name);
    }

    /// Lets the run continue until its end.
    pub(crate) fn goes_on(mut self) -> ExitStatus {
        self.signal("-CONT");
        self.0.wait().unwrap()
    }

    /// Kills the run.
    pub(crate) fn killed(self) {
        drop(self);
    }
}

impl Drop for Caught {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Sends a signal to a process that has not been waited for.
pub(crate) fn signal(run: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &run.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// The number of finished shards in unfinished datasets.
fn receipts(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let entries = entries.filter_map(Result::ok).map(|entry| entry.path());
    let is_among_receipts = folder.ends_with("receipts");
    entries
        .map(|path| {
            if path.is_dir() {
                receipts(&path)
            } else {
                usize::from(is_among_receipts)
            }
        })
        .sum()
}

/// Whether a signal stopped the run before it ended: all of its threads, since a thread in a system call still finishes the call.
fn watch_stop(run: &mut Child) -> bool {
    let threads = format!("/proc/{}/task", run.id());
    watch(run, || {
        // If the threads cannot be listed, the signal is assumed to have stopped the process.
        fs::read_dir(&threads).map_or(true, |mut threads| {
            threads.all(|thread| thread.is_ok_and(|thread| is_stopped(&thread.path())))
        })
    })
}

fn is_stopped(thread: &Path) -> bool {
    // The state follows the name, which may contain any characters.
    let status = fs::read_to_string(thread.join("stat"));
    status.is_ok_and(|text| {
        text.rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('T'))
    })
}
