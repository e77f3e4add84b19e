//! A worker's part: the records of one slice, read, linked and checked.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_diag::{Finding, Path, Span, codes};
use chatmill_intake::json::{self, Document};
use chatmill_intake::{Form, Frame};
use chatmill_model::{Linked, MessageOrigin};
use chatmill_source::Source;

use super::across::Trace;
use super::verdict::FileCounts;
use super::{CheckOptions, Checked, Excerpt, acceptance};
use crate::entry::EntryRef;
use crate::plan::{CodeSettings, PlannedInput};
use crate::record::group::{Group, GroupRow, WayBack};
use crate::record::locate::{Located, Locator};
use crate::record::written::written;
use crate::record::{self, Settings};
use crate::slice::Slice;
use crate::slice::records::{Item, ReadRecord, Record, RecordForm};
use crate::work::recognition::{Recognition, is_misread};

/// What one slice gives.
#[derive(Default)]
pub(super) struct SliceReport {
    pub(super) files: BTreeMap<usize, FileCounts>,
    /// Findings, each with the index of its input.
    pub(super) findings: Vec<(usize, Checked)>,
    /// What is kept of its conversations until all files were read.
    pub(super) traces: Vec<Trace>,
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
        file: None,
        shown: BTreeMap::new(),
    };
    for item in slice.items() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        checker.item(item);
    }
    checker.report
}

struct Checker<'c> {
    inputs: &'c [PlannedInput],
    options: &'c CheckOptions,
    report: SliceReport,
    place: Option<&'c EntryRef>,
    /// The last file that a finding was in, and what becomes of codes in it.
    file: Option<(usize, CodeSettings)>,
    /// Excerpts per code of that file.
    shown: BTreeMap<&'static str, usize>,
}

/// Where a finding was made: the record and its conversation.
#[derive(Clone, Copy, Default)]
struct FindingPlace<'s> {
    record: Option<u64>,
    conversation: Option<&'s str>,
    target: Option<&'s str>,
    /// Bytes that an excerpt can be cut from, the place of their first byte, and the span to show.
    text: Option<(&'s [u8], u64, Span)>,
}

/// What a dialect refuses, with its place.
struct Judged<'s, 'c> {
    located: Located,
    record: u64,
    /// The entry, where it is not the one that is being read.
    place: Option<&'c EntryRef>,
    text: Option<(&'s [u8], u64, Span)>,
}

impl<'c> Checker<'c> {
    fn item(&mut self, item: Item<'c>) {
        match item {
            Item::Entry(entry) => {
                self.place = Some(entry);
                let counts = self.counts();
                counts.source = counts.source.or(entry.source.map(Source::id));
            }
            Item::FramingError(damage) => {
                let counts = self.counts();
                counts.records += 1;
                counts.rejected += 1;
                let located = Located::of_damage(damage);
                let around = damage.around.as_ref().zip(located.span);
                let spot = FindingPlace {
                    record: Some(damage.record),
                    text: around.map(|(around, span)| (around.bytes.as_slice(), around.start, span)),
                    ..FindingPlace::default()
                };
                self.finding(located, spot);
            }
            Item::Note(finding) => self.finding(Located::nowhere(finding.clone()), FindingPlace::default()),
            Item::Record(record) => {
                let shown = shown(&record);
                let text = Text::of(record, &shown);
                for read in record.read(Settings::plain(&self.options.limits)) {
                    let outcome = (read.outcome.unread.as_slice(), read.outcome.words);
                    let (files, limit) = (&mut self.report.files, self.options.limits.unread_paths);
                    Recognition::add(files, |file| &mut file.recognition, record, outcome, limit);
                    self.record(read, &text);
                }
            }
            Item::PassedOver { kind, bytes } => {
                let (member, limit) = (self.place, self.options.limits.unread_paths);
                let counts = self.counts();
                counts.recognition.pass_over(member, kind, bytes, limit);
                counts.passed_over = Some(kind);
            }
            Item::Filtered(_)
            | Item::Skipped { .. }
            | Item::Separator(_)
            | Item::EntryEnd(_)
            | Item::StretchEnd(_) => {}
        }
    }

    fn record(&mut self, mut read: ReadRecord<'c>, text: &Text<'_, 'c>) {
        let record = read.record;
        for (row, is_rejected) in read.rows() {
            self.place = Some(row.entry);
            let counts = self.counts();
            counts.source = counts.source.or(record.source().map(Source::id));
            counts.records += 1;
            counts.rejected += u64::from(is_rejected);
        }
        let linked = read.outcome.linked.as_ref();
        let id = linked.map(|linked| record::id(linked, &read.hash));
        let rejects = read.rejects(&self.options.limits);
        if record.source().is_some() {
            let misread = rejects.iter().filter(|(_, reject, _)| is_misread(reject));
            self.place = Some(record.entry);
            self.counts().recognition.misread += misread.count() as u64;
        }
        let rejects = rejects.into_iter();
        let rejects = rejects.map(|(row, _, located)| (row, located));
        let findings = std::mem::take(&mut read.outcome.findings).into_iter();
        let findings = findings.map(|located| (record.row(located.row), located));
        for (row, located) in findings.chain(rejects) {
            self.place = Some(row.entry);
            let spot = FindingPlace {
                record: Some(row.record),
                conversation: id.as_deref(),
                target: None,
                text: text.around(&located),
            };
            self.finding(located, spot);
        }
        self.place = Some(record.entry);
        if let (Some(linked), Some(id)) = (&read.outcome.linked, &id) {
            self.judge(linked, id, &|finding| text.judged(linked, finding));
            let trace = Trace::of(&record, linked, id.clone(), &text.locator);
            self.report.traces.push(trace);
        }
    }

    /// Counts a conversation and lets every target say what it thinks of it.
    fn judge<'s>(&mut self, linked: &Linked, id: &str, locate: &dyn Fn(Finding) -> Judged<'s, 'c>) {
        self.counts().conversations += 1;
        let home = self.place;
        let options = self.options;
        for (rank, target) in options.targets.iter().enumerate() {
            let refusals = acceptance::refusals(linked, target, &options.limits);
            let counts = self.counts();
            counts.refused.resize(options.targets.len(), 0);
            if let Some(refused) = counts.refused.get_mut(rank) {
                *refused += u64::from(!refusals.is_empty());
            }
            let name = acceptance::name(target);
            for finding in refusals {
                let judged = locate(finding);
                if judged.place.is_some() {
                    self.place = judged.place;
                }
                let spot = FindingPlace {
                    record: Some(judged.record),
                    conversation: Some(id),
                    target: Some(&name),
                    text: judged.text,
                };
                self.finding(judged.located, spot);
            }
            self.place = home;
        }
    }

    fn counts(&mut self) -> &mut FileCounts {
        let input = self.place.as_ref().map_or(0, |place| place.input);
        self.report.files.entry(input).or_default()
    }

    fn finding(&mut self, mut located: Located, spot: FindingPlace<'_>) {
        let code = located.finding.code.code;
        self.counts().is_empty |= code == codes::EMPTY_INPUT.code;
        let place = self.place.as_ref();
        let index = place.map_or(0, |place| place.input);
        let planned = self.inputs.get(index);
        if self.file.as_ref().is_none_or(|(file, _)| *file != index) {
            self.file = Some((index, super::settings_of(self.options, planned)));
            self.shown.clear();
        }
        let settings = self.file.as_ref().map(|(_, settings)| settings);
        let own = located.finding.severity;
        let graded = settings.map_or(Some(own), |settings| settings.severity(located.finding.code, own));
        let Some(severity) = graded else { return };
        located.finding.severity = severity;
        let entry = place.map(|place| place.entry.clone()).unwrap_or_default();
        let entry = self.options.shown_entry(entry);
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
            file: index,
            path: planned
                .map(|planned| super::shown_path(planned, self.options.path_mask()).into_owned())
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

/// What is written in the entry for a record, as excerpts show it.
fn shown<'r>(record: &Record<'r>) -> Cow<'r, [u8]> {
    match record.form {
        RecordForm::Frame(frame) => written(frame.form, record.bytes),
        RecordForm::Group(_) => Cow::Borrowed(record.bytes),
    }
}

/// The text of a record, which all its conversations share.
struct Text<'t, 'r> {
    record: Record<'r>,
    shown: &'t [u8],
    locator: Locator<'t>,
    way: WayBack<'t>,
    document: OnceCell<Option<Document<'r>>>,
}

impl<'t, 'r> Text<'t, 'r> {
    fn of(record: Record<'r>, shown: &'t [u8]) -> Self {
        let frame = match record.form {
            RecordForm::Frame(frame) => frame.clone(),
            RecordForm::Group(group) => group.frame(record.bytes),
        };
        Self {
            record,
            shown,
            locator: Locator::new(frame, shown),
            way: WayBack::new(shown),
            document: OnceCell::new(),
        }
    }

    /// Bytes around a finding, the place of their first byte, and the span to show.
    fn around(&self, located: &Located) -> Option<(&[u8], u64, Span)> {
        match self.record.form {
            RecordForm::Frame(frame) => located.span.map(|span| (self.shown, frame.start, span)),
            RecordForm::Group(group) => {
                let row = located.row.and_then(|index| group.rows.get(index));
                let row = row.or(group.rows.first())?;
                let inside = located.inside.clone().unwrap_or(0..row.inside.len());
                let span = Span {
                    start: inside.start as u64,
                    end: inside.end as u64,
                };
                self.shown.get(row.inside.clone()).map(|text| (text, 0, span))
            }
        }
    }

    /// Places what a dialect refuses of a conversation.
    fn judged(&self, linked: &Linked, finding: Finding) -> Judged<'_, 'r> {
        let origin = origin(linked, &finding);
        let frame = match self.record.form {
            RecordForm::Frame(frame) => frame,
            RecordForm::Group(group) => return self.judged_in_rows(group, origin, finding),
        };
        // What is written is not what was read: there is no way from a value to its bytes.
        let is_derived = matches!(frame.form, Form::Text | Form::Copied);
        let path = |source: &dyn Source| origin.map(|origin| source.message_path(origin.index));
        let is_apart = self.record.source().and_then(path) == Some(None);
        let is_sought = (finding.mark.is_some() || is_apart) && !is_derived;
        let document = is_sought.then(|| self.document()).flatten();
        let (Some(document), Some(source), Some(_)) = (document, self.record.source(), origin) else {
            return self.judged_in(frame, origin, finding);
        };
        let finding = Finding {
            path: Path::InMessage(String::new()),
            ..finding
        };
        let located = self.locator.locate(finding, Some(document), source, Some(linked));
        Judged {
            text: self.around(&located),
            located,
            record: frame.record,
            place: None,
        }
    }

    /// The record, read once more for what findings mean in it.
    fn document(&self) -> Option<&Document<'r>> {
        let scan = || json::scan(self.record.bytes, u32::MAX).ok();
        self.document.get_or_init(scan).as_ref()
    }

    fn judged_in_rows(
        &self,
        group: &Group,
        origin: Option<MessageOrigin>,
        finding: Finding,
    ) -> Judged<'_, 'r> {
        let index = origin.map(|origin| origin.index as usize);
        let own = index.filter(|index| *index < group.rows.len());
        let row = self.record.row(own);
        let meant = finding.mark.as_ref().and_then(|_| self.document());
        let located = match (own, meant) {
            (Some(index), Some(document)) => {
                group.locate(index, finding, document, (&self.locator, &self.way))
            }
            (index, _) => group.rows.get(index.unwrap_or_default()).map_or_else(
                || Located::nowhere(finding.clone()),
                |row| Located {
                    row: index,
                    ..at_row(finding.clone(), row)
                },
            ),
        };
        Judged {
            text: own.and_then(|_| self.around(&located)),
            located,
            record: row.record,
            place: Some(row.entry),
        }
    }

    fn judged_in(&self, frame: &Frame, origin: Option<MessageOrigin>, finding: Finding) -> Judged<'_, 'r> {
        let finding = match origin {
            None => finding,
            Some(origin) => finding.at_span(origin.start, origin.end),
        };
        let begins_list = self.record.bytes.trim_ascii_start().starts_with(b"[");
        let finding = match (origin, self.record.source()) {
            // A text has no fields that a path could name.
            (Some(origin), Some(source)) if frame.form != Form::Text => finding.at_path(if begins_list {
                format!("$[{}]", origin.index)
            } else {
                let path = source.message_path(origin.index);
                path.unwrap_or_else(|| "$".to_owned())
            }),
            _ => finding,
        };
        let located = self.locator.locate_plain(finding);
        Judged {
            text: origin
                .and(located.span)
                .map(|span| (self.shown, frame.start, span)),
            located,
            record: frame.record,
            place: None,
        }
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
