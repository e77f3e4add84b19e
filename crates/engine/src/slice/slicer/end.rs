//! Accounts for the bytes of an input, and checks its end (or that of a
//! range): compares it with its hash, and with the bytes of earlier inputs.

use std::sync::atomic::Ordering;

use chatmill_diag::cut;
use chatmill_source::Proposal;

use super::super::repeats::repeated;
use super::super::unread::no_table;
use super::super::{Recognised, Slice, Step};
use super::{Current, Slicer};
use crate::entry::EntryRef;

impl Slicer<'_> {
    /// Adds bytes to the progress of the slice that they will be processed
    /// in. Reading takes about a quarter of the work on gathered rows.
    pub(super) fn was_read(&mut self, bytes: u64) {
        if self.grouper.waiting_rows == 0 {
            self.read_bytes += bytes;
        } else {
            self.progress.advance(bytes / 4);
            self.pending_bytes += bytes - bytes / 4;
        }
    }

    /// Reports what the whole input shows about its tables.
    pub(super) fn end_tables(&mut self, current: &Current<'_>, slice: &mut Slice) {
        if current.tables.is_database && !current.tables.has_one {
            let (finding, guess) = no_table(current.planned, &current.tables.passed, self.limits, self.stop);
            self.refuse(slice, current.input, &finding);
            self.recognised.push(Recognised {
                input: current.input,
                proposal: guess.map(Proposal::Columns),
                ..Recognised::default()
            });
        }
        for finding in current.tables.at_end() {
            slice.steps.push(Step::Entry(EntryRef::of_input(current.input)));
            slice.steps.push(Step::Note(finding));
        }
    }

    pub(super) fn finish_input(&mut self, current: &Current<'_>, slice: &mut Slice) {
        let planned = current.planned;
        let range = current.range.as_ref();
        let bytes = range.map_or(planned.input.bytes, |range| range.end - range.start);
        if bytes > current.reported {
            self.was_read(bytes - current.reported);
        }
        let expected = range.map(|range| range.hash).or(planned.hash);
        let is_end = range.is_none_or(|range| range.is_last);
        let before = range.map_or(0, |range| range.record);
        let may_repeat = self.repeats.as_ref();
        // Files without chats, and empty lists of chats, often repeat, and are not reported.
        let holds_chats =
            current.is_chat && cut::at(&self.cut_totals.inputs, current.input).records + before > 0;
        let may_repeat =
            holds_chats && is_end && may_repeat.is_some_and(|repeats| repeats.may_have(planned.input.bytes));
        if expected.is_none() && !may_repeat && self.hashes.is_none() {
            return;
        }
        let mut go_on = |_| !self.stop.load(Ordering::Relaxed);
        let hash = current.reader.raw_hash(&mut go_on);
        if let (Some(hashes_so_far), Ok(hash)) = (&mut self.hashes, &hash) {
            *cut::at_mut(hashes_so_far, current.input) = *hash;
        }
        match hash {
            Ok(Some(hash)) if expected.is_some_and(|expected| expected != hash) => {
                self.changed.push(planned.name().into_owned());
            }
            Ok(Some(hash)) if may_repeat => {
                let hash = planned.hash.unwrap_or(hash);
                let first = self.repeats.as_mut();
                if let Some(first) = first.and_then(|repeats| repeats.first(hash, current.input)) {
                    let first = cut::at(self.inputs, first).name();
                    slice.steps.push(Step::Entry(EntryRef::of_input(current.input)));
                    slice.steps.push(Step::Note(repeated(&first)));
                }
            }
            Ok(_) => {}
            Err(failure) => self.failures.push((current.input, failure)),
        }
    }
}
