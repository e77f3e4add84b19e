//! Cuts inputs into slices: one sequential reader, with borders that depend only on the inputs.
//!
//! Compressed inputs have no random access, so frames are read once, in order, into the buffer
//! of a slice, which then goes to a worker (docs/decisions/2026-11-21-single-input-reader.md).

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests need folders of their own")]
mod tests;

mod end;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{DatasetError, SliceId, SpillFolder};
use chatmill_diag::{Finding, Limits, codes, cut};
use chatmill_intake::TableName;
use chatmill_intake::discover::InputKind;
use chatmill_intake::{Event, Failure, Form, Frame, Framing, Head, LineRange, Reader};
use chatmill_source::{Evidence, Source};

use super::companions::{self, Companions};
use super::cut_totals::CutTotals;
use super::grouping::{ReadTable, RowGrouper};
use super::recognise::guesses::Guesses;
use super::recognise::{EntryAction, fold, recognise, rename};
use super::repeats::Repeats;
use super::rows::Entry;
use super::shards::Shard;
use super::unread::{Tables, of_nothing};
use super::{Recognised, Slice, Step};
use crate::entry::EntryRef;
use crate::plan::PlannedInput;
use crate::progress::{Progress, part_of};

/// The most inputs that start in a slice. For tiny inputs, the data kept about each
/// is larger than its bytes: without this limit, a slice would contain all of them.
const MAX_INPUTS_PER_SLICE: usize = 1 << 14;

/// Reads inputs one after another and cuts them into slices.
pub(crate) struct Slicer<'p> {
    inputs: &'p [PlannedInput],
    limits: &'p Limits,
    slice_bytes: usize,
    record_limit: Option<u64>,
    /// Records read so far in each section with a limit.
    section_records: BTreeMap<usize, u64>,
    pub stop: &'p AtomicBool,
    pub progress: &'p dyn Progress,
    /// Bytes of input that were read since the last slice.
    read_bytes: u64,
    /// Bytes of input with gathered rows that are not yet in a slice.
    pending_bytes: u64,
    /// The shards after the current one, in order.
    shards: VecDeque<Shard>,
    /// The current shard; its inputs from `next_input` on are not yet opened.
    shard: Shard,
    next_input: usize,
    current: Option<Box<Current<'p>>>,
    /// Bytes of the framing errors in the current slice: there may be one for every row.
    error_bytes: usize,
    next_slice: u32,
    records: u64,
    /// Names of inputs with bytes that differ from the hashed ones.
    pub changed: Vec<String>,
    /// Inputs that could not be read to their end, by index, with the failure.
    pub failures: Vec<(usize, Failure)>,
    /// Whether an input that cannot be read to its end, or differs from its hash, ends the
    /// slices, since all later ones would be cut differently. Otherwise the next input follows.
    pub is_strict: bool,
    /// The totals so far; complete if there is no further slice and nothing has failed.
    pub cut_totals: CutTotals,
    /// Finds inputs with the same bytes as earlier ones, if requested.
    pub repeats: Option<Repeats>,
    /// The hash of each input that was read to its end, if requested.
    pub hashes: Option<Vec<Option<blake3::Hash>>>,
    /// The formats recognised in the last slice.
    pub recognised: Vec<Recognised>,
    spare: Vec<Vec<u8>>,
    /// The folder for spilled rows.
    spill: SpillFolder,
    /// Rows of the shard.
    grouper: RowGrouper,
    /// Companion files: inputs with rows about the conversations in others.
    companions: Companions,
    /// The guesses about tables that no map reads.
    guesses: Guesses,
    /// The failure of spilling that ended the slices early.
    pub failure: Option<DatasetError>,
    /// The entries of gathered rows, after all inputs of the shard have been read.
    grouped_entries: Option<Arc<[EntryRef]>>,
}

struct Current<'p> {
    input: usize,
    planned: &'p PlannedInput,
    /// The range to read, if the input is divided.
    range: Option<LineRange>,
    reader: Reader,
    entry: Option<Entry>,
    tables: Tables,
    /// The companion files of an archive; known from its first member on.
    companions: Option<Vec<&'static str>>,
    reported: u64,
    /// Whether a source was found for any of its entries.
    is_chat: bool,
}

impl<'p> Slicer<'p> {
    /// Creates a slicer over `inputs`. `record_limit` records (or conversations, if rows are gathered)
    /// are kept, the others are filtered. Gathered rows are spilled to unnamed files in `spill`.
    pub(crate) fn new(
        inputs: &'p [PlannedInput],
        limits: &'p Limits,
        slice_bytes: usize,
        record_limit: Option<u64>,
        spill: impl Into<SpillFolder>,
        stop: &'p AtomicBool,
        progress: &'p dyn Progress,
    ) -> Self {
        let shard = Shard::whole(inputs.len());
        let spill = spill.into();
        Self {
            grouper: RowGrouper::new(shard.bytes(inputs), limits, spill.clone()),
            spill,
            companions: Companions::of(inputs),
            shards: VecDeque::new(),
            shard,
            guesses: Guesses::default(),
            failure: None,
            grouped_entries: None,
            cut_totals: CutTotals::of(inputs.len()),
            inputs,
            limits,
            slice_bytes,
            record_limit,
            section_records: BTreeMap::new(),
            stop,
            progress,
            read_bytes: 0,
            pending_bytes: 0,
            next_input: 0,
            current: None,
            error_bytes: 0,
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

    /// Cuts these shards one after the other, instead of one shard with all inputs.
    #[must_use]
    pub(crate) fn in_shards(mut self, shards: impl IntoIterator<Item = Shard>) -> Self {
        self.shards = shards.into_iter().collect();
        // No input is opened yet.
        self.shard.inputs = 0..0;
        self
    }

    /// Returns whether slicing has ended early.
    fn is_over(&self) -> bool {
        self.failure.is_some()
            || self.stop.load(Ordering::Relaxed)
            || self.is_strict && !(self.failures.is_empty() && self.changed.is_empty())
    }

    /// Takes the buffer of a finished slice for a later one.
    pub(crate) fn reuse(&mut self, mut buffer: Vec<u8>) {
        // A buffer that grew for one huge document is not kept.
        if buffer.capacity() <= 2 * self.slice_bytes {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Returns the next slice; `None` at the end of the inputs or if the run was stopped.
    pub(crate) fn next_slice(&mut self) -> Option<Slice> {
        // Recognitions that nobody took are dropped, since there may be millions of entries.
        self.recognised.clear();
        loop {
            if let Some(slice) = self.next_of_shard() {
                return Some(slice);
            }
            if self.is_over() {
                return None;
            }
            let shard = self.shards.pop_front()?;
            self.begin_shard(shard);
        }
    }

    fn begin_shard(&mut self, shard: Shard) {
        self.grouper = RowGrouper::new(shard.bytes(self.inputs), self.limits, self.spill.clone());
        self.grouped_entries = None;
        self.next_input = shard.inputs.start;
        self.next_slice = 0;
        self.shard = shard;
    }

    /// Returns the next slice of the current shard.
    fn next_of_shard(&mut self) -> Option<Slice> {
        let mut slice = Slice {
            id: SliceId {
                shard: self.shard.number,
                slice: self.next_slice,
            },
            buffer: self.spare.pop().unwrap_or_else(|| self.new_buffer()),
            steps: Vec::new(),
            input_bytes: 0,
            entries: Arc::default(),
        };
        if let Some(current) = &self.current
            && let Some(entry) = &current.entry
        {
            slice.steps.push(Step::Entry(entry.step.clone()));
        }
        let after = self.next_input + MAX_INPUTS_PER_SLICE;
        self.error_bytes = 0;
        while slice.buffer.len() + self.error_bytes < self.slice_bytes {
            if self.is_over() {
                return None;
            }
            if self.current.is_none() {
                let is_full = self.next_input >= after && !slice.steps.is_empty();
                if is_full || !self.open_next(&mut slice) {
                    break;
                }
            }
            if let Some(current) = self.current.take() {
                self.step(current, &mut slice);
            }
        }
        slice.input_bytes = std::mem::take(&mut self.read_bytes);
        if slice.steps.is_empty() {
            self.add_groups(&mut slice);
        }
        if slice.steps.is_empty() || self.is_over() {
            self.progress.advance(slice.input_bytes);
            self.reuse(slice.buffer);
            return None;
        }
        self.next_slice += 1;
        self.cut_totals.shards.insert(self.shard.number, self.next_slice);
        Some(slice)
    }

    /// Fills a slice with the next groups of gathered rows.
    fn add_groups(&mut self, slice: &mut Slice) {
        let waiting = self.grouper.waiting_rows;
        let batch = self.grouper.next_groups(std::mem::take(&mut slice.buffer));
        let taken = part_of(
            self.pending_bytes,
            waiting.saturating_sub(self.grouper.waiting_rows),
            waiting,
        );
        self.pending_bytes -= taken;
        slice.input_bytes += taken;
        match batch {
            Ok(None) => {}
            Err(error) => self.failure = Some(error),
            Ok(Some(batch)) => {
                let entries = self
                    .grouped_entries
                    .get_or_insert_with(|| self.grouper.entries.as_slice().into());
                slice.entries = Arc::clone(entries);
                slice.buffer = batch.buffer;
                for group in batch.groups {
                    let first = cut::at(&slice.entries, cut::at(&group.rows, 0).place.entry);
                    slice.steps.push(if self.is_beyond(first.input) {
                        Step::FilteredGroup(group)
                    } else {
                        Step::Group(group)
                    });
                }
            }
        }
    }

    /// Counts a record of an input; returns whether it is beyond the limit of the run, or of its section.
    fn is_beyond(&mut self, input: usize) -> bool {
        self.records += 1;
        let planned = cut::at(self.inputs, input);
        let of_section = planned.settings.written.limit.is_some_and(|limit| {
            let records = self.section_records.entry(planned.section).or_default();
            *records += 1;
            *records > limit
        });
        of_section || self.record_limit.is_some_and(|limit| self.records > limit)
    }

    /// Returns a buffer with room for a slice and one usual record, so that it rarely has to grow.
    fn new_buffer(&self) -> Vec<u8> {
        Vec::with_capacity(self.slice_bytes + self.slice_bytes / 8)
    }

    /// Opens the next input; a refused one immediately becomes
    /// a framing error. Returns false after the last input.
    fn open_next(&mut self, slice: &mut Slice) -> bool {
        let index = self.next_input;
        let Some(planned) = self
            .inputs
            .get(index)
            .filter(|_| self.shard.inputs.contains(&index))
        else {
            return false;
        };
        self.next_input += 1;
        if let InputKind::Refused(finding) = &planned.input.kind {
            self.refuse(slice, index, finding);
        } else {
            let range = self.shard.range.clone();
            let reader = match &range {
                Some(range) => Reader::open_range(&planned.input, self.limits, range),
                None => Reader::open(&planned.input, self.limits),
            };
            let reader = reader.with_tables(Arc::clone(&planned.settings.tables));
            self.current = Some(Box::new(Current {
                input: index,
                planned,
                range,
                reader,
                entry: None,
                tables: Tables::default(),
                companions: None,
                reported: 0,
                is_chat: false,
            }));
        }
        true
    }

    /// Records an input that is refused unread.
    pub(super) fn refuse(&mut self, slice: &mut Slice, input: usize, why: &Finding) {
        self.cut_totals.record(input, 1);
        slice.steps.push(Step::Entry(EntryRef::of_input(input)));
        slice.steps.push(Step::FramingError(of_nothing(why)));
    }

    fn step(&mut self, mut current: Box<Current<'p>>, slice: &mut Slice) {
        let event = current.reader.next(&mut slice.buffer);
        let read = current.reader.raw_bytes_read();
        if read > current.reported {
            self.was_read(read - current.reported);
            current.reported = read;
        }
        let Some(event) = event else {
            self.end_tables(&current, slice);
            self.finish_input(&current, slice);
            return;
        };
        match event {
            Event::EntryStart { entry, head } => self.start_entry(&mut current, slice, entry, &head),
            Event::Frame(frame) => self.frame(&mut current, slice, frame),
            Event::Separator { bytes } => slice.separate(bytes),
            Event::Table {
                name,
                source,
                map,
                whole,
            } => {
                current
                    .tables
                    .begin(&name, &map, &current.planned.settings.tables);
                self.start_table(&mut current, slice, name, (&source, whole));
            }
            Event::Skipped {
                table,
                rows,
                bytes,
                resembles,
            } => {
                let maps = &current.planned.settings.tables;
                current.tables.pass(&table, resembles, maps);
                slice.steps.push(Step::Skipped { table, rows, bytes });
            }
            Event::SkippedEntry { kind, bytes } => slice.steps.push(Step::SkippedEntry { kind, bytes }),
            Event::FramingError(mut error) => {
                self.cut_totals.record(current.input, 1);
                self.error_bytes += size_of::<Step>() + error.head.len() + error.message.len();
                if let Some(entry) = &mut current.entry {
                    error.record = entry.next_record;
                    entry.next_record += 1;
                }
                slice.steps.push(Step::FramingError(error));
            }
            Event::Note(finding) => {
                // A note before the first entry belongs to the input.
                if current.entry.is_none() && !matches!(slice.steps.last(), Some(Step::Entry(_))) {
                    slice.steps.push(Step::Entry(EntryRef::of_input(current.input)));
                }
                slice.steps.push(Step::Note(finding));
            }
            Event::Failed(failure) => {
                self.failures.push((current.input, failure));
                return;
            }
            Event::EntryEnd { decoded_bytes } => {
                let is_end = current.range.as_ref().is_none_or(|range| range.is_last);
                self.cut_totals
                    .entry(current.input, u64::from(is_end), decoded_bytes);
                current.entry = None;
                slice.steps.push(if is_end {
                    Step::EntryEnd(decoded_bytes)
                } else {
                    Step::RangeEnd(decoded_bytes)
                });
            }
        }
        self.current = Some(current);
    }

    /// Adds a record to the slice, or spills its rows.
    fn frame(&mut self, current: &mut Current<'_>, slice: &mut Slice, mut frame: Frame) {
        let Some(entry) = &mut current.entry else {
            return;
        };
        if let Some(map) = &entry.map
            && !rename(map, &mut frame, &mut slice.buffer, self.limits)
        {
            let bytes = frame.end - frame.start;
            let (table, rows) = (map.table.clone(), 1);
            current.tables.filtered(Some(map));
            slice.steps.push(Step::Skipped { table, rows, bytes });
            return;
        }
        if frame.form == Form::Original || entry.map.is_some() {
            fold(&mut frame, &mut slice.buffer, self.limits);
        }
        let bytes = cut::slice(&slice.buffer, frame.buffer.clone());
        match entry.spill_rows(&mut self.grouper, &frame, bytes, self.limits) {
            Ok(Some((rows, between))) => {
                self.cut_totals.record(current.input, rows);
                let map = entry
                    .map
                    .as_ref()
                    .or_else(|| current.tables.map(None, &current.planned.settings.tables));
                let notes = current.tables.notes_of_row(bytes, map, entry.alone, self.limits);
                slice.buffer.truncate(frame.buffer.start);
                slice.steps.extend(notes.into_iter().flatten().map(Step::Note));
                slice.separate(between);
                return;
            }
            // A frame that cannot be cut into rows is one record, and is usually rejected.
            Ok(None) => current.tables.has_rows = true,
            Err(error) => {
                self.failure = Some(error);
                return;
            }
        }
        self.cut_totals.record(current.input, 1);
        frame.record = entry.next_record;
        entry.next_record += 1;
        // Records without a source are rejected, and do not count toward a limit.
        let beyond = entry.step.source.is_some() && self.is_beyond(current.input);
        slice.steps.push(if beyond {
            Step::Filtered(frame)
        } else {
            Step::Frame(frame)
        });
    }

    /// Starts a table: its rows are read by a separate source.
    fn start_table(
        &mut self,
        current: &mut Current<'_>,
        slice: &mut Slice,
        name: String,
        (source, whole): (&str, Option<TableName>),
    ) {
        let Some(entry) = &mut current.entry else {
            return;
        };
        let named = current.planned.settings.source;
        current.tables.has_one = true;
        current.is_chat = true;
        let maps = &current.planned.settings.tables;
        let rival = current.tables.rival(whole.as_ref(), maps);
        entry.step.table = name;
        entry.step.source = named
            .or_else(|| chatmill_source::find(source))
            .filter(|_| rival.is_none());
        entry.step.refusal = rival.as_deref().map(Into::into);
        let scope = current.planned.scope(&entry.step, None);
        // A system with a whole record in each row.
        let has_records = |source: &dyn Source| !source.can_merge() && !source.tables().is_empty();
        entry.gathering = match whole {
            _ if entry.step.source.is_none_or(has_records) => None,
            Some(name) => {
                let is_own = current
                    .tables
                    .map(None, &current.planned.settings.tables)
                    .is_some();
                let system = entry.step.source.filter(|_| !is_own).map(Source::id);
                let table = ReadTable { system, name };
                slice.steps.extend(current.tables.note(&table).map(Step::Note));
                Some(self.grouper.table(entry.step.clone(), &scope, table))
            }
            None => Some(self.grouper.entry(entry.step.clone(), scope)),
        };
        slice.steps.push(Step::Entry(entry.step.clone()));
        self.recognised.push(Recognised {
            input: current.input,
            entry: entry.step.entry.clone(),
            evidence: entry.step.source.map(|source| Evidence {
                source: source.id(),
                confidence: 100,
                why: vec!["a table has the columns that its map names".to_owned()],
            }),
            ..Recognised::default()
        });
    }

    fn start_entry(&mut self, current: &mut Current<'_>, slice: &mut Slice, entry: String, head: &Head) {
        let planned = current.planned;
        let of_archive = current
            .companions
            .get_or_insert_with(|| companions::of_archive(&current.reader, &entry));
        let has_companion = |name: &str| {
            if entry.is_empty() {
                self.companions.has(planned, name)
            } else {
                of_archive.contains(&name)
            }
        };
        let seen = recognise(
            planned,
            &entry,
            head,
            self.limits,
            &has_companion,
            &mut self.guesses,
        );
        let step = EntryRef {
            input: current.input,
            is_plain: current.reader.is_plain(),
            entry,
            table: String::new(),
            source: seen.source,
            refusal: match &seen.action {
                EntryAction::Reject(message) => Some(message.as_str().into()),
                _ => None,
            },
        };
        slice.steps.push(Step::Entry(step.clone()));
        current.is_chat |= step.source.is_some();
        let gathering = seen.groups_rows.then(|| {
            let scope = planned.scope(&step, seen.export_path.as_ref());
            self.grouper.entry(step.clone(), scope)
        });
        current.entry = Some(Entry {
            gathering,
            family: gathering.map_or_else(String::new, |_| planned.family(&step)),
            conversation: seen
                .export_path
                .map(|export_path| export_path.conversation)
                .unwrap_or_default(),
            step,
            next_record: current.range.as_ref().map_or(0, |range| range.record),
            map: seen.map,
            alone: 0,
        });
        let is_unread = matches!(seen.action, EntryAction::Refuse(..) | EntryAction::Skip(_));
        current.tables.is_database |= head.framing == Framing::Tables && !is_unread;
        // Findings about an entry are reported at its start.
        if current.range.as_ref().is_none_or(|range| range.start == 0) {
            slice.steps.extend(seen.notes.into_iter().map(Step::Note));
        }
        match seen.action {
            EntryAction::Read | EntryAction::Reject(_) => {}
            EntryAction::ReadTable(map) => current.reader.read_table(*map),
            EntryAction::Skip(kind) => current.reader.skip_entry(kind),
            EntryAction::RefuseRows(message) => {
                current.reader.refuse_rows(&codes::UNKNOWN_FORMAT, message);
            }
            EntryAction::Refuse(code, message, at) => current.reader.refuse_entry(code, message, at),
        }
        self.recognised.push(Recognised {
            input: current.input,
            ..seen.recognised
        });
    }
}
