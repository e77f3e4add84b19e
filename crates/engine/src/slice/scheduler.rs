//! Schedules slices: one reader, N workers, results in the order of the slices.
//!
//! The reader is at most one slice ahead of the workers, so
//! memory holds N + 1 slices. There is no queue between workers.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use chatmill_dataset::SliceId;
use chatmill_diag::faults::carried;
use rayon::ThreadPool;

use crate::error::ReadError;
use crate::progress::{Progress, Queues};
use crate::slice::{Slice, Slicer};

/// The most threads per core: further threads only take turns, and each costs memory and time to start.
const PER_CORE: usize = 4;

/// Returns the number of worker threads for a request; 0 means as many as the
/// machine or its control group provides. A useless excess is cut, with a note.
pub fn threads(asked: usize, progress: &dyn Progress) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = cores.saturating_mul(PER_CORE);
    match asked {
        0 => cores,
        asked if asked > most => {
            progress.note(&format!(
                "{asked} threads were requested; {most} are used, {PER_CORE} for each core"
            ));
            most
        }
        asked => asked,
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pool(threads: usize) -> Result<ThreadPool, ReadError> {
    let carry = carried();
    let builder = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(move |_| carry());
    builder.build().map_err(|_| ReadError::Threads(threads))
}

/// Runs work that may divide itself among this many threads.
pub(crate) fn together<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, ReadError> {
    Ok(pool(threads)?.install(work))
}

/// Passes every wanted slice to a worker, and the results to `deliver` in the order of the slices.
///
/// Ends early if the slicer is to stop.
///
/// # Errors
///
/// If the threads cannot be started, or rows could not be spilled.
pub(crate) fn each_slice<T: Send>(
    threads: usize,
    slicer: &mut Slicer<'_>,
    wanted: &dyn Fn(&Slice) -> bool,
    work: &(dyn Fn(&Slice) -> T + Sync),
    deliver: &mut (dyn FnMut(SliceId, T) + Send),
) -> Result<(), ReadError> {
    let pool = pool(threads)?;
    let (progress, stop) = (slicer.progress, slicer.stop);
    let scheduler = Scheduler {
        state: Mutex::new(State {
            queues: Queues {
                workers: threads,
                ..Queues::default()
            },
            buffers: Vec::new(),
            next: 0,
            results: BTreeMap::new(),
            deliver,
        }),
        freed: Condvar::new(),
        progress,
    };
    pool.in_place_scope(|scope| {
        let mut number = 0;
        while let Some(slice) = slicer.next_slice() {
            let place = number;
            number += 1;
            for buffer in scheduler.take_buffers() {
                slicer.reuse(buffer);
            }
            if !wanted(&slice) {
                progress.skip(slice.input_bytes);
                scheduler.finish(place, slice.id, None);
                slicer.reuse(slice.buffer);
                continue;
            }
            scheduler.take_worker();
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let scheduler = &scheduler;
            scope.spawn(move |_| {
                let result = work(&slice);
                scheduler.finish(place, slice.id, Some(result));
                scheduler.free_worker(slice.buffer);
            });
        }
    });
    slicer
        .failure
        .take()
        .map_or(Ok(()), |failure| Err(failure.into()))
}

struct Scheduler<'d, T> {
    state: Mutex<State<'d, T>>,
    freed: Condvar,
    progress: &'d dyn Progress,
}

struct State<'d, T> {
    queues: Queues,
    buffers: Vec<Vec<u8>>,
    /// Slices are counted when they are passed to a worker.
    next: u32,
    results: BTreeMap<u32, (SliceId, Option<T>)>,
    deliver: &'d mut (dyn FnMut(SliceId, T) + Send),
}

impl<T> Scheduler<'_, T> {
    fn take_buffers(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut locked(&self.state).buffers)
    }

    fn take_worker(&self) {
        let mut state = locked(&self.state);
        if state.queues.working < state.queues.workers {
            state.queues.taken += 1;
        } else {
            state.queues.waiting = 1;
            state.queues.waited += 1;
            self.progress.queues(state.queues);
        }
        while state.queues.working >= state.queues.workers {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.queues.waiting = 0;
        state.queues.working += 1;
        self.progress.queues(state.queues);
    }

    fn free_worker(&self, buffer: Vec<u8>) {
        let mut state = locked(&self.state);
        state.queues.working -= 1;
        state.buffers.push(buffer);
        self.progress.queues(state.queues);
        self.freed.notify_one();
    }

    /// Keeps a result until all slices before it have been delivered.
    fn finish(&self, place: u32, slice: SliceId, result: Option<T>) {
        let mut guard = locked(&self.state);
        let state = &mut *guard;
        state.results.insert(place, (slice, result));
        while let Some((slice, result)) = state.results.remove(&state.next) {
            if let Some(result) = result {
                (state.deliver)(slice, result);
            }
            state.next += 1;
        }
        state.queues.finished = state.results.len();
        state.queues.delivered = state.next;
        self.progress.queues(state.queues);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn more_threads_than_can_be_of_use_are_not_started() {
        let cores = threads(0, &Silent);
        assert!(cores > 0);
        assert_eq!(threads(1, &Silent), 1);
        assert_eq!(threads(cores * PER_CORE, &Silent), cores * PER_CORE);
        assert_eq!(threads(1_000_000, &Silent), cores * PER_CORE);
    }
}
