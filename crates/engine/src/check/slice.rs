//! A worker's part: the records of one slice, read, linked and checked.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_diag::{Finding, Span, codes};
use chatmill_intake::{Form, Frame, Transcript};
use chatmill_model::{Linked, MessageOrigin};
use chatmill_source::Source;

use super::verdict::FileCounts;
use super::{CheckOptions, Checked, Excerpt, judge};
use crate::entry::EntryStep;
use crate::plan::PlannedInput;
use crate::record::group::{Group, GroupRow};
use crate::record::locate::{Located, Locator};
use crate::record::{self, Settings};
use crate::slice::{Slice, Step};

/// What one slice gives.
#[derive(Default)]
pub(super) struct SliceReport {
    pub(super) files: BTreeMap<usize, FileCounts>,
    /// Findings, each with the index of its input.
    pub(super) findings: Vec<(usize, Checked)>,
}

/// Reads and checks the records of a slice.
pub(super) fn check_slice(
    slice: &Slice,
    inputs: &[PlannedInput],
    options: &CheckOptions,
    stop: &AtomicBool,
) -> SliceReport {
    let mut checker = Checker {
        inputs,
        options,
        report: SliceReport::default(),
        place: None,
        shown: BTreeMap::new(),
    };
    for step in &slice.steps {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        checker.step(step, slice);
    }
    checker.report
}

struct Checker<'c> {
    inputs: &'c [PlannedInput],
    options: &'c CheckOptions,
    report: SliceReport,
    place: Option<EntryStep>,
    /// Excerpts per code.
    shown: BTreeMap<&'static str, usize>,
}

/// Where a finding was made: the record and its conversation.
#[derive(Clone, Copy, Default)]
struct Spot<'s> {
    record: Option<u64>,
    conversation: Option<&'s str>,
    target: Option<&'s str>,
    /// Bytes that an excerpt can be cut from, the place of their first byte, and the span to show.
    text: Option<(&'s [u8], u64, Span)>,
}

/// What a dialect refuses, with its place.
struct Judged<'s> {
    located: Located,
    record: u64,
    /// The entry, where it is not the one that is being read.
    place: Option<EntryStep>,
    text: Option<(&'s [u8], u64, Span)>,
}

impl Checker<'_> {
    fn step(&mut self, step: &Step, slice: &Slice) {
        match step {
            Step::Entry(entry) => {
                self.place = Some(entry.clone());
                let counts = self.counts();
                counts.source = counts.source.or(entry.source.map(Source::id));
            }
            Step::Damage(damage) => {
                let counts = self.counts();
                counts.records += 1;
                counts.rejected += 1;
                let spot = Spot {
                    record: Some(damage.record),
                    ..Spot::default()
                };
                self.finding(Located::of_damage(damage), spot);
            }
            Step::Note(finding) => self.finding(Located::nowhere(finding.clone()), Spot::default()),
            Step::Frame(frame) => {
                let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
                self.frame(frame, bytes);
            }
            Step::Group(group) => self.group(group, slice),
            Step::PassedOver { kind, .. } => self.counts().passed_over = Some(kind),
            Step::Filtered(_)
            | Step::FilteredGroup(_)
            | Step::Skipped { .. }
            | Step::Separator(_)
            | Step::EntryEnd(_) => {}
        }
    }

    fn group(&mut self, group: &Group, slice: &Slice) {
        let bytes = slice.buffer.get(group.buffer.clone()).unwrap_or_default();
        let outcome = group.read(bytes, Settings::plain(&self.options.limits));
        let rejected = group.rejected(&outcome);
        for (index, row) in group.rows.iter().enumerate().filter(|(_, row)| row.place.counts) {
            self.place = slice.entries.get(row.place.entry).cloned();
            let source = group.source.id();
            let counts = self.counts();
            counts.source.get_or_insert(source);
            counts.records += 1;
            counts.rejected += u64::from(rejected.contains(&index));
        }
        let Some(first) = group.rows.first() else { return };
        let rejects = group.rejects(&outcome, bytes, &self.options.limits);
        let rejects = rejects.into_iter().map(|(_, _, located)| located);
        let id = outcome.linked.as_ref().map(|linked| record::id(linked, bytes));
        for located in outcome.findings.into_iter().chain(rejects) {
            let row = located
                .row
                .and_then(|index| group.rows.get(index))
                .unwrap_or(first);
            self.place = slice.entries.get(row.place.entry).cloned();
            let inside = located.inside.clone().unwrap_or(0..row.inside.len());
            let span = Span {
                start: inside.start as u64,
                end: inside.end as u64,
            };
            let spot = Spot {
                record: Some(row.place.record),
                conversation: id.as_deref(),
                target: None,
                text: bytes.get(row.inside.clone()).map(|text| (text, 0, span)),
            };
            self.finding(located, spot);
        }
        self.place = slice.entries.get(first.place.entry).cloned();
        if let (Some(linked), Some(id)) = (&outcome.linked, &id) {
            self.judge(linked, id, &|finding| {
                let origin = origin(linked, &finding);
                let own = origin.and_then(|origin| group.rows.get(origin.index as usize));
                let row = own.unwrap_or(first);
                Judged {
                    located: at_row(finding, row),
                    record: row.place.record,
                    place: slice.entries.get(row.place.entry).cloned(),
                    text: own.and_then(|row| bytes.get(row.inside.clone())).map(|text| {
                        let end = text.len() as u64;
                        (text, 0, Span { start: 0, end })
                    }),
                }
            });
        }
    }

    fn frame(&mut self, frame: &Frame, bytes: &[u8]) {
        let Some(source) = self.place.as_ref().and_then(|place| place.source) else {
            return;
        };
        let outcome = record::read(source, frame, bytes, Settings::plain(&self.options.limits));
        let counts = self.counts();
        counts.records += 1;
        counts.rejected += u64::from(outcome.linked.is_none());
        let id = outcome.linked.as_ref().map(|linked| record::id(linked, bytes));
        let text = (frame.form == Form::Text).then(|| Transcript::new(bytes).text());
        let shown = text.as_deref().unwrap_or(bytes);
        let rejects = outcome.rejects.into_iter().map(|(_, located)| located);
        for located in outcome.findings.into_iter().chain(rejects) {
            let spot = Spot {
                record: Some(frame.record),
                conversation: id.as_deref(),
                target: None,
                text: located.span.map(|span| (shown, frame.start, span)),
            };
            self.finding(located, spot);
        }
        if let (Some(linked), Some(id)) = (&outcome.linked, &id) {
            let locator = Locator::new(frame, shown);
            let begins_list = |bytes: &[u8]| bytes.trim_ascii_start().starts_with(b"[");
            self.judge(linked, id, &|finding| {
                let origin = origin(linked, &finding);
                let finding = match origin {
                    None => finding,
                    Some(origin) => finding.at_span(origin.start, origin.end),
                };
                let finding = match origin {
                    // A text has no fields that a path could name.
                    Some(origin) if frame.form != Form::Text => finding.at_path(if begins_list(bytes) {
                        format!("$[{}]", origin.index)
                    } else {
                        source.message_path(origin.index)
                    }),
                    _ => finding,
                };
                let located = locator.locate_plain(finding);
                Judged {
                    text: origin.and(located.span).map(|span| (shown, frame.start, span)),
                    located,
                    record: frame.record,
                    place: None,
                }
            });
        }
    }

    /// Counts a conversation and lets every target say what it thinks of it.
    fn judge<'s>(&mut self, linked: &Linked, id: &str, locate: &dyn Fn(Finding) -> Judged<'s>) {
        self.counts().conversations += 1;
        let home = self.place.clone();
        let options = self.options;
        for (rank, target) in options.targets.iter().enumerate() {
            let refusals = judge::refusals(linked, target, &options.limits);
            let counts = self.counts();
            counts.refused.resize(options.targets.len(), 0);
            if let Some(refused) = counts.refused.get_mut(rank) {
                *refused += u64::from(!refusals.is_empty());
            }
            let name = judge::name(target);
            for finding in refusals {
                let judged = locate(finding);
                if judged.place.is_some() {
                    self.place = judged.place;
                }
                let spot = Spot {
                    record: Some(judged.record),
                    conversation: Some(id),
                    target: Some(&name),
                    text: judged.text,
                };
                self.finding(judged.located, spot);
            }
            self.place.clone_from(&home);
        }
    }

    fn counts(&mut self) -> &mut FileCounts {
        let input = self.place.as_ref().map_or(0, |place| place.input);
        self.report.files.entry(input).or_default()
    }

    fn finding(&mut self, located: Located, spot: Spot<'_>) {
        let code = located.finding.code.code;
        self.counts().is_empty |= code == codes::EMPTY_INPUT.code;
        if self.options.ignored.contains(&code) {
            return;
        }
        let place = self.place.as_ref();
        let index = place.map_or(0, |place| place.input);
        let planned = self.inputs.get(index);
        let entry = place.map(|place| place.entry.clone()).unwrap_or_default();
        // Only a record is known to be a row.
        let table = place
            .filter(|_| spot.record.is_some())
            .map(|place| place.table.clone())
            .unwrap_or_default();
        let shown = self.shown.entry(code).or_default();
        let excerpt = spot
            .text
            .filter(|_| *shown < self.options.excerpts)
            .and_then(|(bytes, start, span)| Excerpt::cut(bytes, start, span));
        *shown += usize::from(excerpt.is_some());
        let checked = Checked {
            located,
            path: planned
                .map(|planned| planned.name().into_owned())
                .unwrap_or_default(),
            input: planned
                .map(|planned| planned.input.name().into_owned())
                .unwrap_or_default(),
            entry,
            table,
            record: spot.record,
            conversation: spot.conversation.map(str::to_owned),
            target: spot.target.map(str::to_owned),
            excerpt,
        };
        self.report.findings.push((index, checked));
    }
}

/// Where the message of a finding stands in its record.
fn origin(linked: &Linked, finding: &Finding) -> Option<MessageOrigin> {
    let position = finding.position?;
    let message = linked.conversation.messages.get(position as usize)?;
    Some(message.origin)
}

/// Places a finding at a row of a group.
fn at_row(finding: Finding, row: &GroupRow) -> Located {
    Located {
        span: row.place.written(),
        line_column: row.place.line_column(),
        ..Located::nowhere(finding)
    }
}
