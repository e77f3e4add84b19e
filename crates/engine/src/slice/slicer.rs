//! Cutting inputs into slices: one sequential reader, borders that are a function of the inputs alone.
//!
//! Compressed inputs cannot be sought, so frames are read once, in order, into the buffer of a slice that is then handed to
//! a worker (docs/decisions/2026-11-21-slices-through-one-reader.md).

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests need folders of their own")]
mod tests;

mod end;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{DatasetError, SliceId, SpillFolder};
use chatmill_diag::{Limits, codes, cut};
use chatmill_intake::discover::InputKind;
use chatmill_intake::{Event, Failure, Frame, Framing, Head, Reader, Stretch};
use chatmill_source::{Evidence, Placed, TableMap};

use super::gather::Gatherer;
use super::lots::Lot;
use super::recognise::{EntryAction, recognise, rename};
use super::repeats::Repeats;
use super::rows::Gathering;
use super::tally::CutTotals;
use super::unread::{Tables, no_table, of_nothing};
use super::{Recognised, Slice, Step};
use crate::entry::EntryRef;
use crate::plan::PlannedInput;
use crate::progress::Progress;

/// Inputs that begin in a slice at most. Of tiny ones, what is kept beside their bytes is most: without this, a slice would hold
/// all of them.
const MAX_INPUTS_PER_SLICE: usize = 1 << 14;

/// Reads inputs one after another and cuts them into slices.
pub(crate) struct Slicer<'p> {
    inputs: &'p [PlannedInput],
    limits: &'p Limits,
    slice_bytes: usize,
    record_limit: Option<u64>,
    /// Records of each section with a limit so far.
    section_records: BTreeMap<usize, u64>,
    stop: &'p AtomicBool,
    progress: &'p dyn Progress,
    /// Lots that are still to be cut, the next first.
    lots: VecDeque<Lot>,
    /// The lot that is being cut, of which the inputs from `next_input` on are still to be opened.
    lot: Lot,
    next_input: usize,
    current: Option<Current>,
    /// Bytes that the damages of the present slice take: there may be one for every row.
    damaged: usize,
    next_slice: u32,
    records: u64,
    changed: Vec<String>,
    failures: Vec<(usize, Failure)>,
    /// Whether an input that cannot be read to its end, or changed, ends everything.
    is_strict: bool,
    tally: CutTotals,
    /// Hashes that were seen, where inputs are compared.
    repeats: Option<Repeats>,
    /// The hash of each input that was read to its end, where somebody asked for them.
    hashes: Option<Vec<Option<blake3::Hash>>>,
    recognised: Vec<Recognised>,
    spare: Vec<Vec<u8>>,
    /// Where rows wait.
    spill: SpillFolder,
    /// Rows of the lot.
    gatherer: Gatherer,
    /// Why nothing more can be gathered.
    failure: Option<DatasetError>,
    /// The entries of gathered rows, once all inputs of the lot have been read.
    gathered: Option<Arc<[EntryRef]>>,
}

struct Current {
    input: usize,
    /// What is read of it, where it is divided.
    stretch: Option<Stretch>,
    reader: Reader,
    entry: Option<Entry>,
    tables: Tables,
    told: u64,
    /// Whether a source was found for one of its entries.
    is_chat: bool,
}

/// The entry that is being read.
struct Entry {
    step: EntryRef,
    /// Its number among those whose rows are gathered.
    gathering: Option<usize>,
    /// The entries among which conversations are found that go on in another one.
    family: String,
    /// The conversation of rows that name none.
    conversation: String,
    /// Number of the next record, counted anew where frames are cut into rows.
    next_record: u64,
    /// What the fields of its JSON rows are called.
    map: Option<TableMap>,
}

impl<'p> Slicer<'p> {
    /// A slicer over `inputs`; `record_limit` records (conversations, where rows are gathered) are kept, the rest is
    /// filtered. Rows that wait for the rest of their conversation lie in `spill`, without names.
    pub(crate) fn new(
        inputs: &'p [PlannedInput],
        limits: &'p Limits,
        slice_bytes: usize,
        record_limit: Option<u64>,
        spill: impl Into<SpillFolder>,
        stop: &'p AtomicBool,
        progress: &'p dyn Progress,
    ) -> Self {
        let lot = Lot::whole(inputs.len());
        let spill = spill.into();
        Self {
            gatherer: Gatherer::new(lot.bytes(inputs), limits, spill.clone()),
            spill,
            lots: VecDeque::new(),
            lot,
            failure: None,
            gathered: None,
            tally: CutTotals::of(inputs.len()),
            inputs,
            limits,
            slice_bytes,
            record_limit,
            section_records: BTreeMap::new(),
            stop,
            progress,
            next_input: 0,
            current: None,
            damaged: 0,
            next_slice: 0,
            records: 0,
            changed: Vec::new(),
            failures: Vec::new(),
            is_strict: false,
            repeats: None,
            hashes: None,
            recognised: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Cuts these lots one after the other, instead of all inputs as one.
    #[must_use]
    pub(crate) fn in_lots(mut self, lots: impl IntoIterator<Item = Lot>) -> Self {
        self.lots = lots.into_iter().collect();
        // None is begun yet.
        self.lot.inputs = 0..0;
        self
    }

    /// Ends the slices at the first input that cannot be read to its end or is not what was hashed: all later ones would be cut
    /// elsewhere. Without this, the next input follows.
    #[must_use]
    pub(crate) fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Says of each input whether an earlier one has the same bytes; `repeats` knows the inputs.
    #[must_use]
    pub(crate) fn comparing(mut self, repeats: Repeats) -> Self {
        self.repeats = Some(repeats);
        self
    }

    /// Keeps the hash of every input that is read to its end.
    #[must_use]
    pub(crate) fn hashing(mut self) -> Self {
        self.hashes = Some(vec![None; self.inputs.len()]);
        self
    }

    /// The hashes of inputs, by index; empty where they were not asked for.
    pub(crate) fn take_hashes(&mut self) -> Vec<Option<blake3::Hash>> {
        self.hashes.take().unwrap_or_default()
    }

    /// What was read so far: all of it, once there is no further slice and nothing has failed.
    pub(crate) fn into_tally(self) -> CutTotals {
        self.tally
    }

    /// Inputs that could not be read to their end, by index, and why.
    pub(crate) fn failures(&self) -> &[(usize, Failure)] {
        &self.failures
    }

    /// Whether there is nothing more to cut, however much there is to read.
    fn is_over(&self) -> bool {
        self.failure.is_some()
            || self.stop.load(Ordering::Relaxed)
            || self.is_strict && !(self.failures.is_empty() && self.changed.is_empty())
    }

    /// Why the slices ended early, where rows could not be put aside.
    pub(crate) fn take_failure(&mut self) -> Option<DatasetError> {
        self.failure.take()
    }

    /// Names of inputs whose bytes were not those that were hashed.
    pub(crate) fn changed(&self) -> &[String] {
        &self.changed
    }

    /// What was recognised in the last slice; hands it over.
    pub(crate) fn take_recognised(&mut self) -> Vec<Recognised> {
        std::mem::take(&mut self.recognised)
    }

    /// Takes the buffer of a finished slice for a later one.
    pub(crate) fn reuse(&mut self, mut buffer: Vec<u8>) {
        // A buffer that one giant document blew up is not worth keeping.
        if buffer.capacity() <= 2 * self.slice_bytes {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// The next slice, or none at the end of the inputs or when the run was stopped.
    pub(crate) fn next_slice(&mut self) -> Option<Slice> {
        // What was recognised and not asked for is dropped: there may be millions of entries.
        self.recognised.clear();
        loop {
            if let Some(slice) = self.next_of_lot() {
                return Some(slice);
            }
            if self.is_over() {
                return None;
            }
            let lot = self.lots.pop_front()?;
            self.begin_lot(lot);
        }
    }

    fn begin_lot(&mut self, lot: Lot) {
        self.gatherer = Gatherer::new(lot.bytes(self.inputs), self.limits, self.spill.clone());
        self.gathered = None;
        self.next_input = lot.inputs.start;
        self.next_slice = 0;
        self.lot = lot;
    }

    /// The next slice of the present lot.
    fn next_of_lot(&mut self) -> Option<Slice> {
        let mut slice = Slice {
            id: SliceId {
                lot: self.lot.number,
                slice: self.next_slice,
            },
            buffer: self.spare.pop().unwrap_or_else(|| self.new_buffer()),
            steps: Vec::new(),
            entries: Arc::default(),
        };
        if let Some(current) = &self.current
            && let Some(entry) = &current.entry
        {
            slice.steps.push(Step::Entry(entry.step.clone()));
        }
        let after = self.next_input + MAX_INPUTS_PER_SLICE;
        self.damaged = 0;
        while slice.buffer.len() + self.damaged < self.slice_bytes {
            if self.is_over() {
                return None;
            }
            if self.current.is_none() {
                let is_full = self.next_input >= after && !slice.steps.is_empty();
                if is_full || !self.open_next(&mut slice) {
                    break;
                }
            }
            self.step(&mut slice);
        }
        if slice.steps.is_empty() {
            self.gathered(&mut slice);
        }
        if slice.steps.is_empty() || self.is_over() {
            self.reuse(slice.buffer);
            return None;
        }
        self.next_slice += 1;
        self.tally.lots.insert(self.lot.number, self.next_slice);
        Some(slice)
    }

    /// Fills a slice with the next groups of gathered rows.
    fn gathered(&mut self, slice: &mut Slice) {
        match self.gatherer.next_groups(std::mem::take(&mut slice.buffer)) {
            Ok(None) => {}
            Err(error) => self.failure = Some(error),
            Ok(Some(gathered)) => {
                let entries = self
                    .gathered
                    .get_or_insert_with(|| self.gatherer.entries().into());
                slice.entries = Arc::clone(entries);
                slice.buffer = gathered.buffer;
                for group in gathered.groups {
                    let entry = group
                        .rows
                        .first()
                        .and_then(|row| slice.entries.get(row.place.entry));
                    let beyond = self.is_beyond(entry.map(|entry| entry.input));
                    slice.steps.push(if beyond {
                        Step::FilteredGroup(group)
                    } else {
                        Step::Group(group)
                    });
                }
            }
        }
    }

    /// Counts a record of an input; whether it is beyond what is read of all, or of its section.
    fn is_beyond(&mut self, input: Option<usize>) -> bool {
        self.records += 1;
        let beyond = self.record_limit.is_some_and(|limit| self.records > limit);
        let Some(planned) = input.and_then(|input| self.inputs.get(input)) else {
            return beyond;
        };
        let Some(limit) = planned.settings.limit else {
            return beyond;
        };
        let of_section = self.section_records.entry(planned.section).or_default();
        *of_section += 1;
        beyond || *of_section > limit
    }

    /// A buffer with room for a slice and a usual record more, so that it seldom has to grow.
    fn new_buffer(&self) -> Vec<u8> {
        Vec::with_capacity(self.slice_bytes + self.slice_bytes / 8)
    }

    /// Opens the next input; refused ones become a damage at once. False when there is none.
    fn open_next(&mut self, slice: &mut Slice) -> bool {
        let index = self.next_input;
        let Some(planned) = self
            .inputs
            .get(index)
            .filter(|_| self.lot.inputs.contains(&index))
        else {
            return false;
        };
        self.next_input += 1;
        if let InputKind::Refused(finding) = &planned.input.kind {
            self.tally.record(index, 1);
            slice.steps.push(Step::Entry(EntryRef::of_input(index)));
            slice.steps.push(Step::FramingError(of_nothing(finding)));
        } else {
            let stretch = self.lot.stretch.clone();
            let reader = match &stretch {
                Some(stretch) => Reader::open_stretch(&planned.input, self.limits, stretch),
                None => Reader::open(&planned.input, self.limits),
            };
            let reader = reader.with_tables(Arc::clone(&planned.settings.tables));
            self.current = Some(Current {
                input: index,
                stretch,
                reader,
                entry: None,
                tables: Tables::default(),
                told: 0,
                is_chat: false,
            });
        }
        true
    }

    fn step(&mut self, slice: &mut Slice) {
        let Some(current) = &mut self.current else {
            return;
        };
        let event = current.reader.next(&mut slice.buffer);
        let read = current.reader.raw_bytes_read();
        if read > current.told {
            self.progress.advance(read - current.told);
            current.told = read;
        }
        let Some(event) = event else {
            if current.tables.is_database && !current.tables.has_one {
                self.tally.record(current.input, 1);
                slice.steps.push(Step::Entry(EntryRef::of_input(current.input)));
                let refusal = of_nothing(&no_table(&current.tables.passed));
                slice.steps.push(Step::FramingError(refusal));
            }
            self.finish_input(slice);
            return;
        };
        match event {
            Event::EntryStart { entry, head } => self.start_entry(slice, entry, &head),
            Event::Frame(frame) => self.frame(slice, frame),
            Event::Separator { bytes } => slice.separate(bytes),
            Event::Table { name, source } => self.start_table(slice, name, &source),
            Event::Skipped { table, rows, bytes } => {
                current.tables.pass(&table);
                slice.steps.push(Step::Skipped { table, rows, bytes });
            }
            Event::PassedOver { kind, bytes } => slice.steps.push(Step::PassedOver { kind, bytes }),
            Event::FramingError(mut damage) => {
                self.tally.record(current.input, 1);
                self.damaged += size_of::<Step>() + damage.head.len() + damage.message.len();
                if let Some(entry) = &mut current.entry {
                    damage.record = entry.next_record;
                    entry.next_record += 1;
                }
                slice.steps.push(Step::FramingError(damage));
            }
            Event::Note(finding) => {
                // A note before the first entry still belongs to the input.
                if current.entry.is_none() && !matches!(slice.steps.last(), Some(Step::Entry(_))) {
                    slice.steps.push(Step::Entry(EntryRef::of_input(current.input)));
                }
                slice.steps.push(Step::Note(finding));
            }
            Event::Failed(failure) => {
                self.failures.push((current.input, failure));
                self.current = None;
            }
            Event::EntryEnd { decoded_bytes } => {
                let is_end = current.stretch.as_ref().is_none_or(|stretch| stretch.is_last);
                self.tally.entry(current.input, u64::from(is_end), decoded_bytes);
                current.entry = None;
                slice.steps.push(if is_end {
                    Step::EntryEnd(decoded_bytes)
                } else {
                    Step::StretchEnd(decoded_bytes)
                });
            }
        }
    }

    /// Takes a record into the slice, or puts its rows aside.
    fn frame(&mut self, slice: &mut Slice, mut frame: Frame) {
        let Some(Current {
            input,
            entry: Some(entry),
            ..
        }) = &mut self.current
        else {
            return;
        };
        if let Some(map) = &entry.map
            && !rename(map, &mut frame, &mut slice.buffer, self.limits)
        {
            let bytes = frame.end - frame.start;
            let (table, rows) = (map.table.clone(), 1);
            slice.steps.push(Step::Skipped { table, rows, bytes });
            return;
        }
        if let (Some(number), Some(source)) = (entry.gathering, entry.step.source) {
            let bytes = cut::slice(&slice.buffer, frame.buffer.clone());
            let mut gathering = Gathering {
                gatherer: &mut self.gatherer,
                entry: number,
                family: &entry.family,
                conversation: &entry.conversation,
                next_record: &mut entry.next_record,
            };
            match gathering.put_aside(source, &frame, bytes, self.limits) {
                Ok(Some(aside)) => {
                    self.tally.record(*input, aside.rows);
                    slice.buffer.truncate(frame.buffer.start);
                    slice.separate(aside.between);
                    return;
                }
                // What cannot be cut into rows is a record of its own, and mostly rejected.
                Ok(None) => {}
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            }
        }
        self.tally.record(*input, 1);
        frame.record = entry.next_record;
        entry.next_record += 1;
        // What no source reads is rejected, and is none of the records that a limit counts.
        let is_read = entry.step.source.is_some();
        let input = *input;
        let beyond = is_read && self.is_beyond(Some(input));
        slice.steps.push(if beyond {
            Step::Filtered(frame)
        } else {
            Step::Frame(frame)
        });
    }

    /// Rows of a table follow: they have a reader of their own.
    fn start_table(&mut self, slice: &mut Slice, name: String, source: &str) {
        let Some(Current {
            input,
            entry: Some(entry),
            tables,
            is_chat,
            ..
        }) = &mut self.current
        else {
            return;
        };
        let planned = self.inputs.get(*input);
        let named = planned.and_then(|planned| planned.settings.source);
        tables.has_one = true;
        *is_chat = true;
        entry.step.table = name;
        entry.step.source = named.or_else(|| chatmill_source::find(source));
        entry.gathering = Some(announce(&mut self.gatherer, planned, *input, &entry.step, None));
        slice.steps.push(Step::Entry(entry.step.clone()));
        self.recognised.push(Recognised {
            input: *input,
            entry: entry.step.entry.clone(),
            evidence: entry.step.source.map(|source| Evidence {
                source: source.id(),
                confidence: 100,
                why: vec!["a table has the columns that its map names".to_owned()],
            }),
            looks: None,
            proposal: None,
        });
    }

    fn start_entry(&mut self, slice: &mut Slice, entry: String, head: &Head) {
        let Some(current) = &mut self.current else {
            return;
        };
        let Some(planned) = self.inputs.get(current.input) else {
            return;
        };
        let seen = recognise(planned, &entry, head, self.limits);
        let step = EntryRef {
            input: current.input,
            is_plain: current.reader.is_plain(),
            entry: entry.clone(),
            table: String::new(),
            source: seen.source,
            refusal: match &seen.fate {
                EntryAction::Reject(message) => Some(message.as_str().into()),
                _ => None,
            },
        };
        slice.steps.push(Step::Entry(step.clone()));
        current.is_chat |= step.source.is_some();
        let placed = seen.placed.as_ref();
        let gathering = seen
            .gathers
            .then(|| announce(&mut self.gatherer, Some(planned), current.input, &step, placed));
        current.entry = Some(Entry {
            gathering,
            family: match gathering {
                Some(_) => planned.family(current.input, &step),
                None => String::new(),
            },
            conversation: seen.placed.map(|placed| placed.conversation).unwrap_or_default(),
            step,
            next_record: current.stretch.as_ref().map_or(0, |stretch| stretch.record),
            map: seen.map,
        });
        current.tables.is_database |= head.framing == Framing::Tables;
        // What is said of an entry is said where it begins.
        if current.stretch.as_ref().is_none_or(|stretch| stretch.start == 0) {
            slice.steps.extend(seen.notes.into_iter().map(Step::Note));
        }
        match seen.fate {
            EntryAction::Read | EntryAction::Reject(_) => {}
            EntryAction::PassOver(kind) => current.reader.skip_entry(kind),
            EntryAction::RefuseRows(message) => {
                current.reader.refuse_rows(&codes::UNKNOWN_FORMAT, message);
            }
            EntryAction::Refuse(code, message, at) => current.reader.refuse_entry(code, message, at),
        }
        self.recognised.push(Recognised {
            input: current.input,
            entry,
            evidence: seen.evidence,
            looks: seen.looks,
            proposal: seen.proposal,
        });
    }
}

/// Tells the gatherer of an entry whose rows will come.
fn announce(
    gatherer: &mut Gatherer,
    planned: Option<&PlannedInput>,
    input: usize,
    entry: &EntryRef,
    placed: Option<&Placed>,
) -> usize {
    let scope = planned
        .map(|planned| planned.scope(input, entry, placed))
        .unwrap_or_default();
    gatherer.entry(entry.clone(), scope)
}
