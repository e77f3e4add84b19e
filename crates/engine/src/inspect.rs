//! Inspects files: the source that reads each entry, the evidence for it, and counts of its contents.
//!
//! [`inspect`] returns one [`EntryReport`] per entry for `chatmill inspect`;
//! [`conversations`] visits the conversations of files one by one, for
//! `chatmill render`; `statistics` computes the figures of exported files.

mod statistics;

pub use statistics::{FileStatistics, statistics};

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;

use chatmill_diag::{Limits, cut};
use chatmill_intake::Failure;
use chatmill_intake::discover::Links;
use chatmill_model::{Linked, MessageKind};
use chatmill_source::{Evidence, Proposal};
use serde::Serialize;

use crate::entry::EntryRef;
use crate::error::ReadError;
use crate::plan::{InputReading, PlannedInput, typed_inputs};
use crate::problem::{ReadProblem, ReadProblems};
use crate::progress::{Progress, Silent};
use crate::slice::Recognised;
use crate::walk::{WalkEvent, walk};

/// The number of tables that a report names at most.
const MAX_NAMED_TABLES: usize = 64;

/// The contents of one entry of an input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EntryReport {
    /// The path as the user typed it.
    pub path: String,
    /// Member of an archive.
    pub entry: String,
    /// The id of the source that reads the entry.
    pub source: Option<String>,
    /// The reasons for choosing this source.
    pub evidence: Vec<String>,
    /// The evidence of each matching source, by decreasing confidence, if several match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub considered: Vec<Evidence>,
    /// The format that an unread entry looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looks_like: Option<String>,
    /// Tables of a database or a dump that no source reads.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unread_tables: BTreeSet<String>,
    /// A proposed map for an entry that no source reads.
    #[serde(skip)]
    pub proposal: Option<Proposal>,
    /// Records found.
    pub records: u64,
    /// Records that cannot be read.
    pub rejected: u64,
    /// Conversations.
    pub conversations: u64,
    /// Conversations with a whole number as id in the record, as in numbered rows.
    #[serde(skip)]
    pub numbered: u64,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Variants of the format that occur.
    pub shapes: BTreeSet<String>,
    /// Format versions that the conversations state.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub versions: BTreeSet<String>,
    /// The version that the source was last verified with; empty if none is recorded.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub verified: &'static str,
    /// Number of different participants.
    pub participants: u64,
    /// Their ids.
    #[serde(skip)]
    pub participant_ids: BTreeSet<String>,
    /// Time of the first message, in microseconds UTC.
    pub started_at: Option<i64>,
    /// Time of the last message, in microseconds UTC.
    pub ended_at: Option<i64>,
    /// The first problems: data that cannot be read, or that is doubtful.
    #[serde(rename = "troubles")]
    pub problems: Vec<ReadProblem>,
}

/// The number of versions in the report of an entry.
const MAX_VERSIONS: usize = 8;

/// The number of problems in the report of an entry.
const MAX_SHOWN_PROBLEMS: usize = 5;

/// The result of inspecting some inputs.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// One report for each entry.
    pub entries: Vec<EntryReport>,
    /// The inputs that were not read to their end because the system failed.
    pub failures: Vec<Failure>,
}

/// Inspects inputs.
pub fn inspect(
    paths: &[String],
    reading: &InputReading,
    limits: &Limits,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Inspection, ReadError> {
    let (inputs, notes) = typed_inputs(paths, reading, Links::Refused, true)?;
    for note in &notes {
        progress.note(note);
    }
    progress.stage("inspect", inputs.iter().map(|planned| planned.input.bytes).sum());
    let mut reports = Reports {
        inputs: &inputs,
        list: Vec::new(),
        numbers: HashMap::new(),
    };
    let mut failures = Vec::new();
    walk(&inputs, reading.records(limits), progress, stop, &mut |sight| {
        match sight {
            WalkEvent::Failed(failure) => failures.push(failure),
            WalkEvent::Entry(entry) => {
                reports.at(entry);
            }
            WalkEvent::Recognised(seen) => reports.recognised(seen),
            WalkEvent::Record { entry, is_rejected } => {
                let report = reports.at(entry);
                report.records += 1;
                report.rejected += u64::from(is_rejected);
            }
            WalkEvent::Conversation { entry, linked, .. } => reports.at(entry).count(linked),
            WalkEvent::ReadProblem(problem) => reports.problem(problem),
            WalkEvent::Table { entry, table } => {
                let unread_tables = &mut reports.at(entry).unread_tables;
                if unread_tables.len() < MAX_NAMED_TABLES {
                    unread_tables.insert(table.to_owned());
                }
            }
        }
        true
    })?;
    Ok(Inspection {
        entries: reports.list,
        failures,
    })
}

/// Reports in the order of their entries.
struct Reports<'i> {
    inputs: &'i [PlannedInput],
    list: Vec<EntryReport>,
    numbers: HashMap<(usize, String), usize>,
}

impl Reports<'_> {
    /// Records the reason why an entry is read, or the format that it resembles.
    fn recognised(&mut self, seen: Recognised) {
        let number = self.numbers.get(&(seen.input, seen.entry));
        if let Some(report) = number.and_then(|number| self.list.get_mut(*number)) {
            if seen.considered.len() > 1 {
                report.considered = seen.considered;
            }
            if let Some(evidence) = seen.evidence {
                report.evidence = evidence.why;
            }
            report.looks_like = report.looks_like.take().or(seen.looks_like);
            report.proposal = report.proposal.take().or(seen.proposal);
        }
    }

    /// Adds a problem to the report of its entry, or of the latest entry if it names none.
    fn problem(&mut self, problem: ReadProblem) {
        let is_its_own = |report: &EntryReport| report.path == problem.path && report.entry == problem.entry;
        let own = self.list.iter().rposition(is_its_own);
        let place = own.or(self.list.len().checked_sub(1));
        if let Some(report) = place.and_then(|place| self.list.get_mut(place))
            && report.problems.len() < MAX_SHOWN_PROBLEMS
            && !report.problems.last().is_some_and(|last| problem.repeats(last))
        {
            report.problems.push(problem);
        }
    }

    /// Returns the report of an entry; creates it for a new one.
    fn at(&mut self, entry: &EntryRef) -> &mut EntryReport {
        let next = self.list.len();
        let key = (entry.input, entry.entry.clone());
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.list.push(EntryReport {
                path: cut::at(self.inputs, entry.input).name().into_owned(),
                entry: entry.entry.clone(),
                ..EntryReport::default()
            });
        }
        let report = cut::at_mut(&mut self.list, number);
        if let Some(source) = entry.source {
            report.source = Some(source.id().to_owned());
            report.verified = source.about().verified;
        }
        report
    }
}

/// Returns whether a text looks like a version: short, with a digit, and without words.
fn is_version(text: &str) -> bool {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || ".-+_".contains(sign);
    text.len() <= 32 && text.chars().all(is_part) && text.contains(|sign: char| sign.is_ascii_digit())
}

impl EntryReport {
    fn count(&mut self, linked: &Linked) {
        let conversation = &linked.conversation;
        self.conversations += 1;
        let is_number = |id: &str| !id.is_empty() && id.bytes().all(|digit| digit.is_ascii_digit());
        self.numbered += u64::from(conversation.source_id.as_deref().is_some_and(is_number));
        let messages = conversation
            .messages
            .iter()
            .filter(|message| message.kind == MessageKind::Message)
            .count();
        self.messages += messages as u64;
        if !conversation.shape.is_empty() {
            self.shapes.insert(conversation.shape.to_owned());
        }
        let version = conversation
            .format_version
            .as_deref()
            .filter(|version| is_version(version));
        if let Some(version) = version.filter(|_| self.versions.len() < MAX_VERSIONS) {
            self.versions.insert(version.to_owned());
        }
        let ids = conversation
            .participants
            .iter()
            .map(|participant| &participant.id);
        self.participant_ids.extend(ids.cloned());
        self.participants = self.participant_ids.len() as u64;
        let (first, last) = conversation.span();
        self.started_at = [self.started_at, first].into_iter().flatten().min();
        self.ended_at = [self.ended_at, last].into_iter().flatten().max();
    }
}

/// Reads inputs one conversation at a time, in order. `visit`
/// gets the id and the conversation; it returns false to stop.
pub fn conversations(
    paths: &[String],
    reading: &InputReading,
    limits: &Limits,
    stop: &AtomicBool,
    visit: &mut dyn FnMut(&str, &Linked) -> bool,
) -> Result<ReadProblems, ReadError> {
    let (inputs, notes) = typed_inputs(paths, reading, Links::Refused, false)?;
    let mut problems = ReadProblems {
        notes,
        ..ReadProblems::default()
    };
    walk(
        &inputs,
        reading.records(limits),
        &Silent,
        stop,
        &mut |sight| match sight {
            WalkEvent::Conversation { id, linked, .. } => visit(&id, linked),
            WalkEvent::ReadProblem(problem) => {
                problems.add(problem);
                true
            }
            WalkEvent::Failed(failure) => {
                problems.failures.push(failure);
                true
            }
            _ => true,
        },
    )?;
    Ok(problems)
}
