//! What is this file: the source that reads it, the evidence, and what is in it. Also: conversations one by one, for `render`.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use chatmill_diag::Limits;
use chatmill_model::{Linked, MessageKind};
use serde::Serialize;

use crate::frame;
use crate::plan::{PlanError, typed_inputs};
use crate::progress::Progress;
use crate::select;
use crate::slices::{Recognised, Slicer, Step};

/// What one entry of an input holds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EntryReport {
    /// The path as typed.
    pub path: String,
    /// Member of an archive.
    pub entry: String,
    /// The source that recognised it.
    pub source: Option<String>,
    /// Why.
    pub evidence: Vec<String>,
    /// Records framed.
    pub records: u64,
    /// Records that cannot be read.
    pub rejected: u64,
    /// Conversations.
    pub conversations: u64,
    /// Messages, notices not counted.
    pub messages: u64,
    /// Shapes of the format that occur.
    pub shapes: BTreeSet<String>,
    /// Different participants.
    pub participants: u64,
    /// First instant, microseconds UTC.
    pub started_at: Option<i64>,
    /// Last instant, microseconds UTC.
    pub ended_at: Option<i64>,
}

/// Inspects inputs, one report an entry.
pub fn inspect(
    paths: &[String],
    source: &str,
    limits: &Limits,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<Vec<EntryReport>, PlanError> {
    let mut reports: Vec<EntryReport> = Vec::new();
    let mut people: Vec<BTreeSet<String>> = Vec::new();
    let mut recognised: Vec<Recognised> = Vec::new();
    let inputs = typed_inputs(paths, source)?;
    progress.stage("inspect", inputs.iter().map(|planned| planned.input.bytes).sum());
    let mut slicer = Slicer::new(&inputs, limits, SLICE_BYTES, None, stop, progress);
    let mut places: Vec<(usize, String)> = Vec::new();
    while let Some(slice) = slicer.next_slice() {
        let mut reader = None;
        for step in &slice.steps {
            match step {
                Step::Entry(entry) => {
                    let place = (entry.input, entry.entry.clone());
                    if places.last() != Some(&place) {
                        reports.push(EntryReport {
                            path: inputs
                                .get(entry.input)
                                .map(|planned| planned.name.clone())
                                .unwrap_or_default(),
                            entry: entry.entry.clone(),
                            source: entry.source.map(|source| source.id().to_owned()),
                            ..EntryReport::default()
                        });
                        people.push(BTreeSet::new());
                        places.push(place);
                    }
                    reader = entry.source;
                }
                Step::Damage(_) => {
                    if let Some(report) = reports.last_mut() {
                        report.records += 1;
                        report.rejected += 1;
                    }
                }
                Step::Frame(frame) => {
                    let (Some(source), Some(report), Some(people)) =
                        (reader, reports.last_mut(), people.last_mut())
                    else {
                        continue;
                    };
                    let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
                    report.records += 1;
                    match frame::read(source, frame, bytes, limits).linked {
                        Some(linked) => report.count(&linked, people),
                        None => report.rejected += 1,
                    }
                }
                Step::Filtered(_) | Step::Separator(_) | Step::Note(_) | Step::EntryEnd(_) => {}
            }
        }
        slicer.reuse(slice.buffer);
        recognised.extend(slicer.take_recognised());
    }
    for seen in recognised {
        let index = places
            .iter()
            .position(|place| *place == (seen.input, seen.entry.clone()));
        if let (Some(report), Some(evidence)) =
            (index.and_then(|index| reports.get_mut(index)), seen.evidence)
        {
            report.evidence = evidence.why;
        }
    }
    for (report, people) in reports.iter_mut().zip(people) {
        report.participants = people.len() as u64;
    }
    Ok(reports)
}

/// Bytes of a slice where nothing is written.
const SLICE_BYTES: usize = 8 << 20;

impl EntryReport {
    fn count(&mut self, linked: &Linked, people: &mut BTreeSet<String>) {
        let conversation = &linked.conversation;
        self.conversations += 1;
        let messages = conversation
            .messages
            .iter()
            .filter(|message| message.kind == MessageKind::Message)
            .count();
        self.messages += messages as u64;
        if !conversation.shape.is_empty() {
            self.shapes.insert(conversation.shape.to_owned());
        }
        people.extend(
            conversation
                .participants
                .iter()
                .map(|participant| participant.id.clone()),
        );
        let (first, last) = select::span(conversation);
        self.started_at = [self.started_at, first].into_iter().flatten().min();
        self.ended_at = [self.ended_at, last].into_iter().flatten().max();
    }
}

/// Reads inputs one conversation at a time, in order. `visit` gets the id and the conversation;
/// it returns false to end early.
pub fn conversations(
    paths: &[String],
    source: &str,
    limits: &Limits,
    stop: &AtomicBool,
    visit: &mut dyn FnMut(&str, &Linked) -> bool,
) -> Result<Unread, PlanError> {
    let inputs = typed_inputs(paths, source)?;
    let mut slicer = Slicer::new(&inputs, limits, SLICE_BYTES, None, stop, &crate::progress::Silent);
    let mut unread = Unread::default();
    while let Some(slice) = slicer.next_slice() {
        let mut reader = None;
        for step in &slice.steps {
            match step {
                Step::Entry(entry) => reader = entry.source,
                Step::Damage(damage) => unread.0.push(format!("{}: {}", damage.code.code, damage.message)),
                Step::Frame(frame) => {
                    let Some(source) = reader else {
                        continue;
                    };
                    let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
                    let outcome = frame::read(source, frame, bytes, limits);
                    let Some(linked) = outcome.linked else {
                        for (reject, _) in outcome.rejects {
                            let finding = reject.finding;
                            unread
                                .0
                                .push(format!("{}: {}", finding.code.code, finding.message));
                        }
                        continue;
                    };
                    let id = frame::id(&linked, bytes);
                    if !visit(&id, &linked) {
                        return Ok(unread);
                    }
                }
                Step::Filtered(_) | Step::Separator(_) | Step::Note(_) | Step::EntryEnd(_) => {}
            }
        }
        slicer.reuse(slice.buffer);
    }
    Ok(unread)
}

/// What could not be read, one clause each.
#[derive(Clone, Debug, Default)]
pub struct Unread(pub Vec<String>);
