//! The units of a split: conversations, or the sessions between the silences of `window.session_gap`.
//!
//! Units are numbered consecutively; those of a conversation are adjacent.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{Columns, Dataset, Numbers, Texts, Times, columns};
use chatmill_diag::cut;

use crate::error::ExportError;

/// A session of a conversation; by default the whole conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Session {
    /// The position of its first message.
    pub(crate) start: u64,
    /// When it began and ended, in microseconds since 1970 in UTC.
    pub(crate) began: Option<i64>,
    pub(crate) ended: Option<i64>,
}

columns! {
    struct TimeColumns {
        conversation_id: Texts,
        position: Numbers,
        kind: Texts,
        created_at: Times,
    }
}

/// The sessions of each conversation of a dataset: a silence longer than `gap` begins a new one.
pub(crate) fn sessions(
    dataset: &Dataset,
    gap: i64,
    stop: &AtomicBool,
) -> Result<HashMap<String, Vec<Session>>, ExportError> {
    if !dataset.has("messages") {
        return Err(ExportError::request(
            "the dataset has no table `messages`, which `--split-by session` reads",
            "run the pipeline with this table in `output.tables`",
        ));
    }
    let mut found: HashMap<String, Vec<Session>> = HashMap::new();
    for batch in dataset.batches("messages", &TimeColumns::names()) {
        if stop.load(Ordering::Relaxed) {
            return Err(ExportError::Stopped);
        }
        let batch = batch?;
        let cells = TimeColumns::of(&batch)?;
        for row in (0..batch.rows()).filter(|row| cells.kind.at(*row) == "message") {
            let id = cells.conversation_id.at(row);
            let all = match found.get_mut(id) {
                Some(all) => all,
                None => found.entry(id.to_owned()).or_default(),
            };
            add(all, cells.position.at(row), cells.created_at.get(row), gap);
        }
    }
    Ok(found)
}

/// Adds a message to the last session, or begins one with it.
fn add(all: &mut Vec<Session>, position: u64, time: Option<i64>, gap: i64) {
    let Some(last) = all.last_mut() else {
        all.push(Session {
            start: 0,
            began: time,
            ended: time,
        });
        return;
    };
    match (last.ended, time) {
        (Some(ended), Some(time)) if time.saturating_sub(ended) > gap => all.push(Session {
            start: position,
            began: Some(time),
            ended: Some(time),
        }),
        _ => {
            last.began = last.began.or(time);
            last.ended = last.ended.max(time);
        }
    }
}

/// The numbers of a dataset's units.
#[derive(Debug, Default)]
pub(crate) struct Units {
    numbers: HashMap<String, Range<usize>>,
    /// The position at which each unit begins; `first` is the number of the first unit.
    starts: Vec<u64>,
    first: usize,
}

impl Units {
    /// An empty numbering; the next unit has this number.
    pub(crate) fn from(first: usize) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }

    /// Numbers the units of a conversation.
    pub(crate) fn add(&mut self, conversation: &str, sessions: &[Session]) {
        let from = self.first + self.starts.len();
        self.starts.extend(sessions.iter().map(|session| session.start));
        let to = self.first + self.starts.len();
        self.numbers.insert(conversation.to_owned(), from..to);
    }

    /// The units of a conversation.
    pub(crate) fn of(&self, conversation: &str) -> Option<Range<usize>> {
        self.numbers.get(conversation).cloned()
    }

    /// The unit of a message, among the units of its conversation.
    pub(crate) fn at(&self, units: &Range<usize>, position: u64) -> usize {
        let own = units.start - self.first..units.end - self.first;
        let starts = cut::slice(&self.starts, own);
        let later = starts.partition_point(|start| *start <= position);
        units.start + later.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_that_is_longer_than_the_gap_begins_a_stretch() {
        let mut all = Vec::new();
        let times = [
            None,
            Some(10),
            Some(20),
            Some(15),
            None,
            Some(31),
            Some(42),
            Some(60),
        ];
        for (position, time) in (0..).zip(times) {
            add(&mut all, position, time, 11);
        }
        let read: Vec<_> = all.iter().map(|one| (one.start, one.began, one.ended)).collect();
        assert_eq!(read, [(0, Some(10), Some(42)), (7, Some(60), Some(60))]);
    }

    #[test]
    fn a_message_is_in_the_unit_that_begins_last_before_it() {
        let at = |start| Session {
            start,
            ..Session::default()
        };
        let mut units = Units::from(5);
        units.add("a", &[at(0)]);
        units.add("b", &[at(0), at(4), at(9)]);
        let b = units.of("b").unwrap();
        assert_eq!((units.of("a").unwrap(), b.clone()), (5..6, 6..9));
        assert_eq!(
            [0, 3, 4, 8, 9, 70].map(|position| units.at(&b, position)),
            [6, 6, 7, 7, 8, 8]
        );
    }
}
