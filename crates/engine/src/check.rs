//! Checks inputs without writing a dataset: findings with their places, and a verdict per file.
//!
//! [`check`] reads, links and checks the records of the inputs slice by slice, as a run does, and hands each
//! finding to a callback; at the end it returns a [`Checkup`]. Nothing is rendered unless files are validated
//! for a dialect. `chatmill check` calls it; the findings of `chatmill show` come from the same code.

mod acceptance;
mod across;
mod definitions;
mod excerpt;
mod known;
mod slice;
mod verdict;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::Spill;
use chatmill_dataset::rows::FindingRow;
use chatmill_diag::limits::MIB;
use chatmill_diag::{Limits, Severity, cut};
use chatmill_dialect::Dialect;
use chatmill_intake::Failure;
use chatmill_intake::discover::is_same_place;

use self::across::Across;
pub use self::excerpt::Excerpt;
pub use self::known::Known;
use self::slice::SliceReport;
pub(crate) use self::slice::checked_findings;
use self::verdict::FileCounts;
pub use self::verdict::{FileVerdict, Judgement};
use crate::entry::EntryRef;
use crate::error::{PlanError, ReadError};
use crate::plan::{CheckSettings, CodeSettings, InputReading, PlannedInput, typed_inputs};
use crate::progress::Progress;
use crate::record::{self, locate::Located};
use crate::slice::records::At;
use crate::slice::{Repeats, Slicer, scheduler};
use crate::work::tables::{self, FindingTexts, Place};

pub use crate::work::tables::Quoting;
pub use chatmill_redact::{KeyError, Mask, SHORTEST_KEY};

/// The inputs and settings of a check.
#[derive(Clone, Default)]
pub struct CheckOptions {
    /// Files, folders, globs or archives as typed; `-` is the standard input.
    pub paths: Vec<String>,
    /// How they are read.
    pub reading: InputReading,
    /// Limits.
    pub limits: Limits,
    /// Worker threads; 0 means as many as are available.
    pub threads: usize,
    /// Files of the check itself (settings, a baseline), which are not read as inputs.
    pub own: Vec<PathBuf>,
    /// The settings of codes, and patterns of files that are excluded.
    pub settings: CheckSettings,
    /// Dialects that every conversation is validated for.
    pub targets: Vec<Dialect>,
    /// Findings that are neither reported nor counted because they are known.
    pub known: Known,
    /// The mask for ids of the input; `None` shows them.
    pub mask: Option<Mask>,
    /// Whether verdicts include the hashes of their files.
    pub hashes: bool,
    /// Whether paths are masked, too.
    pub hides_paths: bool,
    /// The number of findings of a code in a file that get an excerpt, per slice of the inputs.
    pub excerpts: usize,
}

/// A finding with its file.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The finding and its place.
    pub located: Located,
    /// Number of the file, in the order of files.
    pub file: usize,
    /// The path as the user typed it.
    pub path: String,
    /// The name of the input, which does not depend on how the path was typed.
    pub input: String,
    /// Member of an archive.
    pub entry: String,
    /// Table of a database or a dump that contains the row; empty for other inputs.
    pub table: String,
    /// Number of the record; `None` for a finding outside records.
    pub record: Option<u64>,
    /// Conversation id, if there is one.
    pub conversation: Option<String>,
    /// The dialect that the conversation was validated for, if any.
    pub target: Option<String>,
    /// The line (or a fragment of it) with the first byte of the finding.
    pub excerpt: Option<Excerpt>,
}

impl Checked {
    /// Returns a key of the finding that stays the same if lines shift or the path is typed differently.
    pub fn key(&self) -> String {
        let key = tables::finding_key(
            &self.located,
            self.place(&self.input),
            self.conversation.as_deref(),
        );
        match &self.target {
            None => key,
            // One conversation can be refused by several dialects, and for several reasons.
            Some(target) => {
                let reason = &self.located.finding.message;
                let whole = blake3::hash(format!("{key}\0{target}\0{reason}").as_bytes());
                whole.to_hex().chars().take(16).collect()
            }
        }
    }

    /// Returns the texts of its row in the table.
    pub fn texts(&self, quoting: Quoting<'_>) -> FindingTexts<'_> {
        FindingTexts::new(&self.located, self.key(), self.conversation.as_deref(), quoting)
    }

    /// Returns the row of the findings table, with the path as typed.
    pub fn row<'c>(&'c self, texts: &'c FindingTexts<'_>) -> FindingRow<'c> {
        tables::finding(
            &self.located,
            texts,
            self.place(&self.path),
            self.record.is_some(),
        )
    }

    fn place<'a>(&'a self, input: &'a str) -> Place<'a> {
        Place {
            input,
            entry: &self.entry,
            record: self.record.unwrap_or_default(),
        }
    }
}

/// The result of a check.
#[derive(Default)]
pub struct Checkup {
    /// The verdicts, in the order of files.
    pub files: Files,
    /// The inputs that were not read to their end because the system failed.
    /// They give no findings, since a failure is no defect of the files.
    pub failures: Vec<Failure>,
}

/// The files of a check. There may be millions, so verdicts are computed on demand.
#[derive(Default)]
pub struct Files {
    inputs: Vec<PlannedInput>,
    counts: Vec<FileCounts>,
    /// The hash of each file, if known.
    hashes: Vec<Option<blake3::Hash>>,
    targets: Vec<Dialect>,
    settings: CheckSettings,
    /// The mask for paths, if they are hidden.
    mask: Option<Mask>,
}

impl Files {
    /// Returns the verdicts in the order of files.
    pub fn iter(&self) -> impl Iterator<Item = FileVerdict> + Clone {
        let files = self.inputs.iter().zip(&self.counts).enumerate();
        files.map(|(index, (planned, counts))| FileVerdict {
            bytes: Some(planned.input.bytes).filter(|bytes| *bytes > 0),
            hash: self
                .hashes
                .get(index)
                .and_then(|hash| Some(hash.as_ref()?.to_hex().to_string())),
            supplier: self.supplier(planned),
            ..counts.verdict(&shown_path(planned, self.mask.as_ref()), &self.targets)
        })
    }

    /// Returns the supplier of a file.
    fn supplier(&self, planned: &PlannedInput) -> String {
        let supplier = self.settings.supplier(&names(planned));
        match &self.mask {
            Some(mask) => mask.supplier(&supplier),
            None => supplier,
        }
    }
}

/// Lists the files to check: those that were typed, without excluded ones, and notes about them.
pub fn inputs(options: &CheckOptions) -> Result<(Vec<PlannedInput>, Vec<String>), PlanError> {
    let (mut inputs, notes) = typed_inputs(&options.paths, &options.reading, options.settings.links, true)?;
    let exclude = &options.settings.exclude;
    inputs.retain(|planned| {
        let is_excluded = names(planned).iter().any(|name| exclude.matches(name));
        !is_excluded && !is_own(planned, &options.own)
    });
    Ok((inputs, notes))
}

/// Returns whether a file belongs to the check itself. Only files with
/// equal names are compared: that avoids a system call per input.
fn is_own(planned: &PlannedInput, own: &[PathBuf]) -> bool {
    let path = planned.input.path();
    let alike = own.iter().filter(|own| own.file_name() == path.file_name());
    // An unreadable file is reported when it is read.
    alike
        .into_iter()
        .any(|own| is_same_place(own, &path).unwrap_or(false))
}

/// Returns the name of a file in reports.
fn shown_path<'p>(planned: &'p PlannedInput, mask: Option<&Mask>) -> Cow<'p, str> {
    match mask {
        Some(mask) => mask.path(&planned.name()).into(),
        None => planned.name(),
    }
}

impl CheckOptions {
    /// Returns the settings for reading records.
    fn reading(&self) -> record::Settings<'_> {
        record::Settings {
            redactor: self.settings.redactor.as_ref(),
            ..self.reading.records(&self.limits)
        }
        .in_zone(self.settings.zone.as_deref())
    }

    /// Returns the mask for paths, if they are hidden.
    fn path_mask(&self) -> Option<&Mask> {
        self.mask.as_ref().filter(|_| self.hides_paths)
    }

    /// Returns the name of an archive member in reports.
    fn shown_entry(&self, entry: String) -> String {
        match self.path_mask() {
            Some(mask) if !entry.is_empty() => mask.path(&entry),
            _ => entry,
        }
    }
}

/// Returns the two names of a file: the name of the input, and the path as typed.
fn names(planned: &PlannedInput) -> [String; 2] {
    let typed = planned.input.shown();
    let typed = typed.strip_prefix("./").unwrap_or(&typed).to_owned();
    [planned.input.name().into_owned(), typed]
}

/// Returns a finding with its file; `None` if the settings leave it out.
fn reported(
    options: &CheckOptions,
    inputs: &[PlannedInput],
    settings: &CodeSettings,
    at: At<'_>,
    mut located: Located,
) -> Option<Checked> {
    let finding = &mut located.finding;
    finding.severity = settings.severity(finding.code, finding.severity)?;
    let file = at.entry.map_or(0, |entry| entry.input);
    let planned = cut::at(inputs, file);
    let entry = at.entry.map_or_else(String::new, |entry| entry.entry.clone());
    let table = at.entry.filter(|_| at.record.is_some());
    Some(Checked {
        located,
        file,
        path: shown_path(planned, options.path_mask()).into_owned(),
        input: planned.input.name().into_owned(),
        entry: options.shown_entry(entry),
        table: table.map_or_else(String::new, |entry| entry.table.clone()),
        record: at.record,
        conversation: at.id.map(str::to_owned),
        target: None,
        excerpt: None,
    })
}

/// Counts findings and passes the unknown ones on.
struct Delivery<'e> {
    options: &'e CheckOptions,
    inputs: &'e [PlannedInput],
    files: Vec<FileCounts>,
    known: Known,
    emit: &'e mut (dyn FnMut(Checked) + Send),
}

impl Delivery<'_> {
    fn deliver(&mut self, mut checked: Checked) {
        let file = cut::at_mut(&mut self.files, checked.file);
        if !self.known.is_empty() {
            let count = checked.located.finding.count;
            let key = checked.key();
            let mut recognised = self.known.recognise(&key, count);
            // A baseline that was made with masked ids has the masked key.
            if let Some(mask) = &self.options.mask {
                recognised += self.known.recognise(&mask.key(&key), count - recognised);
            }
            file.known += recognised;
            file.has_known_errors |= recognised > 0 && checked.located.finding.severity > Severity::Note;
            if recognised == count {
                return;
            }
            checked.located.finding.count -= recognised;
        }
        file.count(&checked.located.finding);
        (self.emit)(checked);
    }

    fn report(&mut self, report: SliceReport) {
        for (input, counts) in report.files {
            cut::at_mut(&mut self.files, input).add(counts, &self.options.limits);
        }
        for checked in report.findings {
            self.deliver(checked);
        }
    }

    /// Adds a finding that needs all files to be read first.
    fn late(
        &mut self,
        entry: &EntryRef,
        (record, id, target): (Option<u64>, Option<&str>, Option<String>),
        located: Located,
    ) {
        let settings = self
            .options
            .settings
            .of(&names(cut::at(self.inputs, entry.input)));
        let entry = Some(entry);
        let checked = reported(
            self.options,
            self.inputs,
            &settings,
            At { entry, record, id },
            located,
        );
        if let Some(checked) = checked {
            self.deliver(Checked { target, ..checked });
        }
    }

    /// Adds the findings about tool definitions, which several rows share.
    fn refused_definitions(&mut self) {
        let names: Vec<String> = self.options.targets.iter().map(acceptance::name).collect();
        for input in 0..self.inputs.len() {
            let found = std::mem::take(&mut cut::at_mut(&mut self.files, input).definitions);
            for at in found.into_found() {
                let entry = EntryRef { input, ..at.entry };
                let id = Some(at.id.as_str()).filter(|_| at.record.is_some());
                let target = Some(cut::at(&names, at.rank).clone());
                self.late(&entry, (at.record, id, target), at.located);
            }
        }
    }

    /// Adds the findings about each file as a whole.
    fn recognitions(&mut self) {
        for input in 0..self.inputs.len() {
            let file = cut::at_mut(&mut self.files, input);
            let (framed, source) = (file.records, file.source.unwrap_or_default());
            for (located, first) in std::mem::take(&mut file.recognition).findings(framed, source) {
                let record = first.as_ref().map(|first| first.record);
                let first = first.unwrap_or_default();
                let entry = EntryRef {
                    entry: first.entry,
                    table: first.table,
                    ..EntryRef::of_input(input)
                };
                self.late(&entry, (record, None, None), located);
            }
        }
    }
}

/// Checks inputs. Findings go to `emit` in the order of
/// files and records, followed by those that need all files.
pub fn check(
    options: &CheckOptions,
    progress: &dyn Progress,
    stop: &AtomicBool,
    emit: &mut (dyn FnMut(Checked) + Send),
) -> Result<Checkup, ReadError> {
    let (inputs, notes) = inputs(options)?;
    for note in &notes {
        progress.note(note);
    }
    let bytes: u64 = inputs.iter().map(|planned| planned.input.bytes).sum();
    progress.stage("check", bytes);
    // The findings of a slice stay in memory until they are delivered, and there may be one for every line.
    let slice_bytes = (bytes / 16).clamp(MIB, 2 * MIB) as usize;
    let spill = Spill::temporary_folder();
    let mut slicer = Slicer::new(&inputs, &options.limits, slice_bytes, None, spill, stop, progress);
    slicer.repeats = Some(Repeats::among(&inputs));
    slicer.hashes = options.hashes.then(|| vec![None; inputs.len()]);
    let mut delivery = Delivery {
        options,
        inputs: &inputs,
        files: inputs.iter().map(|_| FileCounts::default()).collect(),
        known: options.known.clone(),
        emit,
    };
    let mut across = Across::new();
    scheduler::each_slice(
        scheduler::threads(options.threads, progress),
        &mut slicer,
        &|_| true,
        &|slice| slice::check_slice(slice, &inputs, options, progress, stop),
        &mut |_, report: SliceReport| {
            report.traces.iter().for_each(|trace| across.add(trace));
            delivery.report(report);
        },
    )?;
    if stop.load(Ordering::Relaxed) {
        return Err(ReadError::Stopped);
    }
    delivery.refused_definitions();
    delivery.recognitions();
    let name = |input: usize| shown_path(cut::at(&inputs, input), options.path_mask()).into_owned();
    across.finish(&name, options.limits.findings_per_code, &mut |trace, located| {
        let entry = EntryRef {
            entry: trace.entry.clone(),
            table: trace.table.clone(),
            ..EntryRef::of_input(trace.input)
        };
        delivery.late(&entry, (Some(trace.record), Some(&trace.id), None), located);
    })?;
    let (mut files, hashes) = (delivery.files, slicer.hashes);
    let mut failures = Vec::new();
    for (input, failure) in slicer.failures {
        failures.push(failure);
        cut::at_mut(&mut files, input).failed = true;
    }
    Ok(Checkup {
        files: Files {
            inputs,
            counts: files,
            hashes: hashes.unwrap_or_default(),
            targets: options.targets.clone(),
            settings: options.settings.clone(),
            mask: options.path_mask().cloned(),
        },
        failures,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_diag::{Finding, codes};

    fn checked(path: &str, input: &str, target: Option<&str>, message: &str) -> Checked {
        Checked {
            located: Located::nowhere(Finding::new(&codes::NOT_ACCEPTED, message)),
            file: 0,
            path: path.to_owned(),
            input: input.to_owned(),
            entry: String::new(),
            table: String::new(),
            record: Some(1),
            conversation: Some("c".to_owned()),
            target: target.map(str::to_owned),
            excerpt: None,
        }
    }

    #[test]
    fn a_key_does_not_depend_on_how_the_path_was_typed() {
        let here = checked("./exports/a.json", "a.json", None, "x");
        let there = checked("/srv/exports/a.json", "a.json", None, "y");
        assert_eq!(here.texts(Quoting::All).key, there.texts(Quoting::All).key);
        assert_eq!(here.row(&here.texts(Quoting::All)).input, "./exports/a.json");
        let other = checked("exports/b.json", "b.json", None, "x");
        assert_ne!(here.key(), other.key());
    }

    #[test]
    fn dialects_and_their_reasons_have_keys_of_their_own() {
        let keys = [
            checked("a", "a", Some("openai-chat"), "one"),
            checked("a", "a", Some("openai-chat"), "two"),
            checked("a", "a", Some("mistral-chat"), "one"),
        ]
        .map(|checked| checked.key());
        assert_ne!(keys[0], keys[1]);
        assert_ne!(keys[0], keys[2]);
        assert!(keys.iter().all(|key| key.len() == 16), "{keys:?}");
    }
}
