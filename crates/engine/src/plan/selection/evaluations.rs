//! The files of `[select.decontaminate]`, read: whatever rows they have, every text of a row counts, and no record of them is passed
//! over in silence.
//!
//! A file that is a table or JSON by its name, or a table by its first line, is never read as plain text: what does not parse is refused.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmill_diag::{Limits, Severity, cut};
use chatmill_intake::discover::{self, InputKind};
use chatmill_intake::{Event, Form, Frame, Framing, Head, Reader, foreign, json, may_hold_words};
use chatmill_link::IndexFull;
use chatmill_model::Role;
use chatmill_source::{Source, TableMap};
use serde_json::{Value, json};

use crate::error::PlanError;
use crate::pipeline::{DecontaminateSection, Pipeline};
use crate::plan::require;
use crate::plan::{PlannedInput, inputs, table_map};
use crate::record::evaluation::{Evaluations, each_string, is_question_name};
use crate::record::{self, Settings};

/// The key that errors of a file name.
const AGAINST: &str = "select.decontaminate.against";

/// Evaluations, and each of their files in the normalised plan: its name and its content in place of the path.
#[derive(Clone)]
pub(in crate::plan) struct LoadedEvaluations {
    pub(in crate::plan) evaluations: Arc<Evaluations>,
    pub(in crate::plan) identities: Vec<Value>,
    pub(in crate::plan) files: Vec<PathBuf>,
    /// A sentence about the files whose short questions cannot count; none where there are none.
    pub(in crate::plan) note: Option<String>,
}

/// Reads the evaluations of a pipeline, where it names some. Their paths start at `base`.
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
    let tables = table_map::choose(None, &pipeline.table_map)?;
    let files = inputs::evaluations(against.paths(), base, &tables)
        .map_err(|error| PlanError::value(AGAINST, error.to_string()))?;
    let most = u32::try_from(limits.evaluation_words).unwrap_or(u32::MAX);
    let mut evaluations = Evaluations::new(length, most);
    let mut identities = Vec::new();
    for planned in &files {
        identities.push(identity(planned)?);
        let before = evaluations.words();
        File::new(planned, limits, &mut evaluations).read()?;
        if evaluations.words() == before {
            return Err(refused(&planned.name(), "it holds no text"));
        }
    }
    Ok(Some(LoadedEvaluations {
        note: note(&evaluations),
        evaluations: Arc::new(evaluations),
        identities,
        files: files.iter().map(|planned| planned.input.path()).collect(),
    }))
}

/// A sentence about the evaluations without a question: the first of them, and how many there are.
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

/// The name of a file, and what it holds.
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

/// A file while it is read.
struct File<'f> {
    planned: &'f PlannedInput,
    limits: &'f Limits,
    evaluations: &'f mut Evaluations,
    /// The name of the present entry.
    name: String,
    framing: Framing,
    form: EntryForm,
    /// The present row of a text: its lines, and the numbers of the first and of the last.
    paragraph: (String, u64, u64),
}

/// What the frames of an entry are.
#[derive(Clone, Copy)]
enum EntryForm {
    /// JSON, which a source may read.
    Json(Option<&'static dyn Source>),
    /// Lines of a text, each a row.
    Lines,
    /// Lines of a text that empty lines divide: those between two of them are a row.
    Paragraphs,
}

impl<'f> File<'f> {
    fn new(planned: &'f PlannedInput, limits: &'f Limits, evaluations: &'f mut Evaluations) -> Self {
        Self {
            planned,
            limits,
            evaluations,
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
                | Event::PassedOver { .. }
                | Event::Note(_) => {}
            }
        }
        Ok(())
    }

    /// The maps by which tables in the file are read: the known ones, and those of its own CSV headers.
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

    /// The name of an entry in findings and reports.
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
                return Ok(());
            }
            if !may_hold_words(kind) {
                return Err(refused(&name, &format!("it is a {kind}")));
            }
        }
        let promise = promised(&name, head);
        let broken = match (promise, head.framing) {
            (Promise::Table, Framing::Tables | Framing::Empty) | (Promise::Nothing, _) => None,
            (Promise::Table, _) => Some("its first line is no header: every column needs a name of its own"),
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
            let sketch = head.sketch();
            let evidence = chatmill_source::decided(&chatmill_source::considered(&sketch), &sketch);
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
        // What is put together with a long question is longer, and found by its runs.
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

    /// Adds the lines of a text since the last row.
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

    /// What users ask in a record, as its source reads it: a question may be put together of several fields.
    fn questions(&self, source: &dyn Source, frame: &Frame, bytes: &[u8]) -> Vec<String> {
        let outcome = record::read(Ok(source), frame, bytes, Settings::plain(self.limits));
        let outcomes = std::iter::once(&outcome).chain(&outcome.also);
        let conversations = outcomes.filter_map(|outcome| outcome.linked.as_ref());
        let messages = conversations.flat_map(|linked| &linked.conversation.messages);
        let asked = messages.filter(|message| message.role == Role::User);
        asked.map(|message| message.text()).map(Cow::into_owned).collect()
    }
}

/// Whether an entry is text and no JSON, as far as its head shows.
fn is_text(head: &Head) -> bool {
    let first = head.bytes.trim_ascii_start().first();
    head.framing == Framing::Documents && !matches!(first, Some(b'{' | b'['))
}

/// The form that an entry has to have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    Table,
    Json,
    Nothing,
}

/// Endings of compressed files.
const COMPRESSED: [&str; 8] = ["gz", "gzip", "zst", "zstd", "bz2", "xz", "lz4", "zlib"];

/// The form that an entry has to have by its name, or by a first line that names a question.
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

/// Whether the first line of an entry is a header that names a question.
fn names_question(head: &Head) -> bool {
    let first = head.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let cells = first.split(|byte| b",;\t".contains(byte));
    let mut names = cells.filter_map(|cell| std::str::from_utf8(cell).ok());
    names.any(|name| is_question_name(name.trim_matches(['"', ' ', '\r'])))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests need folders of their own")]
mod tests {
    use super::*;
    use crate::pipeline::parse;
    use crate::tests::test_dir::TestDir;

    fn loaded_of(files: &[(&str, &str)], keys: &str) -> Result<LoadedEvaluations, String> {
        let test_dir = TestDir::new(files);
        let text = format!("[[input]]\npath = \"a\"\n[output]\npath = \"out\"\n{keys}");
        let pipeline = parse(&text, &[], Path::new("p.toml")).unwrap();
        let loaded = load(&pipeline, &PathBuf::from(test_dir.path("")), &pipeline.limits);
        Ok(loaded.map_err(|error| error.to_string())?.unwrap())
    }

    fn load_of(files: &[(&str, &str)], keys: &str) -> Result<Vec<(String, u64)>, String> {
        let loaded = loaded_of(files, keys)?;
        let files = loaded.evaluations.files().iter();
        Ok(files.map(|file| (file.name.clone(), file.rows)).collect())
    }

    fn of_file(name: &str, text: &str) -> Result<LoadedEvaluations, String> {
        let keys = format!("[select.decontaminate]\nagainst = \"{name}\"\n");
        loaded_of(&[(name, text)], &keys)
    }

    fn rows_of(name: &str, text: &str) -> Result<u64, String> {
        Ok(of_file(name, text)?.evaluations.files()[0].rows)
    }

    #[test]
    fn rows_are_lines_elements_rows_of_csv_lines_of_a_text_or_paragraphs() {
        for (name, text, rows) in [
            (
                "a.jsonl",
                "{\"question\":\"a b\",\"answer\":\"c\"}\n{\"x\":1}\n{\"prompt\":\"d\"}\n",
                2,
            ),
            ("a.json", "[{\"question\":\"a\"},{\"question\":\"b\"},\"c\"]", 3),
            ("a.csv", "id,question\n1,\"a,\nb\"\n2,c\n", 2),
            ("a.tsv", "question\tanswer\na, b\tc\n", 1),
            ("a.csv", "question\n\"a\nb\"\nc\n", 2),
            ("a.txt", "Once, there was\na knot, and it, too, held\nwell\n", 3),
            ("a.txt", "Once there\nwas a knot.\n\nIt held.\n", 2),
            ("a.md", "# Knots\n\nIt held.\n", 2),
        ] {
            assert_eq!(rows_of(name, text), Ok(rows), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_compared_with_is_refused_by_its_name() {
        for (text, reason) in [
            ("{\"question\":\"a\"}\n{\"question\":\n", "row 2"),
            ("", "it holds no text"),
            ("{\"x\":null}\n", "it holds no text"),
            ("ID3 a", "it is a sound"),
        ] {
            let error = rows_of("a.jsonl", text).unwrap_err();
            assert!(
                error.contains(reason) && error.starts_with("select.decontaminate.against: `a.jsonl`"),
                "{error}"
            );
        }
        for (keys, place) in [
            ("against = \"b.jsonl\"\n", "`b.jsonl`"),
            ("against = []\n", "select.decontaminate.against"),
            ("against = \"a.jsonl\"\nngram = 0\n", "select.decontaminate.ngram"),
        ] {
            let keys = format!("[select.decontaminate]\n{keys}");
            let error = load_of(&[("a.jsonl", "{\"q\":\"a\"}\n")], &keys).unwrap_err();
            assert!(error.contains(place), "{error}");
        }
    }

    #[test]
    fn a_table_or_json_by_name_or_header_that_does_not_parse_is_never_plain_text() {
        let whole = "question,answer\n\"Why, so?\",b\nWho?,d\n";
        let ragged = format!("{whole}a,b,c\n");
        let unclosed = whole.replace("so?\"", "so?");
        let cut = whole.strip_suffix("Who?,d\n").unwrap().replace(",b\n", ",\"b");
        for name in ["a.csv", "A.CSV", "a.tsv", "a.csv.gz", "a.txt", "a"] {
            assert_eq!(rows_of(name, whole), Ok(2), "{name}");
            for (text, reason) in [
                (ragged.as_str(), "row 3: 3 cells in a row of 2 columns"),
                (&unclosed, "row 1: "),
                (&cut, "row 1: "),
                ("question,,answer\na,b,c\n", "its first line is no header"),
                ("question,question\na,b\n", "its first line is no header"),
            ] {
                let error = rows_of(name, text).expect_err(&format!("{name}: {text}"));
                assert!(
                    error.contains(&format!("`{name}` cannot be compared with: {reason}")),
                    "{error}"
                );
            }
        }
        for name in ["a.csv", "a.tsv.zst"] {
            assert!(
                rows_of(name, "Once, there\nwas, a, knot\n")
                    .unwrap_err()
                    .contains("row 1: ")
            );
            assert!(rows_of(name, ",name\n1,a\n").unwrap_err().contains("no header"));
        }
        for name in ["a.json", "a.jsonl", "a.ndjson.xz", "A.Json"] {
            for text in [
                "// rows\n[{\"question\":\"a\"}]",
                "// rows\n{\"question\":\"a\"}\n",
                "question,answer\na,b\n",
                "[2026-01-05 10:00] Ann: hello\n",
            ] {
                let error = rows_of(name, text).unwrap_err();
                assert!(
                    error.contains("cannot be compared with: row 1: ") || error.ends_with("it is no JSON"),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn a_file_without_a_question_is_noted_and_one_with_a_question_is_not() {
        let note = |name: &str, text: &str| of_file(name, text).unwrap().note;
        for (name, text) in [
            ("a.csv", "question\na\n"),
            ("a.csv", "\"Prompt\";x\na;b\n"),
            ("a.jsonl", "{\"role\":\"user\",\"content\":\"a\"}\n"),
            ("a.jsonl", "{\"text\":\"a\"}\n{\"question\":\"a\"}\n"),
        ] {
            assert_eq!(note(name, text), None, "{text}");
        }
        for (name, text, words) in [
            (
                "a.txt",
                "Once\n\nthere\nwas\n\n",
                "read as plain text without questions, paragraphs: 2",
            ),
            (
                "a.txt",
                "Once, there\nwas\n",
                "read as plain text without questions, lines: 2",
            ),
            ("a.txt", "Once", "read as plain text without questions, lines: 1"),
            ("a.csv", "Why?,a\nWho?,b\n", "no field in it is called question"),
            ("a.jsonl", "\"Why?\"\n", "no field in it is called question"),
        ] {
            let note = note(name, text).unwrap();
            assert!(note.contains(&format!("`{name}`: {words}")), "{note}");
        }
    }

    #[test]
    fn a_file_that_several_paths_lead_to_counts_once() {
        let test_dir = TestDir::new(&[("a.jsonl", "{\"q\":\"a\"}\n"), ("b.jsonl", "{\"q\":\"a\"}\n")]);
        let at = |name: &str| test_dir.path(name);
        std::os::unix::fs::symlink(at("a.jsonl"), at("link.jsonl")).unwrap();
        std::fs::hard_link(at("a.jsonl"), at("hard.jsonl")).unwrap();
        let names = |paths: &[&str]| {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            let files = inputs::evaluations(&paths, Path::new(&at("")), &Arc::default()).unwrap();
            files
                .iter()
                .map(|file| file.name().into_owned())
                .collect::<Vec<_>>()
        };
        // The first path names it.
        assert_eq!(
            names(&["a.jsonl", "./a.jsonl", "hard.jsonl", "link.jsonl"]),
            ["a.jsonl"]
        );
        assert_eq!(
            names(&["link.jsonl", "b.jsonl", "a.jsonl"]),
            ["b.jsonl", "link.jsonl"]
        );
    }

    #[test]
    fn words_up_to_the_limit_are_taken_and_one_more_names_the_file() {
        let load = |limit: u32| {
            let keys = format!(
                "[select.decontaminate]\nagainst = [\"a.jsonl\", \"b.jsonl\"]\n[limits]\nevaluation_words = {limit}\n"
            );
            load_of(
                &[("a.jsonl", "{\"q\":\"a b\"}\n"), ("b.jsonl", "{\"q\":\"c d\"}\n")],
                &keys,
            )
        };
        assert_eq!(load(4).map(|files| files.len()), Ok(2));
        let error = load(3).unwrap_err();
        assert!(
            error.starts_with("limits.evaluation_words:") && error.contains("`b.jsonl`"),
            "{error}"
        );
    }

    #[test]
    fn files_of_one_name_in_two_folders_have_different_names() {
        let test_dir = TestDir::new(&[]);
        for folder in ["x", "y"] {
            std::fs::create_dir(test_dir.path(folder)).unwrap();
            std::fs::write(test_dir.path(&format!("{folder}/a.jsonl")), "{\"q\":\"a\"}\n").unwrap();
        }
        let paths = ["x/a.jsonl", "y/a.jsonl"].map(str::to_owned);
        let files = inputs::evaluations(&paths, Path::new(&test_dir.path("")), &Arc::default()).unwrap();
        let names: Vec<Cow<'_, str>> = files.iter().map(PlannedInput::name).collect();
        assert_eq!(names, ["1/a.jsonl", "2/a.jsonl"]);
    }
}
