//! Shards: the parts of the inputs that one machine processes at a time.
//!
//! Inputs are combined in the order of their names up to `[shards] bytes`. A larger file of lines with
//! independent records is divided, and each range of it is a shard. Rows that may become one conversation
//! stay in one shard: it has all inputs of a section with rows that are grouped across files, and all
//! inputs between them. The same applies to sections with a limit, which counts from the first record on.
//!
//! Why: docs/decisions/2026-11-23-input-shards.md.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use chatmill_diag::{Limits, cut};
use chatmill_intake::discover::InputKind;
use chatmill_intake::{Event, Failure, Framing, LineRange, Reader};
use chatmill_source::Source;

use super::companions::Companions;
use super::recognise::{EntryAction, recognise_alone};
use crate::plan::{Plan, PlannedInput};

/// A part of the inputs that is processed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// The number of the shard, from 0.
    pub number: u32,
    /// The inputs, by index.
    pub inputs: Range<usize>,
    /// The range of its only input, if that is divided.
    pub range: Option<LineRange>,
}

impl Shard {
    /// Creates the shard of this many whole inputs.
    pub(crate) fn whole(inputs: usize) -> Self {
        Self {
            number: 0,
            inputs: 0..inputs,
            range: None,
        }
    }

    /// Returns the size of its inputs on disk, in bytes.
    pub(crate) fn bytes(&self, inputs: &[PlannedInput]) -> u64 {
        if let Some(range) = &self.range {
            return range.end - range.start;
        }
        let inputs = cut::slice(inputs, self.inputs.clone());
        inputs.iter().map(|planned| planned.input.bytes).sum()
    }
}

/// Returns whether an input is a file that can be read from the
/// middle: lines that are read independently of each other.
///
/// # Errors
///
/// If the system fails.
pub(crate) fn divides(planned: &PlannedInput, limits: &Limits) -> Result<bool, Failure> {
    if planned.input.kind != InputKind::File || planned.settings.written.limit.is_some() {
        return Ok(false);
    }
    Ok(seen(planned, limits)?.divides)
}

/// Returns the shards of a plan with hashed inputs, in order.
///
/// # Errors
///
/// If the system fails.
pub(crate) fn shards(plan: &Plan) -> Result<Vec<Shard>, Failure> {
    let most = plan.pipeline.shards.bytes;
    if plan.pipeline.select.limit.is_some() || plan.input_bytes() <= most {
        return Ok(vec![Shard::whole(plan.inputs.len())]);
    }
    let together = together(plan)?;
    let mut shards = Pile::default();
    // The last input that must be in the same shard as the current one.
    let mut joined_until = None;
    for (index, planned) in plan.inputs.iter().enumerate() {
        let is_free = joined_until.is_none_or(|joined_until| index > joined_until);
        let bytes = planned.input.bytes;
        if let Some((first, last)) = together.get(&planned.section)
            && *first == index
        {
            joined_until = joined_until.max(Some(*last));
        }
        // An input that starts here may belong to others, and is not divided then.
        let is_joined = joined_until.is_some_and(|joined_until| index <= joined_until);
        match plan.ranges.get(&index) {
            Some(ranges) if is_free && !is_joined => {
                shards.end(index);
                for range in ranges {
                    shards.push(index..index + 1, Some(range.clone()));
                }
                shards.begin(index + 1);
            }
            _ => {
                if is_free && shards.bytes > 0 && shards.bytes + bytes > most {
                    shards.end(index);
                    shards.begin(index);
                }
                shards.bytes += bytes;
            }
        }
    }
    shards.end(plan.inputs.len());
    Ok(shards.shards)
}

/// The finished shards, and the start of the current one.
#[derive(Default)]
struct Pile {
    shards: Vec<Shard>,
    first: usize,
    bytes: u64,
}

impl Pile {
    fn begin(&mut self, first: usize) {
        self.first = first;
        self.bytes = 0;
    }

    fn end(&mut self, after: usize) {
        if self.first < after {
            self.push(self.first..after, None);
        }
    }

    fn push(&mut self, inputs: Range<usize>, range: Option<LineRange>) {
        let number = u32::try_from(self.shards.len()).unwrap_or(u32::MAX);
        self.shards.push(Shard {
            number,
            inputs,
            range,
        });
    }
}

/// Returns the first and the last input of each section with inputs that may belong together. Inputs with
/// named tables belong together across sections, because ids start with their table if the run reads several.
fn together(plan: &Plan) -> Result<BTreeMap<usize, (usize, usize)>, Failure> {
    let mut sections: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let companions = Companions::of(&plan.inputs);
    let mut with_tables: Option<(usize, usize)> = None;
    for (index, planned) in plan.inputs.iter().enumerate() {
        let seen = seen(planned, plan.limits())?;
        if companions.has_any(planned) || may_merge(planned, &seen) {
            let (_, last) = sections.entry(planned.section).or_insert((index, index));
            *last = index;
        }
        if seen.has_tables {
            let (_, last) = with_tables.get_or_insert((index, index));
            *last = index;
        }
    }
    if let Some((first, last)) = with_tables {
        let section = cut::at(&plan.inputs, first).section;
        let (began, ended) = sections.entry(section).or_insert((first, last));
        (*began, *ended) = (first.min(*began), last.max(*ended));
    }
    Ok(sections)
}

/// Returns whether rows of an input may join a conversation of
/// another input, or its records count together with theirs.
fn may_merge(planned: &PlannedInput, seen: &Seen) -> bool {
    let settings = &planned.settings;
    match (settings.written.limit, settings.written.merge, settings.source) {
        (Some(_), ..) => true,
        (None, Some(merges), _) => merges,
        (None, None, Some(source)) => joins_files(source),
        (None, None, None) => seen.may_merge,
    }
}

/// Returns whether rows of one file may belong to a conversation of another.
fn joins_files(source: &dyn Source) -> bool {
    source.merges() || source.resumes()
}

/// The properties that the first bytes of an input show; all false for an empty input.
#[derive(Default)]
struct Seen {
    /// Whether it consists of lines, and its source reads each record independently.
    divides: bool,
    may_merge: bool,
    /// Whether it has tables with names: a dump or a database.
    has_tables: bool,
}

/// Returns whether an input has the name of a CSV file, which contains no name of a table.
fn is_csv(planned: &PlannedInput) -> bool {
    let name = planned.input.name().to_ascii_lowercase();
    [".csv", ".tsv"].iter().any(|ending| name.contains(ending))
}

fn seen(planned: &PlannedInput, limits: &Limits) -> Result<Seen, Failure> {
    if !matches!(planned.input.kind, InputKind::File | InputKind::Folder) {
        return Ok(Seen::default());
    }
    let mut reader = Reader::open(&planned.input, limits).with_tables(Arc::clone(&planned.settings.tables));
    match reader.next(&mut Vec::new()) {
        Some(Event::Failed(failure)) => Err(failure),
        Some(Event::EntryStart { entry, head }) => {
            let seen = recognise_alone(planned, &entry, &head, limits);
            // The first bytes do not show the other members of an archive, or the tables of a database.
            let may_merge = if !entry.is_empty() {
                true
            } else if head.framing == Framing::Tables {
                let maps = planned.settings.tables.iter();
                maps.filter_map(|map| chatmill_source::find(&map.source))
                    .any(joins_files)
            } else {
                seen.source.is_some_and(joins_files)
            };
            let has_independent_records = seen.source.is_some()
                && !seen.groups_rows
                && seen.map.is_none()
                && matches!(seen.action, EntryAction::Read);
            Ok(Seen {
                divides: reader.is_plain() && head.framing == Framing::Lines && has_independent_records,
                may_merge,
                has_tables: head.framing == Framing::Tables && !is_csv(planned),
            })
        }
        _ => Ok(Seen::default()),
    }
}
