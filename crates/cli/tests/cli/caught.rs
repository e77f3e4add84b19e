//! Runs that are caught in the midst of their work, and do nothing more until they are told to: what a test sees then depends on no
//! time, however fast or loaded the machine is.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use chatmill_workshop::chaos::watch;

/// Runs that may be over before anybody looks. One is enough, but where lots take less time than a look.
const TRIES: usize = 200;

/// A run that was stopped after one or two of its lots.
pub(crate) struct Caught(Child);

impl Caught {
    /// Starts a run, and stops it when it has finished a lot more below `folder`, and not yet the third.
    ///
    /// What is `start`ed has one thread and four lots to work off at least. It is started again when it was over too soon, so it has
    /// to take away what such a run leaves.
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

    /// Sends a signal, which arrives when the run goes on.
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.0, name);
    }

    /// Lets the run go on, to its end.
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

/// Sends a signal to a process that nobody has waited for yet.
pub(crate) fn signal(run: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &run.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Lots that are finished in datasets that are not.
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

/// Whether a signal stopped the run before it ended: each of its threads, for one within a call to the system still ends that.
fn watch_stop(run: &mut Child) -> bool {
    let threads = format!("/proc/{}/task", run.id());
    watch(run, || {
        // Where nobody can be asked, the signal that was sent has stopped it.
        fs::read_dir(&threads).map_or(true, |mut threads| {
            threads.all(|thread| thread.is_ok_and(|thread| is_stopped(&thread.path())))
        })
    })
}

fn is_stopped(thread: &Path) -> bool {
    // Behind the name, which may have any characters.
    let status = fs::read_to_string(thread.join("stat"));
    status.is_ok_and(|text| {
        text.rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('T'))
    })
}
