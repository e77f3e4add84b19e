//! Resolves `[select.decontaminate]`: reads the files of evaluations (benchmarks), so that a run can exclude
//! conversations that contain their text. All texts of a row count, whatever its form, and no record is skipped silently.
//!
//! A file that is a table or JSON by its name, or a table by its first line, is never read as plain
//! text: a decontamination that silently compares with the wrong text would be worse than an error.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmill_diag::{Limits, Severity, cut};
use chatmill_intake::discover::{self, InputKind};
use chatmill_intake::{Event, Form, Frame, Framing, Head, Reader, foreign, json, may_contain_text};
use chatmill_link::IndexFull;
use chatmill_model::Role;
use chatmill_source::{Source, TableMap};
use serde_json::{Value, json};

use crate::error::PlanError;
use crate::pipeline::{DecontaminateSection, Pipeline};
use crate::plan::maps::table_map;
use crate::plan::require;
use crate::plan::{PlannedInput, inputs};
use crate::record::evaluation::{Evaluations, each_string, is_question_name};
use crate::record::{self, Settings};

/// The key in errors about files.
const AGAINST: &str = "select.decontaminate.against";

/// Evaluations, and the entry of each file in the normalised
/// plan: its name, and its content instead of the path.
#[derive(Clone)]
pub(in crate::plan) struct LoadedEvaluations {
    pub(in crate::plan) evaluations: Arc<Evaluations>,
    pub(in crate::plan) identities: Vec<Value>,
    pub(in crate::plan) files: Vec<PathBuf>,
    /// Notes for the user about files without questions, in which short texts are not compared, and about skipped files.
    pub(in crate::plan) notes: Vec<String>,
}

/// Reads the evaluations of a pipeline, if it names any. Their paths start at `base`.
pub(in crate::plan) fn load(
    pipeline: &Pipeline,
    base: &Path,
    limits: &Limits,
) -> Result<Option<LoadedEvaluations>, PlanError> {
    let Some(DecontaminateSection { against, ngram }) = &pipeline.select.decontaminate else {
        return Ok(None);
    };
    let problem = "it must be a number of words from 1 on";
    let length = usize::try_from(*ngram).ok().and_then(NonZeroUsize::new);
    let length = length.ok_or_else(|| PlanError::value("select.decontaminate.ngram", problem))?;
    let problem = "the list is empty; name a file or leave the section out";
    require(!against.paths().is_empty(), AGAINST, problem)?;
    let tables = table_map::choose(None, &[], &pipeline.table_map)?;
    let files = inputs::evaluations(against.paths(), base, &tables)
        .map_err(|error| PlanError::value(AGAINST, error.to_string()))?;
    let most = u32::try_from(limits.evaluation_words).unwrap_or(u32::MAX);
    let mut evaluations = Evaluations::new(length, most);
    let mut identities = Vec::new();
    let mut foreign = Vec::new();
    for planned in &files {
        identities.push(identity(planned)?);
        let (before, skipped) = (evaluations.words(), foreign.len());
        File::new(planned, limits, &mut evaluations, &mut foreign).read()?;
        if evaluations.words() == before && foreign.len() == skipped {
            return Err(refused(&planned.name(), "it holds no text"));
        }
    }
    if evaluations.words() == 0 {
        return Err(PlanError::value(AGAINST, "no file contains text to compare with"));
    }
    Ok(Some(LoadedEvaluations {
        notes: note(&evaluations)
            .into_iter()
            .chain(foreign_note(&foreign))
            .collect(),
        evaluations: Arc::new(evaluations),
        identities,
        files: files.iter().map(|planned| planned.input.path()).collect(),
    }))
}

/// Returns a note about files without questions: the first of them, and their number.
fn note(evaluations: &Evaluations) -> Option<String> {
    let files = evaluations.files();
    let mut noted = files.iter().filter_map(|file| Some((&file.name, file.note()?)));
    let (name, note) = noted.next()?;
    Some(format!(
        "{AGAINST}: `{name}`: {note}; in {} of {} files only texts of {} words and more count",
        1 + noted.count(),
        files.len(),
        evaluations.length()
    ))
}

/// Returns a note about skipped files: in folders and archives, those of kinds without text, such as pictures.
fn foreign_note(foreign: &[String]) -> Option<String> {
    let first = foreign.first()?;
    Some(format!(
        "{AGAINST}: files that are skipped, because they are no evaluations: {}; the first is {first}",
        foreign.len()
    ))
}

/// Returns the name of a file and the hash of its content.
fn identity(planned: &PlannedInput) -> Result<Value, PlanError> {
    let name = planned.name();
    let why = match &planned.input.kind {
        InputKind::File | InputKind::Folder => {
            let hashed = discover::content_hash(&planned.input.path(), &mut |_| true);
            match hashed {
                Ok(hashed) => {
                    let hash = hashed.map(|(_, hash)| hash.to_hex().to_string());
                    return Ok(json!({ "name": name, "hash": hash }));
                }
                Err(failure) if failure.is_of_the_system => return Err(failure.into()),
                Err(failure) => failure.reason,
            }
        }
        InputKind::Failed(failure) => return Err((**failure).clone().into()),
        InputKind::Refused(finding) => finding.message.clone(),
        InputKind::Stdin | InputKind::Pipe | InputKind::Memory(_) => "it is no regular file".to_owned(),
    };
    Err(refused(&name, &why))
}

fn refused(name: &str, why: &str) -> PlanError {
    PlanError::value(AGAINST, format!("`{name}` cannot be compared with: {why}"))
}

/// The state of reading one file.
struct File<'f> {
    planned: &'f PlannedInput,
    limits: &'f Limits,
    evaluations: &'f mut Evaluations,
    /// Entries that are skipped, each with its kind.
    foreign: &'f mut Vec<String>,
    /// The name of the current entry.
    name: String,
    framing: Framing,
    form: EntryForm,
    /// The current row of a plain text, a line or a paragraph, with the numbers of its first and last line.
    paragraph: (String, u64, u64),
}

/// How the frames of an entry are read.
#[derive(Clone, Copy)]
enum EntryForm {
    /// JSON, possibly with a source that reads it.
    Json(Option<&'static dyn Source>),
    /// Lines of a text; each is a row.
    Lines,
    /// Lines of a text with empty lines: a paragraph is a row.
    Paragraphs,
}

impl<'f> File<'f> {
    fn new(
        planned: &'f PlannedInput,
        limits: &'f Limits,
        evaluations: &'f mut Evaluations,
        foreign: &'f mut Vec<String>,
    ) -> Self {
        Self {
            planned,
            limits,
            evaluations,
            foreign,
            name: String::new(),
            framing: Framing::Empty,
            form: EntryForm::Lines,
            paragraph: (String::new(), 0, 0),
        }
    }

    /// Reads all texts of the file.
    fn read(mut self) -> Result<(), PlanError> {
        let mut reader = Reader::open(&self.planned.input, self.limits).with_tables(self.tables());
        let mut buffer = Vec::new();
        while let Some(event) = reader.next(&mut buffer) {
            match event {
                Event::EntryStart { entry, head } => self.begin(&entry, &head, &mut reader)?,
                Event::Frame(frame) => {
                    self.frame(&frame, &buffer)?;
                    buffer.clear();
                }
                Event::FramingError(error) => {
                    let why = format!("row {}: {}", error.record + 1, error.message);
                    return Err(refused(&self.name, &why));
                }
                Event::EntryEnd { .. } => self.end_paragraph()?,
                Event::Failed(failure) => return Err(failure.into()),
                Event::Note(finding) if finding.severity == Severity::Error => {
                    return Err(refused(&self.name, &finding.message));
                }
                Event::Separator { .. }
                | Event::Table { .. }
                | Event::Skipped { .. }
                | Event::SkippedEntry { .. }
                | Event::Note(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the maps for tables in the file: the known ones, and one for each of its CSV headers.
    fn tables(&self) -> Arc<[TableMap]> {
        let known = &self.planned.settings.tables;
        let mut reader = Reader::open(&self.planned.input, self.limits).with_tables(Arc::clone(known));
        let mut own = Vec::new();
        let mut buffer = Vec::new();
        while let Some(event) = reader.next(&mut buffer) {
            buffer.clear();
            let Event::EntryStart { entry, head } = event else {
                continue;
            };
            let has_columns = |map: &TableMap| map.requires.first() != map.requires.last();
            let by_rows = || TableMap::of_header(&head).filter(has_columns);
            own.extend(match promised(&self.entry_name(&entry), &head) {
                Promise::Table => by_rows().or_else(|| TableMap::of_first_line(&head)),
                Promise::Nothing if is_text(&head) => by_rows(),
                Promise::Nothing | Promise::Json => None,
            });
            if entry.is_empty() {
                break;
            }
            reader.skip_entry("evaluation");
        }
        known.iter().cloned().chain(own).collect()
    }

    /// Returns the name of an entry in findings and reports.
    fn entry_name(&self, entry: &str) -> String {
        let own = self.planned.name();
        if entry.is_empty() {
            own.into_owned()
        } else {
            format!("{own}/{entry}")
        }
    }

    fn begin(&mut self, entry: &str, head: &Head, reader: &mut Reader) -> Result<(), PlanError> {
        let name = self.entry_name(entry);
        if let Some(kind) = foreign(&name, head) {
            if !entry.is_empty() || !self.planned.is_named {
                reader.skip_entry(kind);
                self.foreign.push(format!("`{name}`: it is a {kind}"));
                return Ok(());
            }
            if !may_contain_text(kind) {
                return Err(refused(&name, &format!("it is a {kind}")));
            }
        }
        let promise = promised(&name, head);
        let broken = match (promise, head.framing) {
            (Promise::Table, Framing::Tables | Framing::Empty) | (Promise::Nothing, _) => None,
            (Promise::Table, _) => Some("its first line is no header: every column needs a distinct name"),
            (Promise::Json, Framing::Tables | Framing::Text) => Some("it is no JSON"),
            (Promise::Json, _) => None,
        };
        if let Some(why) = broken {
            return Err(refused(&name, why));
        }
        self.name = name;
        self.framing = head.framing;
        self.form = if is_text(head) && promise == Promise::Nothing {
            reader.take_lines();
            let text = head.bytes.trim_ascii_end();
            let mut lines = text.split(|byte| *byte == b'\n');
            if lines.any(|line| line.trim_ascii().is_empty()) {
                EntryForm::Paragraphs
            } else {
                EntryForm::Lines
            }
        } else {
            let evidence = chatmill_source::detect(head, self.limits);
            EntryForm::Json(evidence.and_then(|evidence| chatmill_source::find(evidence.source)))
        };
        let plain = match self.form {
            EntryForm::Json(_) => None,
            EntryForm::Lines => Some("line"),
            EntryForm::Paragraphs => Some("paragraph"),
        };
        self.evaluations.begin(self.name.clone(), plain);
        Ok(())
    }

    fn frame(&mut self, frame: &Frame, buffer: &[u8]) -> Result<(), PlanError> {
        let bytes = cut::slice(buffer, frame.buffer.clone());
        let is_line = frame.form == Form::Original && !matches!(self.framing, Framing::Array);
        let row = if is_line { frame.line } else { frame.record + 1 };
        let refuse = |why: &str| refused(&self.name, &format!("row {row}: {why}"));
        let EntryForm::Json(source) = self.form else {
            let text = std::str::from_utf8(bytes).map_err(|_| refuse("it is no UTF-8"))?;
            if matches!(self.form, EntryForm::Lines) || row > self.paragraph.2 + 1 {
                self.end_paragraph()?;
            }
            let (paragraph, first, last) = &mut self.paragraph;
            if paragraph.is_empty() {
                *first = row;
            }
            paragraph.push_str(text);
            paragraph.push('\n');
            *last = row;
            return Ok(());
        };
        let document = json::scan(bytes, self.limits.depth).map_err(|error| refuse(&error.message))?;
        let mut has_long = false;
        let added = each_string(document.root(), false, &mut |text, is_question| {
            let before = self.evaluations.words();
            let added = self.add(text, row, is_question);
            has_long |= is_question && self.evaluations.words() - before >= self.evaluations.length();
            added.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        if let ControlFlow::Break(error) = added {
            return Err(error);
        }
        // A source may compose a question of several fields, which are already indexed. If one of
        // them is as long as a run of words, which is what is compared, it finds the question, too.
        let source = source.filter(|_| !has_long);
        let asked = source.map(|source| self.questions(source, frame, bytes));
        asked.into_iter().flatten().try_for_each(|question| {
            if self.evaluations.has(&question) {
                Ok(())
            } else {
                self.add(&question, row, true)
            }
        })
    }

    /// Adds the lines since the last row as one text.
    fn end_paragraph(&mut self) -> Result<(), PlanError> {
        let (paragraph, first, _) = &mut self.paragraph;
        let (paragraph, first) = (std::mem::take(paragraph), *first);
        self.add(&paragraph, first, false)
    }

    fn add(&mut self, text: &str, row: u64, is_question: bool) -> Result<(), PlanError> {
        let added = self.evaluations.add(text, row, is_question);
        added.map_err(|IndexFull| {
            PlanError::value(
                "limits.evaluation_words",
                format!(
                    "the evaluations have more than {} words, which `{}` exceeds; raise the limit, or compare with less",
                    self.limits.evaluation_words, self.name
                ),
            )
        })
    }

    /// Returns the user's messages of a record as its source
    /// reads it: a question may be composed of several fields.
    fn questions(&self, source: &dyn Source, frame: &Frame, bytes: &[u8]) -> Vec<String> {
        let outcome = record::read(Ok(source), frame, bytes, Settings::plain(self.limits));
        let outcomes = std::iter::once(&outcome).chain(&outcome.also);
        let conversations = outcomes.filter_map(|outcome| outcome.linked.as_ref());
        let messages = conversations.flat_map(|linked| &linked.conversation.messages);
        let asked = messages.filter(|message| message.role == Role::User);
        asked.map(|message| message.text()).map(Cow::into_owned).collect()
    }
}

/// Returns whether an entry looks like text that is not JSON.
fn is_text(head: &Head) -> bool {
    let first = head.bytes.trim_ascii_start().first();
    head.framing == Framing::Documents && !matches!(first, Some(b'{' | b'['))
}

/// The form that an entry must have: one with another form is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    Table,
    Json,
    Nothing,
}

/// Extensions of compressed files.
const COMPRESSED: [&str; 8] = ["gz", "gzip", "zst", "zstd", "bz2", "xz", "lz4", "zlib"];

/// Returns the form that an entry must have because of its name, or because its first line names a column for questions.
fn promised(name: &str, head: &Head) -> Promise {
    let name = name.to_ascii_lowercase();
    let mut endings = name.rsplit('.').skip_while(|ending| COMPRESSED.contains(ending));
    let is_json = matches!(head.bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    match endings.next() {
        Some("json" | "jsonl" | "ndjson") => Promise::Json,
        _ if is_json => Promise::Nothing,
        Some("csv" | "tsv") => Promise::Table,
        _ if is_text(head) && names_question(head) => Promise::Table,
        _ => Promise::Nothing,
    }
}

/// Returns whether the first line of an entry is a header with a column for questions.
fn names_question(head: &Head) -> bool {
    let first = head.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let cells = first.split(|byte| b",;\t".contains(byte));
    let mut names = cells.filter_map(|cell| std::str::from_utf8(cell).ok());
    names.any(|name| is_question_name(name.trim_matches(['"', ' ', '\r'])))
}

#[cfg(test)]
mod tests;
