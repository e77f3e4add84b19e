//! The progress of a run, as it is reported while it runs; `cli` draws it.

/// Receives the progress of a run. It is called from several threads.
pub trait Progress: Sync {
    /// Announces the next stages in order, each with its expected share of the
    /// time. Announced stages may be skipped, and others may come between them.
    fn ahead(&self, _stages: &[(&str, u64)]) {}
    /// Starts a stage that will process `bytes` of input.
    fn stage(&self, name: &str, bytes: u64);
    /// Reports that further bytes of input are done, in small steps of about one conversation.
    fn advance(&self, bytes: u64);
    /// Reports further bytes of input that an earlier attempt had processed.
    fn skip(&self, bytes: u64) {
        self.advance(bytes);
    }
    /// Reports a note for the user.
    fn note(&self, text: &str);
    /// Reports the current numbers of slices, at each step of the work.
    fn queues(&self, _queues: Queues) {}
}

/// Returns the share of `bytes` that corresponds to `share` of `whole`; all of them if `whole` is 0.
pub(crate) fn part_of(bytes: u64, share: u64, whole: u64) -> u64 {
    let part = (u128::from(bytes) * u128::from(share)).checked_div(u128::from(whole));
    part.and_then(|part| u64::try_from(part).ok())
        .unwrap_or(bytes)
        .min(bytes)
}

/// The numbers of slices in the reader, the workers and the ordered delivery at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// Slices that are read and wait for a worker; at most one.
    pub waiting: usize,
    /// Slices that workers process.
    pub working: usize,
    /// Number of workers.
    pub workers: usize,
    /// Finished slices that wait for an earlier one to be delivered.
    pub finished: usize,
    /// Finished slices that were delivered.
    pub delivered: u32,
    /// Slices so far that waited for a worker, because all were busy.
    pub waited: u32,
    /// Slices so far that a free worker took at once, because reading is slower than working.
    pub taken: u32,
}

impl Queues {
    /// Returns the part that the others wait for; `None` before any slice.
    pub fn slowest(&self) -> Option<&'static str> {
        // The first slices always find free workers, so they are not counted.
        let taken = u64::from(self.taken).saturating_sub(self.workers as u64);
        let waited = u64::from(self.waited);
        match waited.cmp(&taken) {
            _ if waited + taken == 0 => None,
            std::cmp::Ordering::Less => Some("read"),
            _ => Some("work"),
        }
    }
}

/// Discards every report.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _name: &str, _bytes: u64) {}
    fn advance(&self, _bytes: u64) {}
    fn note(&self, _text: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues(waited: u32, taken: u32) -> Queues {
        Queues {
            workers: 2,
            waited,
            taken,
            ..Queues::default()
        }
    }

    #[test]
    fn the_slowest_part_is_the_one_that_the_others_wait_for() {
        assert_eq!(queues(0, 2).slowest(), None, "every worker is free at first");
        assert_eq!(queues(5, 3).slowest(), Some("work"));
        assert_eq!(queues(1, 9).slowest(), Some("read"));
    }
}
