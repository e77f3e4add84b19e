//! The progress that a run reports while it goes on; `cli` draws it.

/// Receives the progress of a run; called from several threads.
pub trait Progress: Sync {
    /// Stages that are to come, in their order, each with the time that it may take relative to the others. Some may not come,
    /// and others may come between them.
    fn ahead(&self, _stages: &[(&str, u64)]) {}
    /// A stage begins; `bytes` of input are ahead of it.
    fn stage(&self, name: &str, bytes: u64);
    /// Reports that further bytes of input are done, in small steps: a conversation is one.
    fn advance(&self, bytes: u64);
    /// Reports further bytes of input that an earlier attempt did.
    fn skip(&self, bytes: u64) {
        self.advance(bytes);
    }
    /// Reports a note for the user.
    fn note(&self, text: &str);
    /// Reports the present number of slices at each step of the work.
    fn queues(&self, _queues: Queues) {}
}

/// What this share of a whole is of `bytes`: all of them where the whole is nothing.
pub(crate) fn part_of(bytes: u64, share: u64, whole: u64) -> u64 {
    let part = (u128::from(bytes) * u128::from(share)).checked_div(u128::from(whole));
    part.and_then(|part| u64::try_from(part).ok())
        .unwrap_or(bytes)
        .min(bytes)
}

/// The numbers of slices that the reader, the workers and the ordered delivery hold at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// Slices that are read and wait for a worker: at most one.
    pub waiting: usize,
    /// Slices that a worker has.
    pub working: usize,
    /// Workers.
    pub workers: usize,
    /// Slices that are done and wait for an earlier one.
    pub finished: usize,
    /// Slices that are done and delivered.
    pub delivered: u32,
    /// Slices so far that waited for a worker, because all had one.
    pub waited: u32,
    /// Slices so far that a free worker took at once, because reading them took longer than working.
    pub taken: u32,
}

impl Queues {
    /// The part that the others wait for; none before there is anything to compare.
    pub fn slowest(&self) -> Option<&'static str> {
        // The first slices find every worker free, however slow the workers are.
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
