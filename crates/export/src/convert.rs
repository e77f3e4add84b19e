//! Exports a dataset: reads renderings, filters them, wraps them in the envelope, writes the files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{Dataset, DatasetError, Folder, FreeKind};
use chatmill_diag::cut;
use jiff::Timestamp;

use crate::SUMMARY;
use crate::candidate::{self, Candidate, Maker, RenderedAs};
use crate::envelope::file_problems::problems;
use crate::envelope::{Envelope, Preferences, notes};
use crate::error::ExportError;
use crate::exclusion::valid_for::ValidFor;
use crate::exclusion::{asked, wanted};
use crate::fields;
use crate::filter::reasons::{NO_CONTENT, NO_TIME};
use crate::format::Format;
use crate::request::{ExportRequest, resolve};
use crate::split::assignment::{Assignment, assign};
use crate::split::earlier::ASSIGNED;
use crate::summary::turn_counts::TurnCounts;
use crate::summary::{ExportSummary, FileSummary, LeftOut, names_of_earlier};
use crate::writer::nested::{self, NestedAs};
use crate::writer::shuffle::Shuffle;
use crate::writer::{self, Columns, Record, RowKey, Writer};

/// The name of the only part where nothing is divided.
const WHOLE: &str = "data";

/// Writes an export of a dataset into a folder that does not exist yet, and returns its summary.
pub fn export(dataset: &Dataset, request: &ExportRequest, out: &Path) -> Result<ExportSummary, ExportError> {
    export_until(dataset, request, out, None, &AtomicBool::new(false))
}

/// Like [`export`], with the renderings of `maker` where the dataset has none of the dialect. Once `stop` is set, nothing is written,
/// and the export ends with [`ExportError::Stopped`].
pub fn export_until(
    dataset: &Dataset,
    request: &ExportRequest,
    out: &Path,
    maker: Option<&dyn Maker>,
    stop: &AtomicBool,
) -> Result<ExportSummary, ExportError> {
    let rendered = match maker {
        None => resolve(dataset, &request.dialect)?,
        Some(maker) => RenderedAs {
            dialect: maker.dialect().to_owned(),
            profile: maker.profile().to_owned(),
        },
    };
    let job = Job {
        dataset,
        request,
        maker,
        stop,
        tokens: match maker {
            None => tokens_column(dataset, request)?,
            Some(_) => None,
        },
        valid_for: request
            .valid_for
            .as_deref()
            .map(|path| ValidFor::read(path, &rendered.dialect))
            .transpose()?,
        rendered,
        assignment: request
            .split
            .as_ref()
            .map(|split| assign(dataset, split))
            .transpose()?,
    };
    check(request, &job.rendered.dialect)?;
    let envelope = request.envelope;
    let rated = envelope.filter(|envelope| envelope.preferences != Preferences::None);
    if let Some(Envelope { id, .. }) = rated.filter(|_| maker.is_none()) {
        return Err(ExportError::request(
            format!("the envelope `{id}` takes rated answers, and no maker of them was given"),
            "name a maker of them",
        ));
    }
    let replaced = request.replace.then(|| names_of_earlier(out)).transpose()?;
    let folder = Folder::create_over(out, replaced.unwrap_or_default())?;
    let mut summary = job.write(&folder)?;
    let companion = envelope.and_then(|envelope| (envelope.companion)(&summary.files));
    let assigned = match (&request.split, &job.assignment) {
        (Some(split), Some(assignment)) => Some((ASSIGNED, assignment.remembered(&split.parts))),
        _ => None,
    };
    for (name, text) in companion.into_iter().chain(assigned) {
        write_whole(&folder, name, &text)?;
        summary.beside.push(name.to_owned());
    }
    write_whole(&folder, SUMMARY, &summary.json())?;
    job.go_on()?;
    folder.publish()?;
    Ok(summary)
}

/// Refuses a request that no dataset can meet, before any row is read or written.
pub fn check_request(request: &ExportRequest) -> Result<(), ExportError> {
    let (dialect, _) = request.dialect.split_once('@').unwrap_or((&request.dialect, ""));
    if let Some(path) = &request.valid_for {
        ValidFor::read(path, dialect)?;
    }
    check(request, dialect)
}

/// Refuses a destination where no export can appear, without touching it.
pub fn check_destination(out: &Path, replace: bool) -> Result<(), ExportError> {
    let replaced = replace.then(|| names_of_earlier(out)).transpose()?;
    Ok(Folder::create_over(out, replaced.unwrap_or_default()).map(drop)?)
}

fn check(request: &ExportRequest, dialect: &str) -> Result<(), ExportError> {
    if request.nested == NestedAs::Struct && request.format == Format::Jsonl {
        return Err(ExportError::request(
            "`--nested` applies to Parquet only",
            "take `--format parquet`",
        ));
    }
    let Some(envelope) = request.envelope else {
        return Ok(());
    };
    if envelope.dialects.contains(&dialect) {
        return Ok(());
    }
    Err(ExportError::request(
        format!(
            "the envelope `{}` does not take the dialect `{dialect}`",
            envelope.id
        ),
        format!("take `--dialect {}`", envelope.dialects.join("` or `--dialect ")),
    ))
}

fn write_whole(folder: &Folder, name: &str, text: &str) -> Result<(), DatasetError> {
    let mut file = folder.file(name)?;
    file.add(text.as_bytes())?;
    file.finish().map(drop)
}

/// The column of token counts that `--max-tokens` reads.
fn tokens_column(dataset: &Dataset, request: &ExportRequest) -> Result<Option<String>, ExportError> {
    let Some(most) = &request.filters.max_tokens else {
        return Ok(None);
    };
    if dataset.encodings().contains(&most.encoding) {
        return Ok(Some(format!("tokens_{}", most.encoding)));
    }
    let step = match dataset.encodings() {
        [] => {
            "the run counted in no encoding; name the encoding in `count.encodings` and run the pipeline again".to_owned()
        }
        [first, ..] => format!(
            "the run counted in {}: use for example `--max-tokens {}@{first}`",
            dataset.encodings().join(", "),
            most.tokens
        ),
    };
    Err(ExportError::request(
        format!("the dataset holds no counts in the encoding `{}`", most.encoding),
        step,
    ))
}

/// A rendering that is written.
struct ExportedRow<'a> {
    /// Index of its part.
    part: usize,
    record: Record<'a>,
    turns_cut: u64,
    turn_counts: TurnCounts,
}

struct Job<'j> {
    dataset: &'j Dataset,
    request: &'j ExportRequest,
    maker: Option<&'j dyn Maker>,
    stop: &'j AtomicBool,
    rendered: RenderedAs,
    tokens: Option<String>,
    valid_for: Option<ValidFor>,
    assignment: Option<Assignment>,
}

/// A note about left-out renderings without an assistant: how to make every participant the assistant.
fn silence(renderings: u64) -> Option<String> {
    let subject = match renderings {
        0 => return None,
        1 => "1 rendering that was left out has".to_owned(),
        more => format!("{more} renderings that were left out have"),
    };
    Some(format!(
        "{subject} no assistant, because no participant is an agent: `perspective.as = \"each-participant\"` in the pipeline, or \
         `convert --set perspective.as=each-participant`, makes everybody the assistant once"
    ))
}

impl Job<'_> {
    fn go_on(&self) -> Result<(), ExportError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(ExportError::Stopped);
        }
        Ok(())
    }

    fn write(&self, folder: &Folder) -> Result<ExportSummary, ExportError> {
        let columns = self.columns()?;
        let mut files = self.open(folder, &columns)?;
        let mut drawn = self.request.shuffle.map(Shuffle::new);
        let mut read = 0;
        let mut turns_cut = 0;
        let mut turn_counts = TurnCounts::default();
        let mut without_assistant = 0;
        let mut left_out: BTreeMap<String, u64> = BTreeMap::new();
        self.each(&mut |candidate| {
            read += 1;
            match self.record(candidate) {
                Ok(exported) => {
                    turns_cut += exported.turns_cut;
                    turn_counts.add(exported.turn_counts);
                    let file = cut::at_mut(&mut files, exported.part);
                    let row = candidate.row();
                    let key = RowKey {
                        conversation: row.conversation,
                        perspective: row.perspective,
                        ordinal: row.ordinal,
                    };
                    file.account(&key, &exported.record);
                    match &mut drawn {
                        None => file.writer.write(&key, &exported.record),
                        Some(drawn) => Ok(drawn.push(exported.part, &key, &exported.record)?),
                    }
                }
                Err(reason) => {
                    without_assistant += u64::from(candidate.row().perspective.is_empty());
                    *left_out.entry(reason).or_default() += 1;
                    Ok(())
                }
            }
        })?;
        if let Some(drawn) = drawn {
            drawn.write(&mut |part, key, record| {
                self.go_on()?;
                cut::at_mut(&mut files, part).writer.write(key, record)
            })?;
        }
        let files = files
            .into_iter()
            .map(OpenFile::finish)
            .collect::<Result<Vec<_>, _>>()?;
        let envelope = self.request.envelope;
        let problems = problems(envelope, self.request.format, &files);
        // Preferences are not trained on turn by turn, and answers without a rating have no rendering.
        let of_turns = envelope.filter(|envelope| envelope.preferences == Preferences::None);
        let mut notes = notes(envelope, turn_counts);
        notes.extend(of_turns.and_then(|_| silence(without_assistant)));
        let split = self.request.split.as_ref();
        Ok(ExportSummary {
            program: chatmill_dataset::PROGRAM,
            version: env!("CARGO_PKG_VERSION"),
            dataset: self.dataset.manifest().fingerprint.clone(),
            dialect: self.rendered.dialect.clone(),
            profile: self.rendered.profile.clone(),
            format: self.request.format,
            envelope: envelope.map(|envelope| envelope.id),
            filters: self.request.filters.clone(),
            split_by: split.map(|split| split.by),
            split_seed: split.map(|split| split.seed).filter(|seed| *seed != 0),
            shuffle_seed: self.request.shuffle,
            read,
            kept: files.iter().map(|file| file.rows).sum(),
            left_out: left_out
                .into_iter()
                .map(|(reason, rows)| LeftOut { reason, rows })
                .collect(),
            turns_cut,
            turns: of_turns.map(|_| turn_counts),
            notes,
            files,
            beside: Vec::new(),
            objections: problems,
        })
    }

    /// The record of a rendering, or the reason for which it is left out.
    fn record<'a>(&self, candidate: &'a Candidate<'_>) -> Result<ExportedRow<'a>, String> {
        let row = &candidate.row();
        if let Some(reason) = candidate.rendering.left_out {
            return Err(reason.to_owned());
        }
        if let Some(reason) = wanted::reason(&self.request.filters, candidate) {
            return Err(reason);
        }
        if candidate.rendering.content.is_none() {
            return Err(NO_CONTENT.words.to_owned());
        }
        if let Some(refusal) = self
            .valid_for
            .as_ref()
            .and_then(|template| template.refusal(row.content))
        {
            return Err(refusal);
        }
        let part = match &self.assignment {
            None => 0,
            Some(assignment) => assignment.part(row.conversation).ok_or(NO_TIME.words)?,
        };
        let Some(envelope) = self.request.envelope else {
            return Ok(ExportedRow {
                part,
                record: plain(candidate),
                turns_cut: 0,
                turn_counts: TurnCounts::default(),
            });
        };
        if let Some(reason) = asked::reason(envelope, &self.request.filters, candidate) {
            return Err(reason.to_owned());
        }
        let wrapped = (envelope.wrap)(row)?;
        Ok(ExportedRow {
            part,
            record: Record::Fields(wrapped.fields),
            turns_cut: wrapped.turns_cut,
            turn_counts: wrapped.turn_counts,
        })
    }

    fn each(
        &self,
        visit: &mut dyn FnMut(&Candidate<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let visit: &mut dyn FnMut(&Candidate<'_>) -> Result<(), ExportError> = &mut |candidate| {
            self.go_on()?;
            visit(candidate)
        };
        match self.maker {
            None => candidate::each(self.dataset, &self.rendered, self.tokens.as_deref(), visit),
            Some(maker) => candidate::each_of_maker(maker, visit),
        }
    }

    /// The columns of a table: those of the envelope, else all keys of the exported records, in order of appearance.
    fn columns(&self) -> Result<Columns, ExportError> {
        let mut columns = self.plain_columns()?;
        if self.request.nested == NestedAs::Json {
            return Ok(columns);
        }
        let envelope = self.request.envelope.map(|envelope| envelope.id);
        for (name, kind) in columns.iter_mut().filter(|(_, kind)| *kind == FreeKind::Json) {
            let dialect = &self.rendered.dialect;
            let shape = nested::shape(dialect, envelope, name).ok_or_else(|| {
                ExportError::request(
                    format!("`--nested struct` has no structure for `{name}` of {dialect}"),
                    "take `--nested json`",
                )
            })?;
            *kind = FreeKind::Nested(shape);
        }
        Ok(columns)
    }

    fn plain_columns(&self) -> Result<Columns, ExportError> {
        if self.request.format == Format::Jsonl {
            return Ok(Columns::new());
        }
        if let Some(envelope) = self.request.envelope {
            let keys = envelope.keys;
            return Ok(keys
                .iter()
                .map(|(name, kind)| ((*name).to_owned(), *kind))
                .collect());
        }
        let mut columns = Columns::new();
        let mut known = BTreeSet::new();
        self.each(&mut |candidate| {
            if let Ok(exported) = self.record(candidate) {
                for (key, kind) in exported.record.keys() {
                    if is_new(&mut known, key) {
                        columns.push((key.to_owned(), kind));
                    }
                }
            }
            Ok(())
        })?;
        match columns.iter().find(|(name, _)| writer::is_reserved(name)) {
            None => Ok(columns),
            Some((name, _)) => Err(ExportError::request(
                format!("a rendering has the key `{name}`, which is the name of a column"),
                "take `--format jsonl`",
            )),
        }
    }

    fn open(&self, folder: &Folder, columns: &Columns) -> Result<Vec<OpenFile>, DatasetError> {
        let format = self.request.format;
        let parts: Vec<(&str, Option<i64>)> = match (&self.request.split, &self.assignment) {
            (Some(split), Some(assignment)) => {
                let names = split.parts.iter().map(|part| part.name.as_str());
                names.zip(assignment.begins.iter().copied()).collect()
            }
            _ => vec![(WHOLE, None)],
        };
        parts
            .into_iter()
            .map(|(part, begins)| {
                let name = format!("{part}.{}", format.suffix());
                Ok(OpenFile {
                    writer: Writer::create(folder, &name, format, columns, &self.rendered)?,
                    last: None,
                    keys: BTreeSet::new(),
                    summary: FileSummary {
                        name,
                        part: part.to_owned(),
                        begins: begins.and_then(instant),
                        ..FileSummary::default()
                    },
                })
            })
            .collect()
    }
}

/// The record of a rendering without an envelope.
fn plain<'c>(candidate: &'c Candidate<'_>) -> Record<'c> {
    let row = candidate.row();
    let (content, spans) = (row.content, [row.assistant_spans, row.learned_spans]);
    if !candidate.is_json {
        return Record::Text { text: content, spans };
    }
    match fields::of(content) {
        Some(fields) => Record::Object {
            line: content,
            fields,
        },
        None => Record::Value { json: content, spans },
    }
}

/// An instant in words; none for the beginning of all data.
fn instant(microseconds: i64) -> Option<String> {
    Timestamp::from_microsecond(microseconds)
        .ok()
        .map(|instant| instant.to_string())
}

struct OpenFile {
    writer: Writer,
    last: Option<String>,
    summary: FileSummary,
    /// The keys of the summary.
    keys: BTreeSet<String>,
}

/// Adds a text to a set, and returns whether the text is new. A known one is not copied.
fn is_new(known: &mut BTreeSet<String>, text: &str) -> bool {
    !known.contains(text) && known.insert(text.to_owned())
}

impl OpenFile {
    /// Counts a row, in the order of the dataset.
    fn account(&mut self, row: &RowKey<'_>, record: &Record<'_>) {
        for (key, _) in record.keys() {
            if is_new(&mut self.keys, key) {
                self.summary.keys.push(key.to_owned());
            }
        }
        // The renderings of one conversation are adjacent.
        if self.last.as_deref() != Some(row.conversation) {
            self.last = Some(row.conversation.to_owned());
            self.summary.conversations += 1;
        }
        self.summary.rows += 1;
    }

    fn finish(self) -> Result<FileSummary, DatasetError> {
        let measure = self.writer.finish()?;
        Ok(FileSummary {
            bytes: measure.bytes,
            hash: measure.hash,
            ..self.summary
        })
    }
}
