//! Cutting inputs into slices: one sequential reader, borders that are a function of the inputs alone.
//!
//! Compressed inputs cannot be sought, so frames are read once, in order, into the buffer of a slice that is then handed to
//! a worker (docs/decisions/2026-11-21-slices-through-one-reader.md).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::DatasetError;
use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_intake::discover::InputKind;
use chatmill_intake::{Damage, Event, Frame, Framing, Head, Reader, json};
use chatmill_source::{Evidence, Source};

use crate::gather::Gatherer;
use crate::group::Group;
use crate::plan::PlannedInput;
use crate::progress::Progress;
use crate::rows::Gathering;

/// One step through the bytes of a slice.
pub enum Step {
    /// What follows comes from this entry.
    Entry(EntryStep),
    /// A record.
    Frame(Frame),
    /// A record that the request leaves out before it is looked at.
    Filtered(Frame),
    /// Bytes between records.
    Separator(u64),
    /// The rows of a conversation, gathered.
    Group(Group),
    /// Gathered rows that the request leaves out before they are looked at.
    FilteredGroup(Group),
    /// Rows of a table that nobody asked for.
    Skipped {
        /// The table.
        table: String,
        /// How many rows.
        rows: u64,
        /// How many bytes of the entry.
        bytes: u64,
    },
    /// A record that could not be framed.
    Damage(Damage),
    /// A finding of the intake.
    Note(Finding),
    /// The entry is over; it had that many bytes.
    EntryEnd(u64),
}

/// Where the steps that follow come from.
#[derive(Clone)]
pub struct EntryStep {
    /// Index of the input in the plan.
    pub input: usize,
    /// Member of an archive; empty for the input itself.
    pub entry: String,
    /// Table of a database or a dump; empty where there is none.
    pub table: String,
    /// Who reads it; none while nothing but damage is in it.
    pub source: Option<&'static dyn Source>,
}

/// A stretch of the inputs: the unit of work, of file and of resume.
pub struct Slice {
    /// Number from 0.
    pub index: u32,
    /// Bytes of its frames.
    pub buffer: Vec<u8>,
    /// What to do with them.
    pub steps: Vec<Step>,
    /// The entries that gathered rows come from, by [`RowPlace::entry`](crate::group::RowPlace::entry).
    pub entries: Arc<[EntryStep]>,
}

/// What was recognised in an entry.
pub struct Recognised {
    /// Index of the input in the plan.
    pub input: usize,
    /// Member of an archive.
    pub entry: String,
    /// Source and evidence.
    pub evidence: Option<Evidence>,
}

/// Reads inputs one after another and cuts them into slices.
pub struct Slicer<'p> {
    inputs: &'p [PlannedInput],
    limits: &'p Limits,
    slice_bytes: usize,
    record_limit: Option<u64>,
    stop: &'p AtomicBool,
    progress: &'p dyn Progress,
    next_input: usize,
    current: Option<Current>,
    next_slice: u32,
    records: u64,
    changed: Vec<String>,
    recognised: Vec<Recognised>,
    spare: Vec<Vec<u8>>,
    gatherer: Gatherer,
    /// Why nothing more can be gathered.
    failure: Option<DatasetError>,
    /// The entries of gathered rows, once all inputs have been read.
    gathered: Option<Arc<[EntryStep]>>,
}

struct Current {
    input: usize,
    reader: Reader,
    entry: Option<Entry>,
    tables: Tables,
    told: u64,
}

/// The entry that is being read.
struct Entry {
    step: EntryStep,
    /// Its number among those whose rows are gathered.
    gathering: Option<usize>,
    /// Number of the next record, counted anew where frames are cut into rows.
    next_record: u64,
}

/// The tables of an input, which may be entries of their own.
#[derive(Default)]
struct Tables {
    /// Whether one of its entries holds tables.
    is_database: bool,
    /// Whether one was read.
    has_one: bool,
    /// Names of those that were passed over.
    passed: Vec<String>,
}

impl<'p> Slicer<'p> {
    /// A slicer over `inputs`; `record_limit` records (conversations, where rows are gathered) are kept, the rest is
    /// filtered. Rows that wait for the rest of their conversation lie below `spill`, which must not exist yet.
    pub fn new(
        inputs: &'p [PlannedInput],
        limits: &'p Limits,
        slice_bytes: usize,
        record_limit: Option<u64>,
        spill: PathBuf,
        stop: &'p AtomicBool,
        progress: &'p dyn Progress,
    ) -> Self {
        let bytes = inputs.iter().map(|planned| planned.input.bytes).sum();
        Self {
            gatherer: Gatherer::new(bytes, limits.partition, spill),
            failure: None,
            gathered: None,
            inputs,
            limits,
            slice_bytes,
            record_limit,
            stop,
            progress,
            next_input: 0,
            current: None,
            next_slice: 0,
            records: 0,
            changed: Vec::new(),
            recognised: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Why the slices ended early, where rows could not be put aside.
    pub fn take_failure(&mut self) -> Option<DatasetError> {
        self.failure.take()
    }

    /// Names of inputs whose bytes were not those that were hashed.
    pub fn changed(&self) -> &[String] {
        &self.changed
    }

    /// What was recognised so far; hands it over.
    pub fn take_recognised(&mut self) -> Vec<Recognised> {
        std::mem::take(&mut self.recognised)
    }

    /// Takes back the buffer of a finished slice.
    pub fn reuse(&mut self, mut buffer: Vec<u8>) {
        // A buffer that one giant document blew up is not worth keeping.
        if buffer.capacity() <= 2 * self.slice_bytes {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// The next slice, or none at the end of the inputs or when the run was stopped.
    pub fn next_slice(&mut self) -> Option<Slice> {
        let mut slice = Slice {
            index: self.next_slice,
            buffer: self.spare.pop().unwrap_or_else(|| self.new_buffer()),
            steps: Vec::new(),
            entries: Arc::default(),
        };
        if let Some(current) = &self.current
            && let Some(entry) = &current.entry
        {
            slice.steps.push(Step::Entry(entry.step.clone()));
        }
        while slice.buffer.len() < self.slice_bytes {
            if self.failure.is_some() || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if self.current.is_none() && !self.open_next(&mut slice) {
                break;
            }
            self.step(&mut slice);
        }
        if slice.steps.is_empty() {
            self.gathered(&mut slice);
        }
        if slice.steps.is_empty() {
            return None;
        }
        self.next_slice += 1;
        Some(slice)
    }

    /// Fills a slice with the next partition of gathered rows.
    fn gathered(&mut self, slice: &mut Slice) {
        match self.gatherer.next_partition(std::mem::take(&mut slice.buffer)) {
            Ok(None) => {}
            Err(error) => self.failure = Some(error),
            Ok(Some(gathered)) => {
                let entries = self
                    .gathered
                    .get_or_insert_with(|| self.gatherer.entries().into());
                slice.entries = Arc::clone(entries);
                slice.buffer = gathered.buffer;
                for group in gathered.groups {
                    self.records += 1;
                    let beyond = self.record_limit.is_some_and(|limit| self.records > limit);
                    slice.steps.push(if beyond {
                        Step::FilteredGroup(group)
                    } else {
                        Step::Group(group)
                    });
                }
            }
        }
    }

    /// A buffer with room for a slice and a usual record more, so that it seldom has to grow.
    fn new_buffer(&self) -> Vec<u8> {
        Vec::with_capacity(self.slice_bytes + self.slice_bytes / 8)
    }

    /// Opens the next input; refused ones become a damage at once. False when there is none.
    fn open_next(&mut self, slice: &mut Slice) -> bool {
        let index = self.next_input;
        let Some(planned) = self.inputs.get(index) else {
            return false;
        };
        self.next_input += 1;
        if let InputKind::Refused(finding) = &planned.input.kind {
            slice.steps.push(Step::Entry(EntryStep {
                input: index,
                entry: String::new(),
                table: String::new(),
                source: None,
            }));
            slice.steps.push(Step::Damage(Damage {
                record: 0,
                start: 0,
                end: 0,
                line: 1,
                column: 1,
                code: finding.code,
                hash: blake3::hash(b"").to_hex().to_string(),
                head: Vec::new(),
                message: finding.message.clone(),
            }));
        } else {
            let reader = Reader::open(&planned.input, self.limits).with_tables(Arc::clone(&planned.tables));
            self.current = Some(Current {
                input: index,
                reader,
                entry: None,
                tables: Tables::default(),
                told: 0,
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
                slice.steps.push(Step::Entry(EntryStep {
                    input: current.input,
                    entry: String::new(),
                    table: String::new(),
                    source: None,
                }));
                slice.steps.push(Step::Note(no_table(&current.tables.passed)));
            }
            self.finish_input();
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
            Event::Damage(mut damage) => {
                if let Some(entry) = &mut current.entry {
                    damage.record = entry.next_record;
                    entry.next_record += 1;
                }
                slice.steps.push(Step::Damage(damage));
            }
            Event::Note(finding) => {
                // A note before the first entry still belongs to the input.
                if current.entry.is_none() && !matches!(slice.steps.last(), Some(Step::Entry(_))) {
                    let input = current.input;
                    slice.steps.push(Step::Entry(EntryStep {
                        input,
                        entry: String::new(),
                        table: String::new(),
                        source: None,
                    }));
                }
                slice.steps.push(Step::Note(finding));
            }
            Event::EntryEnd { decoded_bytes } => {
                current.entry = None;
                slice.steps.push(Step::EntryEnd(decoded_bytes));
            }
        }
    }

    /// Takes a record into the slice, or puts its rows aside.
    fn frame(&mut self, slice: &mut Slice, mut frame: Frame) {
        let Some(Current {
            entry: Some(entry), ..
        }) = &mut self.current
        else {
            return;
        };
        if let (Some(number), Some(source)) = (entry.gathering, entry.step.source) {
            let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
            let mut gathering = Gathering {
                gatherer: &mut self.gatherer,
                entry: number,
                next_record: &mut entry.next_record,
            };
            match gathering.put_aside(source, &frame, bytes, self.limits) {
                Ok(Some(between)) => {
                    slice.buffer.truncate(frame.buffer.start);
                    slice.separate(between);
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
        frame.record = entry.next_record;
        entry.next_record += 1;
        if entry.step.source.is_none() {
            let damage = unread(&frame, &mut slice.buffer, self.limits);
            slice.steps.push(Step::Damage(damage));
            return;
        }
        self.records += 1;
        let beyond = self.record_limit.is_some_and(|limit| self.records > limit);
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
            ..
        }) = &mut self.current
        else {
            return;
        };
        let planned = self.inputs.get(*input);
        let named = planned.and_then(|planned| planned.source);
        tables.has_one = true;
        entry.step.table = name;
        entry.step.source = named.or_else(|| chatmill_source::find(source));
        entry.gathering = Some(announce(&mut self.gatherer, planned, *input, &entry.step));
        slice.steps.push(Step::Entry(entry.step.clone()));
        self.recognised.push(Recognised {
            input: *input,
            entry: entry.step.entry.clone(),
            evidence: entry.step.source.map(|source| Evidence {
                source: source.id(),
                confidence: 100,
                why: vec!["a table has the columns that its map names".to_owned()],
            }),
        });
    }

    fn start_entry(&mut self, slice: &mut Slice, entry: String, head: &Head) {
        let Some(current) = &mut self.current else {
            return;
        };
        let planned = self.inputs.get(current.input);
        let named = planned.and_then(|planned| planned.source);
        let sketch = head.sketch();
        let evidence = chatmill_source::detect(&sketch);
        let detected = evidence
            .as_ref()
            .and_then(|evidence| chatmill_source::find(evidence.source));
        let source = named.or(detected);
        let step = EntryStep {
            input: current.input,
            entry: entry.clone(),
            table: String::new(),
            source,
        };
        slice.steps.push(Step::Entry(step.clone()));
        let gathers = source.is_some_and(|source| source.gathers(&sketch));
        current.entry = Some(Entry {
            gathering: gathers.then(|| announce(&mut self.gatherer, planned, current.input, &step)),
            step,
            next_record: 0,
        });
        current.tables.is_database |= head.framing == Framing::Tables;
        if let (Some(named), Some(detected)) = (named, detected)
            && named.id() != detected.id()
        {
            let message = format!(
                "the content looks like {}, but is read as {}",
                detected.id(),
                named.id()
            );
            slice
                .steps
                .push(Step::Note(Finding::new(&codes::SOURCE_MISMATCH, message)));
        }
        if source.is_none() && !sketch.records.is_empty() {
            let (code, message) = why_unrecognised(head, self.limits);
            current.reader.refuse_entry(code, message);
        }
        self.recognised.push(Recognised {
            input: current.input,
            entry,
            evidence,
        });
    }

    fn finish_input(&mut self) {
        let Some(current) = self.current.take() else {
            return;
        };
        let Some(planned) = self.inputs.get(current.input) else {
            return;
        };
        if planned.input.bytes > current.told {
            self.progress.advance(planned.input.bytes - current.told);
        }
        if !planned.hash.is_empty() && current.reader.raw_hash().is_some_and(|hash| hash != planned.hash) {
            self.changed.push(planned.name.clone());
        }
    }
}

impl Slice {
    /// Adds bytes between records.
    fn separate(&mut self, bytes: u64) {
        match self.steps.last_mut() {
            Some(Step::Separator(before)) => *before += bytes,
            _ if bytes > 0 => self.steps.push(Step::Separator(bytes)),
            _ => {}
        }
    }
}

/// Tables that are named when none is read.
const SHOWN: usize = 12;

impl Tables {
    /// Remembers a table that was passed over; one more than are shown, so that it is seen that there are more.
    fn pass(&mut self, table: &str) {
        if self.passed.len() <= SHOWN && !self.passed.iter().any(|passed| passed == table) {
            self.passed.push(table.to_owned());
        }
    }
}

/// Says that a database or a dump holds no table that is read.
fn no_table(passed: &[String]) -> Finding {
    let mut names: Vec<&str> = passed.iter().map(String::as_str).take(SHOWN).collect();
    if passed.len() > SHOWN {
        names.push("…");
    }
    let found = if names.is_empty() {
        "there is no table with rows".to_owned()
    } else {
        format!("no table map names any of {}", names.join(", "))
    };
    Finding::new(
        &codes::UNKNOWN_FORMAT,
        format!("{found}; map the table that holds the messages with [table_map] in the pipeline file"),
    )
}

/// Tells the gatherer of an entry whose rows will come.
fn announce(
    gatherer: &mut Gatherer,
    planned: Option<&PlannedInput>,
    input: usize,
    entry: &EntryStep,
) -> usize {
    let scope = planned
        .map(|planned| planned.scope(input, entry))
        .unwrap_or_default();
    gatherer.entry(entry.clone(), scope)
}

/// A record that nobody reads: nothing readable stood at the head of its entry, so that the entry was not refused whole.
fn unread(frame: &Frame, buffer: &mut Vec<u8>, limits: &Limits) -> Damage {
    let bytes = buffer.get(frame.buffer.clone()).unwrap_or_default();
    let (code, message) = match json::scan(bytes, limits.depth) {
        Err(fault) => (fault.code, fault.message),
        Ok(_) => (
            &codes::UNKNOWN_FORMAT,
            "no known source writes records like this".to_owned(),
        ),
    };
    let damage = Damage {
        record: frame.record,
        start: frame.start,
        end: frame.end,
        line: frame.line,
        column: frame.column,
        code,
        hash: blake3::hash(bytes).to_hex().to_string(),
        head: bytes.iter().copied().take(limits.reject_head as usize).collect(),
        message,
    };
    buffer.truncate(frame.buffer.start);
    damage
}

/// Why nothing was recognised: a fault that the first record has whatever its format, else that no source knows it.
fn why_unrecognised(head: &Head, limits: &Limits) -> (&'static Code, String) {
    let first = match head.framing {
        Framing::Lines => head
            .bytes
            .split(|byte| *byte == b'\n')
            .find(|line| !line.is_empty()),
        _ => Some(head.bytes.as_slice()),
    };
    if let Some(first) = first
        && let Err(fault) = json::scan(first, limits.depth)
        && fault.code != &codes::INVALID_JSON
        // A cut head may end inside a character.
        && (head.complete || fault.at + 4 < first.len())
    {
        return (fault.code, fault.message);
    }
    (
        &codes::UNKNOWN_FORMAT,
        "no known source writes records like these".to_owned(),
    )
}
