//! The part of a check that runs on a worker: the records of one slice are read, linked and checked.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_diag::{Finding, Limits, Path, Span, codes, cut};
use chatmill_intake::json::{self, Document};
use chatmill_intake::{Form, Frame};
use chatmill_model::{Linked, MessageOrigin};
use chatmill_source::Source;

use super::acceptance::Refusals;
use super::across::Trace;
use super::definitions::DefinitionAt;
use super::verdict::FileCounts;
use super::{CheckOptions, Checked, Excerpt, acceptance};
use crate::entry::EntryRef;
use crate::plan::{CodeSettings, PlannedInput};
use crate::progress::Progress;
use crate::record;
use crate::record::group::{Group, SourceMap};
use crate::record::locate::{Located, Locator};
use crate::record::written::written;
use crate::slice::records::{AccountedRow, At, Item, ReadRecord, Record, RecordForm};
use crate::slice::{Slice, Step};
use crate::work::recognition::{Recognition, is_misread};

/// The results of one slice.
#[derive(Default)]
pub(super) struct SliceReport {
    pub(super) files: BTreeMap<usize, FileCounts>,
    pub(super) findings: Vec<Checked>,
    /// The traces of its conversations, for the checks that need all files.
    pub(super) traces: Vec<Trace>,
}

/// Reads and checks the records of a slice.
pub(super) fn check_slice(
    slice: &Slice,
    inputs: &[PlannedInput],
    options: &CheckOptions,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> SliceReport {
    let mut checker = Checker {
        inputs,
        options,
        report: SliceReport::default(),
        file: None,
        shown: BTreeMap::new(),
    };
    for (entry, item) in slice.work(progress) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        checker.item(entry, item);
    }
    checker.report
}

/// Returns the findings of a conversation as a check without settings
/// reports them, with an excerpt of the source if `quotes` allows it.
pub(crate) fn checked_findings(
    read: &ReadRecord<'_>,
    inputs: &[PlannedInput],
    limits: &Limits,
    quotes: bool,
) -> Vec<Checked> {
    let (record, options) = (read.record, CheckOptions::default());
    let settings = options
        .settings
        .of(&super::names(cut::at(inputs, record.entry.input)));
    let shown = shown(&record);
    let text = Text::of(record, &shown);
    let id = read.outcome.linked.as_ref();
    let id = id.map(|linked| record::id(linked, &read.hash));
    let rejects = read.rejects(limits).into_iter();
    let rejects = rejects.map(|(row, _, located)| (row, located));
    let findings = read.findings().map(|(row, located)| (row, located.clone()));
    let located = findings.chain(rejects).filter_map(|(row, located)| {
        let around = text.around(&located).filter(|_| quotes);
        let excerpt = around.and_then(|(bytes, start, span)| Excerpt::cut(bytes, start, span));
        let at = At::row(row, id.as_deref());
        let checked = super::reported(&options, inputs, &settings, at, located)?;
        Some(Checked { excerpt, ..checked })
    });
    located.collect()
}

struct Checker<'c> {
    inputs: &'c [PlannedInput],
    options: &'c CheckOptions,
    report: SliceReport,
    /// The file of the last finding, and its settings of codes.
    file: Option<(usize, CodeSettings)>,
    /// The number of excerpts per code of that file.
    shown: BTreeMap<&'static str, usize>,
}

/// The text around a finding, the offset of that text in the file, and the span of the finding.
type Around<'s> = (&'s [u8], u64, Span);

impl<'c> Checker<'c> {
    fn item(&mut self, entry: Option<&'c EntryRef>, item: Item<'c>) {
        match item {
            Item::Step(Step::Entry(entry)) => self.read_by(entry, entry.source),
            Item::Step(Step::FramingError(error)) => {
                let counts = self.counts(entry);
                counts.records += 1;
                counts.rejected += 1;
                let located = Located::of_framing_error(error);
                let around = error.around.as_ref().zip(located.span);
                let text = around.map(|(around, span)| (around.bytes.as_slice(), around.start, span));
                let (record, id) = (Some(error.record), None);
                self.finding(located, At { entry, record, id }, None, text);
            }
            Item::Step(Step::Note(finding)) => {
                let at = At {
                    entry,
                    ..At::default()
                };
                self.finding(Located::nowhere(finding.clone()), at, None, None);
            }
            Item::Record(record) => {
                let shown = shown(&record);
                let text = Text::of(record, &shown);
                for read in record.read(self.options.reading()) {
                    let outcome = (read.outcome.unread.as_slice(), read.outcome.words);
                    let (files, limit) = (&mut self.report.files, self.options.limits.unread_paths);
                    Recognition::add(files, |file| &mut file.recognition, record, outcome, limit);
                    self.record(read, &text);
                }
            }
            Item::Step(Step::SkippedEntry { kind, bytes }) => {
                let limit = self.options.limits.unread_paths;
                let counts = self.counts(entry);
                counts.recognition.add_skipped(entry, kind, *bytes, limit);
                counts.skipped_entry = Some(kind);
            }
            Item::Filtered(_) | Item::Step(_) => {}
        }
    }

    fn record(&mut self, mut read: ReadRecord<'c>, text: &Text<'_, 'c>) {
        let record = read.record;
        for (row, is_rejected) in read.rows() {
            self.read_by(row.entry, record.source());
            let counts = self.counts(Some(row.entry));
            counts.records += 1;
            counts.rejected += u64::from(is_rejected);
        }
        let linked = read.outcome.linked.as_ref();
        let id = linked.map(|linked| record::id(linked, &read.hash));
        let rejects = read.rejects(&self.options.limits);
        if record.source().is_some() {
            let misread = rejects.iter().filter(|(_, reject, _)| is_misread(reject));
            self.counts(Some(record.entry)).recognition.misread += misread.count() as u64;
        }
        let rejects = rejects.into_iter();
        let rejects = rejects.map(|(row, _, located)| (row, located));
        let findings = std::mem::take(&mut read.outcome.findings).into_iter();
        let findings = findings.map(|located| (record.row(located.row), located));
        for (row, located) in findings.chain(rejects) {
            let around = text.around(&located);
            self.finding(located, At::row(row, id.as_deref()), None, around);
        }
        if let (Some(linked), Some(id)) = (&read.outcome.linked, &id) {
            self.validate(linked, id, text);
            let trace = Trace::of(&record, linked, id.clone(), &text.locator);
            self.report.traces.push(trace);
        }
    }

    /// Counts a conversation and validates it for every target.
    fn validate(&mut self, linked: &Linked, id: &str, text: &Text<'_, 'c>) {
        let entry = Some(text.record.entry);
        self.counts(entry).conversations += 1;
        let options = self.options;
        for (rank, target) in options.targets.iter().enumerate() {
            let Refusals {
                findings,
                definitions,
            } = acceptance::refusals(linked, target, &options.limits);
            let is_accepted = findings.is_empty() && definitions.is_empty();
            let counts = self.counts(entry);
            counts.refused.resize(options.targets.len(), 0);
            *cut::at_mut(&mut counts.refused, rank) += u64::from(!is_accepted);
            let name = acceptance::name(target);
            for (tool, hash, finding) in definitions {
                let (located, row, _) = text.locate_violation(linked, finding);
                let at = DefinitionAt {
                    rank,
                    located,
                    entry: row.entry.clone(),
                    record: At::row(row, None).record,
                    id: id.to_owned(),
                };
                let counts = self.counts(entry);
                counts
                    .definitions
                    .add(tool, hash, at, options.limits.unread_paths);
            }
            for finding in findings {
                let (located, row, is_located) = text.locate_violation(linked, finding);
                let around = text.around(&located).filter(|_| is_located);
                self.finding(located, At::row(row, Some(id)), Some(&name), around);
            }
        }
    }

    fn counts(&mut self, entry: Option<&EntryRef>) -> &mut FileCounts {
        let input = entry.map_or(0, |entry| entry.input);
        self.report.files.entry(input).or_default()
    }

    /// Records the first source that reads a file.
    fn read_by(&mut self, entry: &EntryRef, source: Option<&dyn Source>) {
        let counts = self.counts(Some(entry));
        counts.source = counts.source.or(source.map(Source::id));
    }

    fn finding(&mut self, located: Located, at: At<'_>, target: Option<&str>, text: Option<Around<'_>>) {
        let code = located.finding.code.code;
        self.counts(at.entry).is_empty |= code == codes::EMPTY_INPUT.code;
        let index = at.entry.map_or(0, |entry| entry.input);
        let known = self.file.take().filter(|(file, _)| *file == index);
        let (_, settings) = &*self.file.insert(known.unwrap_or_else(|| {
            self.shown.clear();
            let names = super::names(cut::at(self.inputs, index));
            (index, self.options.settings.of(&names))
        }));
        let Some(checked) = super::reported(self.options, self.inputs, settings, at, located) else {
            return;
        };
        let shown = self.shown.entry(code).or_default();
        let excerpt = text
            .filter(|_| *shown < self.options.excerpts)
            .and_then(|(bytes, start, span)| Excerpt::cut(bytes, start, span));
        *shown += usize::from(excerpt.is_some());
        self.report.findings.push(Checked {
            target: target.map(str::to_owned),
            excerpt,
            ..checked
        });
    }
}

/// Returns the text of a record as written in its entry, for excerpts.
fn shown<'r>(record: &Record<'r>) -> Cow<'r, [u8]> {
    match record.form {
        RecordForm::Frame(frame) => written(frame.form, record.bytes),
        RecordForm::Group(_) => Cow::Borrowed(record.bytes),
    }
}

/// The text of a record, shared by all its conversations.
struct Text<'t, 'r> {
    record: Record<'r>,
    shown: &'t [u8],
    locator: Locator<'t>,
    source_map: SourceMap<'t>,
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
            source_map: SourceMap::new(shown),
            document: OnceCell::new(),
        }
    }

    /// Returns the bytes around a finding, the offset of their first byte, and the span to show.
    fn around(&self, located: &Located) -> Option<Around<'_>> {
        match self.record.form {
            RecordForm::Frame(frame) => located.span.map(|span| (self.shown, frame.start, span)),
            RecordForm::Group(group) => {
                let row = located.row.and_then(|index| group.rows.get(index));
                let row = row.or(group.rows.first())?;
                let inside = located.inside.clone().unwrap_or(0..row.inside.len());
                let span = Span::new(inside.start as u64, inside.end as u64);
                self.shown.get(row.inside.clone()).map(|text| (text, 0, span))
            }
        }
    }

    /// Locates a violation of a dialect's rules; returns its row, and whether a message there is known.
    fn locate_violation(&self, linked: &Linked, finding: Finding) -> (Located, AccountedRow<'r>, bool) {
        let origin = origin(linked, &finding);
        match self.record.form {
            RecordForm::Frame(frame) => (
                self.locate_in_frame(frame, origin, linked, finding),
                self.record.row(None),
                origin.is_some(),
            ),
            RecordForm::Group(group) => {
                let index = origin.map(|origin| origin.index as usize);
                let own = index.filter(|index| *index < group.rows.len());
                let located = self.locate_in_rows(group, own, finding);
                (located, self.record.row(own), own.is_some())
            }
        }
    }

    fn locate_in_frame(
        &self,
        frame: &Frame,
        origin: Option<MessageOrigin>,
        linked: &Linked,
        finding: Finding,
    ) -> Located {
        // The parsed bytes differ from the written ones, so values have no spans in the file.
        let is_derived = matches!(frame.form, Form::Text | Form::Copied);
        let path = |source: &dyn Source| origin.map(|origin| source.message_path(origin.index));
        let is_separate = self.record.source().and_then(path) == Some(None);
        let is_sought = (finding.mark.is_some() || is_separate) && !is_derived;
        let document = is_sought.then(|| self.document()).flatten();
        if let (Some(document), Some(source), Some(_)) = (document, self.record.source(), origin) {
            let finding = Finding {
                path: Path::InMessage(String::new()),
                ..finding
            };
            return self.locator.locate(finding, Some(document), source, Some(linked));
        }
        let finding = match origin {
            None => finding,
            Some(origin) => finding.at_span(origin.start, origin.end),
        };
        self.locator.locate_plain(match (origin, self.record.source()) {
            // Text has no fields that a path could name.
            (Some(origin), Some(_)) if frame.form != Form::Text => {
                finding.at_path(self.record.path_of(origin))
            }
            _ => finding,
        })
    }

    /// Returns the record, scanned again to locate findings.
    fn document(&self) -> Option<&Document<'r>> {
        let scan = || json::scan(self.record.bytes, u32::MAX).ok();
        self.document.get_or_init(scan).as_ref()
    }

    fn locate_in_rows(&self, group: &Group, own: Option<usize>, finding: Finding) -> Located {
        let meant = finding.mark.as_ref().and_then(|_| self.document());
        if let (Some(index), Some(document)) = (own, meant) {
            return group.locate(index, finding, document, (&self.locator, &self.source_map));
        }
        match group.rows.get(own.unwrap_or_default()) {
            None => Located::nowhere(finding),
            Some(row) => Located {
                row: own,
                span: row.place.written(),
                line_column: row.place.line_column(),
                ..Located::nowhere(finding)
            },
        }
    }
}

/// Returns the origin of a finding's message in its record.
fn origin(linked: &Linked, finding: &Finding) -> Option<MessageOrigin> {
    let position = finding.position?;
    let message = linked.conversation.messages.get(position as usize)?;
    Some(message.origin)
}
