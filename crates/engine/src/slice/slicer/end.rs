//! The end of an input, or of a stretch of one: whether it is what was hashed, and whether an earlier input has the same bytes.

use std::sync::atomic::Ordering;

use super::super::repeats::repeated;
use super::super::{Slice, Step};
use super::Slicer;
use crate::entry::EntryRef;

impl Slicer<'_> {
    pub(super) fn finish_input(&mut self, slice: &mut Slice) {
        let Some(current) = self.current.take() else {
            return;
        };
        let Some(planned) = self.inputs.get(current.input) else {
            return;
        };
        let stretch = current.stretch.as_ref();
        let bytes = stretch.map_or(planned.input.bytes, |stretch| stretch.end - stretch.start);
        if bytes > current.told {
            self.progress.advance(bytes - current.told);
        }
        let expected = stretch.map(|stretch| stretch.hash).or(planned.hash);
        let is_end = stretch.is_none_or(|stretch| stretch.is_last);
        let before = stretch.map_or(0, |stretch| stretch.record);
        let may_repeat = self.repeats.as_ref();
        // What is no chat, or an empty list of chats, may lie anywhere any number of times.
        let holds_chats = current.is_chat
            && self
                .tally
                .inputs
                .get(current.input)
                .is_some_and(|cut| cut.records + before > 0);
        let may_repeat =
            holds_chats && is_end && may_repeat.is_some_and(|repeats| repeats.may_have(planned.input.bytes));
        if expected.is_none() && !may_repeat && self.hashes.is_none() {
            return;
        }
        let mut go_on = |_| !self.stop.load(Ordering::Relaxed);
        let hash = current.reader.raw_hash(&mut go_on);
        let kept = self
            .hashes
            .as_mut()
            .and_then(|hashes| hashes.get_mut(current.input));
        if let (Some(kept), Ok(hash)) = (kept, &hash) {
            *kept = *hash;
        }
        match hash {
            Ok(Some(hash)) if expected.is_some_and(|expected| expected != hash) => {
                self.changed.push(planned.name().into_owned());
            }
            Ok(Some(hash)) if may_repeat => {
                let first = self
                    .repeats
                    .as_mut()
                    .and_then(|repeats| repeats.first(planned.hash.unwrap_or(hash), current.input));
                if let Some(first) = first.and_then(|first| self.inputs.get(first)) {
                    let entry = EntryRef::of_input(current.input);
                    slice.steps.push(Step::Entry(entry));
                    slice.steps.push(Step::Note(repeated(&first.name())));
                }
            }
            Ok(_) => {}
            Err(failure) => self.failures.push((current.input, failure)),
        }
    }
}
