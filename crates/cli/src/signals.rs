//! SIGINT, SIGTERM and SIGHUP. A run stops at the first signal, and ends at the second or, whatever it is waiting for, a few seconds later.
//! Every other command ends at once.

use std::io;
#[cfg(unix)]
use std::io::Read;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use signal_hook::consts::{SIGHUP, SIGXFSZ};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Exit;

const SIGNALS: &[(i32, Exit)] = &[
    (SIGINT, Exit::Interrupted),
    (SIGTERM, Exit::Terminated),
    #[cfg(unix)]
    (SIGHUP, Exit::HungUp),
];

/// The time in which a run must stop. Service managers wait longer than this before they send SIGKILL.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(4);

/// The stop flag, and the signal that raised it.
#[derive(Debug)]
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    last: Arc<AtomicUsize>,
}

impl Signals {
    /// The first signal raises the stop flag; the process ends at the second one, or when [`PATIENCE`] is over.
    pub(crate) fn stop_at_first() -> io::Result<Self> {
        let signals = Self::unwatched()?;
        // A separate flag: a run that fails raises the stop flag itself, and the first signal after that must not count as the second.
        let asked = Arc::new(AtomicBool::new(false));
        for (signal, exit) in heeded() {
            // In this order: the check for a second signal runs before the first one is noted.
            flag::register_conditional_shutdown(signal, i32::from(exit.code()), Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&signals.stop))?;
            flag::register_usize(signal, Arc::clone(&signals.last), usize::from(exit.code()))?;
        }
        signals.watch()?;
        Ok(signals)
    }

    /// Ends the process at the first signal; there is no work to stop in order.
    pub(crate) fn end_at_first() -> io::Result<Self> {
        let always = Arc::new(AtomicBool::new(true));
        for (signal, exit) in heeded() {
            flag::register_conditional_shutdown(signal, i32::from(exit.code()), Arc::clone(&always))?;
        }
        Self::unwatched()
    }

    /// Uses the stop flag of the caller, which watches signals itself.
    pub(crate) fn of(stop: Arc<AtomicBool>) -> Self {
        Self {
            stop,
            last: Arc::new(AtomicUsize::new(0)),
        }
    }

    fn unwatched() -> io::Result<Self> {
        // A write beyond the file size limit must fail with an error message, not end the process.
        #[cfg(unix)]
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        Ok(Self {
            stop: Arc::new(AtomicBool::new(false)),
            last: Arc::new(AtomicUsize::new(0)),
        })
    }

    /// Ends the process [`PATIENCE`] after the first signal, even during a blocking call.
    #[cfg(unix)]
    fn watch(&self) -> io::Result<()> {
        let (mut awaited, wake) = UnixStream::pair()?;
        for (signal, _) in heeded() {
            signal_hook::low_level::pipe::register(signal, wake.try_clone()?)?;
        }
        let last = Arc::clone(&self.last);
        let watch = move || {
            // If the pipe breaks, the first signal is not noticed here; a second one still ends the process.
            if awaited.read_exact(&mut [0]).is_ok() {
                std::thread::sleep(PATIENCE);
                exit_of(&last).end_now();
            }
        };
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(watch)
            .map(drop)
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
    fn watch(&self) -> io::Result<()> {
        Ok(())
    }

    /// The flag that stops the work.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// The exit of a stopped run.
    pub(crate) fn exit(&self) -> Exit {
        exit_of(&self.last)
    }
}

/// The exit for the last signal.
fn exit_of(last: &AtomicUsize) -> Exit {
    let code = last.load(Ordering::Relaxed);
    let asked = SIGNALS.iter().find(|(_, exit)| usize::from(exit.code()) == code);
    asked.map_or(Exit::Interrupted, |(_, exit)| *exit)
}

/// The signals that are watched. A hang-up that is ignored, as under `nohup`, stays ignored.
fn heeded() -> impl Iterator<Item = (i32, Exit)> {
    let ignored = ignored();
    let all = SIGNALS.iter().copied();
    all.filter(move |(signal, exit)| *exit != Exit::HungUp || ignored & (1 << (signal - 1)) == 0)
}

/// The signals that the process has ignored since its start, one bit each.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    let status = chatmill_intake::process_status();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

/// Without `/proc` nothing is known about ignored signals: the hang-up keeps its default, which ends the process.
#[cfg(not(target_os = "linux"))]
fn ignored() -> u64 {
    u64::MAX
}
