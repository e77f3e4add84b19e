//! Checking without rendering: findings with their places, and a verdict per file.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::Spill;
use chatmill_diag::limits::MIB;
use chatmill_diag::{Limits, Severity, Span};
use chatmill_intake::Frame;
use serde::Serialize;

use crate::crew::{self, NoThreads};
use crate::frame;
use crate::group::Group;
use crate::locate::Located;
use crate::plan::{PlannedInput, typed_inputs};
use crate::progress::Progress;
use crate::slices::{EntryStep, Slice, Slicer, Step};
use crate::walk::ReadError;

/// What is checked, and how.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Files, folders, globs, archives or `-`, as typed.
    pub paths: Vec<String>,
    /// Source id or `auto`.
    pub source: String,
    /// Limits.
    pub limits: Limits,
    /// Worker threads; 0 takes what there is.
    pub threads: usize,
    /// Codes (`IN001`) that are neither reported nor counted.
    pub ignored: Vec<&'static str>,
}

/// A finding with its file.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The finding and its place.
    pub located: Located,
    /// The path as typed.
    pub path: String,
    /// Member of an archive.
    pub entry: String,
    /// Number of the record, where the finding lies in one.
    pub record: Option<u64>,
    /// Conversation id, where there is one.
    pub conversation: Option<String>,
    /// The line (or a stretch of it) that holds the finding's first byte.
    pub excerpt: Option<Excerpt>,
}

/// A stretch of source around a finding.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// Text of the stretch, without line breaks.
    pub text: String,
    /// Byte range of the finding inside `text`.
    pub start: usize,
    /// One past its last byte inside `text`.
    pub end: usize,
}

/// The verdict on a file.
#[derive(Clone, Debug, Serialize)]
pub struct FileVerdict {
    /// The path as typed.
    pub path: String,
    /// The source that read it.
    pub source: Option<String>,
    /// `valid`, `warnings`, `errors` or `unreadable`.
    pub verdict: &'static str,
    /// Records framed.
    pub records: u64,
    /// Conversations read.
    pub conversations: u64,
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Notes.
    pub notes: u64,
}

/// Checks inputs. Findings go to `emit` in the order of files and records; the verdicts come back in the order of files.
pub fn check(
    options: &CheckOptions,
    progress: &dyn Progress,
    stop: &AtomicBool,
    emit: &mut (dyn FnMut(Checked) + Send),
) -> Result<Vec<FileVerdict>, ReadError> {
    let inputs = typed_inputs(&options.paths, &options.source)?;
    let bytes: u64 = inputs.iter().map(|planned| planned.input.bytes).sum();
    progress.stage("check", bytes);
    let slice_bytes = (bytes / 16).clamp(MIB, 16 * MIB) as usize;
    let mut slicer = Slicer::new(
        &inputs,
        &options.limits,
        slice_bytes,
        None,
        Spill::temporary_folder(),
        stop,
        progress,
    );
    let mut files: Vec<FileCounts> = inputs.iter().map(|_| FileCounts::default()).collect();
    let threads = crew::threads(options.threads);
    crew::each_slice(
        threads,
        &mut slicer,
        stop,
        &|_| true,
        &|slice| check_slice(slice, &inputs, options, stop),
        &mut |_, report: SliceReport| {
            for (input, counts) in report.files {
                if let Some(file) = files.get_mut(input) {
                    file.add(&counts);
                }
            }
            for checked in report.findings {
                emit(checked);
            }
        },
    )
    .map_err(|NoThreads| ReadError::Threads(threads))?;
    if let Some(failure) = slicer.take_failure() {
        return Err(ReadError::Spill(failure));
    }
    if stop.load(Ordering::Relaxed) {
        return Err(ReadError::Stopped);
    }
    Ok(inputs
        .iter()
        .zip(files)
        .map(|(planned, counts)| counts.verdict(&planned.name))
        .collect())
}

#[derive(Default)]
struct FileCounts {
    source: Option<String>,
    records: u64,
    rejected: u64,
    conversations: u64,
    errors: u64,
    warnings: u64,
    notes: u64,
}

impl FileCounts {
    fn add(&mut self, other: &Self) {
        if self.source.is_none() {
            self.source.clone_from(&other.source);
        }
        self.records += other.records;
        self.rejected += other.rejected;
        self.conversations += other.conversations;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.notes += other.notes;
    }

    fn verdict(self, path: &str) -> FileVerdict {
        let verdict = if self.rejected > 0 && self.conversations == 0 {
            "unreadable"
        } else if self.errors > 0 {
            "errors"
        } else if self.warnings > 0 {
            "warnings"
        } else {
            "valid"
        };
        FileVerdict {
            path: path.to_owned(),
            source: self.source,
            verdict,
            records: self.records,
            conversations: self.conversations,
            errors: self.errors,
            warnings: self.warnings,
            notes: self.notes,
        }
    }
}

/// What one slice gives.
#[derive(Default)]
struct SliceReport {
    files: BTreeMap<usize, FileCounts>,
    findings: Vec<Checked>,
}

fn check_slice(
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
}

impl Checker<'_> {
    fn step(&mut self, step: &Step, slice: &Slice) {
        match step {
            Step::Entry(entry) => {
                self.place = Some(entry.clone());
                let source = entry.source.map(|source| source.id().to_owned());
                let counts = self.counts();
                if counts.source.is_none() {
                    counts.source = source;
                }
            }
            Step::Damage(damage) => {
                let counts = self.counts();
                counts.records += 1;
                counts.rejected += 1;
                self.finding(Located::of_damage(damage), Some(damage.record), None, None);
            }
            Step::Note(finding) => self.finding(Located::nowhere(finding.clone()), None, None, None),
            Step::Frame(frame) => {
                let bytes = slice.buffer.get(frame.buffer.clone()).unwrap_or_default();
                self.frame(frame, bytes);
            }
            Step::Group(group) => self.group(group, slice),
            Step::Filtered(_)
            | Step::FilteredGroup(_)
            | Step::Skipped { .. }
            | Step::Separator(_)
            | Step::EntryEnd(_) => {}
        }
    }

    fn group(&mut self, group: &Group, slice: &Slice) {
        let bytes = slice.buffer.get(group.buffer.clone()).unwrap_or_default();
        let outcome = group.read(bytes, &self.options.limits);
        let rejected = group.rejected(&outcome);
        for (index, row) in group.rows.iter().enumerate().filter(|(_, row)| row.place.counts) {
            self.place = slice.entries.get(row.place.entry).cloned();
            let source = group.source.id();
            let counts = self.counts();
            counts.source.get_or_insert_with(|| source.to_owned());
            counts.records += 1;
            counts.rejected += u64::from(rejected.contains(&index));
        }
        let Some(first) = group.rows.first() else { return };
        self.place = slice.entries.get(first.place.entry).cloned();
        self.counts().conversations += u64::from(outcome.linked.is_some());
        let rejects = group.rejects(&outcome, bytes, &self.options.limits);
        let rejects = rejects.into_iter().map(|(_, _, located)| located);
        let conversation = outcome.linked.and_then(|linked| linked.conversation.source_id);
        for located in outcome.findings.into_iter().chain(rejects) {
            let row = located
                .row
                .and_then(|index| group.rows.get(index))
                .unwrap_or(first);
            let inside = located.inside.clone().unwrap_or(0..row.inside.len());
            let span = Span {
                start: inside.start as u64,
                end: inside.end as u64,
            };
            let excerpt = bytes
                .get(row.inside.clone())
                .and_then(|bytes| Excerpt::cut(bytes, 0, span));
            self.place = slice.entries.get(row.place.entry).cloned();
            self.finding(located, Some(row.place.record), conversation.clone(), excerpt);
        }
    }

    fn frame(&mut self, frame: &Frame, bytes: &[u8]) {
        let Some(source) = self.place.as_ref().and_then(|place| place.source) else {
            return;
        };
        let outcome = frame::read(source, frame, bytes, &self.options.limits);
        let counts = self.counts();
        counts.records += 1;
        counts.conversations += u64::from(outcome.linked.is_some());
        counts.rejected += u64::from(outcome.linked.is_none());
        let conversation = outcome.linked.and_then(|linked| linked.conversation.source_id);
        let rejects = outcome.rejects.into_iter().map(|(_, located)| located);
        for located in outcome.findings.into_iter().chain(rejects) {
            let excerpt = located
                .span
                .and_then(|span| Excerpt::cut(bytes, frame.start, span));
            self.finding(located, Some(frame.record), conversation.clone(), excerpt);
        }
    }

    fn counts(&mut self) -> &mut FileCounts {
        let input = self.place.as_ref().map_or(0, |place| place.input);
        self.report.files.entry(input).or_default()
    }

    fn finding(
        &mut self,
        located: Located,
        record: Option<u64>,
        conversation: Option<String>,
        excerpt: Option<Excerpt>,
    ) {
        if self.options.ignored.contains(&located.finding.code.code) {
            return;
        }
        let count = located.finding.count;
        let severity = located.finding.severity;
        let counts = self.counts();
        match severity {
            Severity::Error => counts.errors += count,
            Severity::Warning => counts.warnings += count,
            Severity::Note => counts.notes += count,
        }
        let place = self.place.as_ref();
        let path = place
            .and_then(|place| self.inputs.get(place.input))
            .map(|planned| planned.name.clone())
            .unwrap_or_default();
        let entry = place.map(|place| place.entry.clone()).unwrap_or_default();
        self.report.findings.push(Checked {
            located,
            path,
            entry,
            record,
            conversation,
            excerpt,
        });
    }
}

/// Bytes of source that an excerpt shows on either side of a finding.
const AROUND: usize = 60;

impl Excerpt {
    /// Cuts the line of a span out of a frame; long lines are cut to a window around it.
    fn cut(bytes: &[u8], frame_start: u64, span: Span) -> Option<Self> {
        let start = (span.start.checked_sub(frame_start)? as usize).min(bytes.len());
        let end = (span.end.saturating_sub(frame_start) as usize).clamp(start, bytes.len());
        let line_start = bytes
            .get(..start)?
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let line_end = bytes
            .get(start..)?
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(bytes.len(), |at| start + at);
        let from = line_start.max(start.saturating_sub(AROUND));
        let to = line_end.min(start + 2 * AROUND);
        let before = lossy(bytes.get(from..start)?);
        let inside = lossy(bytes.get(start..end.min(to).max(start))?);
        let after = lossy(bytes.get(end.min(to).max(start)..to.max(start))?);
        let (start, end) = (before.len(), before.len() + inside.len());
        Some(Self {
            text: format!("{before}{inside}{after}"),
            start,
            end,
        })
    }
}

/// Readable text of source bytes: what is cut or no UTF-8 becomes U+FFFD, control characters become blanks.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_the_line_of_the_span() {
        let excerpt = Excerpt::cut(b"{\n \"a\": 17,\n}", 100, Span { start: 108, end: 110 }).unwrap();
        assert_eq!(excerpt.text, " \"a\": 17,");
        assert_eq!(excerpt.text.get(excerpt.start..excerpt.end), Some("17"));
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let line = format!("{}HERE{}", "a".repeat(5_000), "b".repeat(5_000));
        let excerpt = Excerpt::cut(
            line.as_bytes(),
            0,
            Span {
                start: 5_000,
                end: 5_004,
            },
        )
        .unwrap();
        assert!(excerpt.text.len() < 250);
        assert_eq!(excerpt.text.get(excerpt.start..excerpt.end), Some("HERE"));
    }

    #[test]
    fn a_span_outside_the_frame_has_no_excerpt() {
        assert!(Excerpt::cut(b"abc", 10, Span { start: 2, end: 3 }).is_none());
    }
}
