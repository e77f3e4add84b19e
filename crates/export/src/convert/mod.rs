//! Exports a dataset: reads its renderings or those of a `Maker`, filters them, wraps them in the envelope, and writes the files and the
//! summary into a folder. The command line calls [`begin`], [`export_into`] and [`publish`], with other work before the folder appears.

mod exclusion;
mod loss_walk;
mod media;
pub(crate) mod preview;
pub(crate) mod row_counts;
mod tokens;

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use chatmill_dataset::{Dataset, DatasetError, FileMeasure, Folder, FreeKind};
use chatmill_diag::cut;
use jiff::Timestamp;

use crate::candidate::{self, Candidate, Maker, RenderedAs};
use crate::card;
use crate::card::counts::CardCounts;
use crate::convert::exclusion::valid_for::ValidFor;
use crate::convert::exclusion::{asked, wanted};
use crate::convert::loss_walk::LossWalk;
use crate::convert::media::MediaFiles;
use crate::convert::row_counts::RowCounts;
use crate::convert::row_counts::remedies::LastTurns;
use crate::convert::tokens::tokens_column;
use crate::envelope::file_problems::problems;
use crate::envelope::{Envelope, ExportRow, MediaIn, Preferences};
use crate::error::ExportError;
use crate::fields;
use crate::fields::of_conversations::{ConversationField, ConversationWalk};
use crate::filter::reasons::{NO_CONTENT, REPEATED};
use crate::format::Format;
use crate::request::added_columns::{self, AddedColumns};
use crate::request::{ExportRequest, resolve};
use crate::split::assignment::{Assignment, assign};
use crate::split::earlier::ASSIGNED;
use crate::summary::left_out::LeftOutRows;
use crate::summary::split_summary::SplitSummary;
use crate::summary::turn_counts::TurnCounts;
use crate::summary::{ExportSummary, FileSummary, names_of_earlier};
use crate::writer::nested::{self, NestedAs};
use crate::writer::pages;
use crate::writer::part_files::{PartFiles, WHOLE, is_new};
use crate::writer::shuffle::Shuffle;
use crate::writer::{self, Columns, FileLayout, Record, RowKey, WrittenRow};
use crate::{CARD, SUMMARY};

/// The default bytes of a file, which the Hub recommends.
const SHARD_BYTES: u64 = 500_000_000;

/// Writes an export of a dataset into a folder that does not exist yet, and returns its summary. An export without rows creates no folder.
pub fn export(dataset: &Dataset, request: &ExportRequest, out: &Path) -> Result<ExportSummary, ExportError> {
    let folder = begin(out, request.replace)?;
    let summary = export_into(dataset, request, &folder, None, &AtomicBool::new(false))?;
    publish(folder, request, &summary)?;
    Ok(summary)
}

/// Begins the folder of an export under its lock, before any work is done; if dropped, it leaves nothing.
pub fn begin(out: &Path, replace: bool) -> Result<Folder, ExportError> {
    let replaced = replace.then(|| names_of_earlier(out)).transpose()?;
    Ok(Folder::create_over(out, replaced.unwrap_or_default())?)
}

/// Publishes a complete export at its path, unless it has no rows: an empty folder would only block the next attempt.
pub fn publish(folder: Folder, request: &ExportRequest, summary: &ExportSummary) -> Result<(), ExportError> {
    if summary.files.iter().all(|file| file.rows == 0) {
        return Ok(());
    }
    if request.replace {
        // The card of the earlier export may have been edited in the meantime.
        names_of_earlier(folder.out())?;
    }
    Ok(folder.publish()?)
}

/// Like [`export`], into a folder that was begun and will be published, with the renderings of `maker` if the dataset has none in the dialect.
/// Once `stop` is set, the export ends with [`ExportError::Stopped`].
pub fn export_into(
    dataset: &Dataset,
    request: &ExportRequest,
    folder: &Folder,
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
    check(request, &rendered.dialect)?;
    let added = AddedColumns::resolve(dataset, request, &rendered.spec(), maker.is_some())?;
    let of_card = card::counts::fields_of(dataset);
    let extra = [ConversationField::Column("extra".to_owned())];
    let has_references = request.envelope.is_some_and(Envelope::takes_reference);
    let references = if has_references { &extra[..] } else { &[] };
    let job = Job {
        of_conversations: [added.of_conversations.as_slice(), &of_card, references].concat(),
        counted_on_card: of_card.len(),
        added,
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
            .map(|split| assign(dataset, split, stop))
            .transpose()?,
    };
    let envelope = request.envelope;
    let rated = envelope.filter(|envelope| envelope.preferences != Preferences::None);
    if let Some(Envelope { id, .. }) = rated.filter(|_| maker.is_none()) {
        return Err(ExportError::request(
            format!("the envelope `{id}` takes rated answers, and no maker of them was given"),
            "name a maker of them",
        ));
    }
    let (mut summary, card) = job.write(folder)?;
    let companion = envelope.and_then(|envelope| (envelope.companion)(&summary.files));
    let assigned = request.split.as_ref().zip(job.assignment.as_ref());
    let assigned = assigned.map(|(split, assignment)| (ASSIGNED, assignment.remembered(split)));
    for (name, text) in companion.into_iter().chain(assigned).chain(card) {
        let measure = write_whole(folder, name, &text)?;
        if name == CARD {
            summary.card_hash = Some(measure.hash);
        }
        summary.beside.push(name.to_owned());
    }
    write_whole(folder, SUMMARY, &summary.json())?;
    job.go_on()?;
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

fn check(request: &ExportRequest, dialect: &str) -> Result<(), ExportError> {
    if request.nested == NestedAs::Struct && request.format != Format::Parquet {
        return Err(ExportError::request(
            "`--nested` applies to Parquet only",
            "take `--format parquet`",
        ));
    }
    let is_of_pages = request.format == Format::Markdown;
    if is_of_pages
        && (dialect != pages::DIALECT
            || request.envelope.is_some()
            || !request.columns.is_empty()
            || request.shard_bytes.is_some())
    {
        return Err(ExportError::request(
            "Markdown files are the renderings of the dialect `markdown` and nothing else",
            "take `--dialect markdown` without `--envelope`, `--columns` and `--shard-size`, or another `--format`",
        ));
    }
    added_columns::check(request)?;
    let Some(envelope) = request.envelope else {
        return Ok(());
    };
    if envelope.is_one_file && request.shard_bytes.is_some() {
        return Err(ExportError::request(
            format!(
                "the envelope `{}` is not written in shards: its reader takes one file",
                envelope.id
            ),
            "leave `--shard-size` out",
        ));
    }
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

fn write_whole(folder: &Folder, name: &str, text: &str) -> Result<FileMeasure, DatasetError> {
    let mut file = folder.file(name)?;
    file.add(text.as_bytes())?;
    file.finish()
}

/// A rendering to write.
struct ExportedRow<'a> {
    /// Index of its part.
    part: usize,
    record: Record<'a>,
    turns_cut: u64,
    turn_counts: TurnCounts,
}

impl ExportedRow<'_> {
    /// Puts the media of the record in their place, or returns the reason for leaving it out.
    fn with_media(
        mut self,
        place: MediaIn,
        media: &mut MediaFiles<'_>,
    ) -> Result<Result<Self, String>, ExportError> {
        if let Record::Fields(fields) = self.record {
            match media.place(place, fields)? {
                Ok(fields) => self.record = Record::Fields(fields),
                Err(reason) => return Ok(Err(reason.to_owned())),
            }
        }
        Ok(Ok(self))
    }
}

struct Job<'j> {
    dataset: &'j Dataset,
    request: &'j ExportRequest,
    maker: Option<&'j dyn Maker>,
    stop: &'j AtomicBool,
    rendered: RenderedAs,
    added: AddedColumns,
    /// The fields of conversations that are read: for the columns that are added, then for the card, then for references.
    of_conversations: Vec<ConversationField>,
    counted_on_card: usize,
    tokens: Option<String>,
    valid_for: Option<ValidFor>,
    assignment: Option<Assignment>,
}

impl Job<'_> {
    fn go_on(&self) -> Result<(), ExportError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(ExportError::Stopped);
        }
        Ok(())
    }

    /// Writes the files of rows, and returns the summary and the files of the card, each with its name.
    fn write(&self, folder: &Folder) -> Result<(ExportSummary, Vec<card::CardFile>), ExportError> {
        let layout = self.layout()?;
        let mut parts = self.open(folder, &layout)?;
        let mut walk = ConversationWalk::new(self.dataset, &self.of_conversations);
        let encoding = self.tokens.as_ref().and_then(|name| name.strip_prefix("tokens_"));
        let mut counts = CardCounts::new(self.counted_on_card, parts.len(), encoding.map(str::to_owned));
        let mut drawn = self.request.shuffle.map(Shuffle::new);
        let mut row_counts = self.row_counts();
        let mut losses = LossWalk::new(self.dataset, &self.rendered);
        let mut known: HashSet<blake3::Hash> = HashSet::new();
        let mut media = {
            let is_struct = self.request.nested == NestedAs::Struct;
            MediaFiles::new(folder, self.request.media_root.as_deref(), is_struct)
        };
        self.each(&mut |candidate| {
            row_counts.read += 1;
            let amounts = losses.amounts(candidate.rendering)?;
            let fields = walk.values(candidate.rendering.conversation)?;
            let (of_columns, fields) = fields.split_at(self.added.of_conversations.len());
            let (of_card, references) = fields.split_at(self.counted_on_card);
            let exported = self.record(candidate, references.first().map(String::as_str));
            let exported = match (exported, self.request.envelope) {
                (Ok(exported), Some(envelope)) => exported.with_media(envelope.media, &mut media)?,
                (exported, _) => exported,
            };
            let exported = exported.and_then(|exported| {
                let is_new = !self.request.filters.distinct || known.insert(exported.record.hash());
                is_new
                    .then_some(exported)
                    .ok_or_else(|| REPEATED.words.to_owned())
            });
            match exported {
                Ok(exported) => {
                    let row = candidate.row();
                    let turns = (exported.turns_cut, exported.turn_counts);
                    let assignment = self.assignment.as_ref();
                    let leaks = assignment.is_some_and(|assignment| {
                        assignment.leaks(row.conversation, candidate.rendering.shown)
                    });
                    row_counts.keep(candidate, amounts, turns, (exported.part, leaks));
                    let part = cut::at_mut(&mut parts, exported.part);
                    let is_first = part.is_first(row.conversation);
                    let length = (candidate.rendering.tokens, row.content);
                    counts.add(exported.part, of_card, length, is_first);
                    let row = WrittenRow {
                        key: RowKey {
                            conversation: row.conversation,
                            perspective: row.perspective,
                            ordinal: row.ordinal,
                            is_first,
                        },
                        record: exported.record,
                        added: self.added.values(candidate, &self.rendered, of_columns),
                    };
                    match &mut drawn {
                        None => part.write(&row),
                        Some(drawn) => Ok(drawn.push(exported.part, &row)?),
                    }
                }
                Err(reason) => {
                    row_counts.leave_out(candidate, reason);
                    Ok(())
                }
            }
        })?;
        if let Some(drawn) = drawn {
            drawn.write(&mut |part, row| {
                self.go_on()?;
                cut::at_mut(&mut parts, part).write(row)
            })?;
        }
        let mut files = parts
            .into_iter()
            .map(PartFiles::finish)
            .collect::<Result<Vec<_>, _>>()?
            .concat();
        let pages: Vec<Vec<String>> = files
            .iter_mut()
            .map(|file| std::mem::take(&mut file.pages))
            .collect();
        let mut summary = self.summary(row_counts, files);
        if self.request.format == Format::Markdown {
            // Pages are for people: they get no card, which describes files to a loader.
            summary.beside = pages.concat();
            return Ok((summary, Vec::new()));
        }
        summary.beside = media.finish();
        let card = card::files(self.dataset, self.request, &summary, &layout, &counts)?;
        Ok((summary, card))
    }

    fn summary(&self, row_counts: RowCounts, files: Vec<FileSummary>) -> ExportSummary {
        let envelope = self.request.envelope;
        let problems = problems(envelope, self.request.format, &files);
        // Preferences are not trained on turn by turn, answers without a rating have no rendering, and prompts have no answer.
        let of_turns = envelope.filter(|envelope| envelope.has_turns());
        let written = files.iter().map(|file| file.rows).sum();
        let uncounted = self.assignment.as_ref().and_then(Assignment::why_unknown);
        let plan = &self.dataset.manifest().plan;
        let mut notes = row_counts.notes(envelope, written, uncounted, plan);
        let split = self.request.split.as_ref();
        let has_earlier = plan.pointer("/dedup/against").is_some();
        if split.is_some_and(|split| split.like.is_some() && split.against.is_empty()) && has_earlier {
            notes.push(
                "prompts and passages of the earlier dataset were not compared: `--split-against RUN` names it".to_owned(),
            );
        }
        let (left_out, rows_left_out) = row_counts.left_out.finish();
        ExportSummary {
            program: chatmill_dataset::PROGRAM,
            version: env!("CARGO_PKG_VERSION"),
            dataset: self.dataset.manifest().fingerprint.clone(),
            dialect: self.rendered.dialect.clone(),
            profile: self.rendered.profile.clone(),
            format: self.request.format,
            envelope: envelope.map(|envelope| envelope.id),
            filters: self.request.filters.clone(),
            split_by: split.map(|split| split.by),
            split: row_counts.split,
            split_seed: split.map(|split| split.seed).filter(|seed| *seed != 0),
            shuffle_seed: self.request.shuffle,
            read: row_counts.read,
            kept: written,
            left_out,
            rows_left_out,
            losses: row_counts.losses.figures(),
            turns_cut: row_counts.turns_cut,
            turns: of_turns.map(|_| row_counts.turn_counts),
            labels: row_counts.labels,
            notes,
            files,
            beside: Vec::new(),
            card_hash: None,
            problems,
        }
    }

    /// The counts before the first row.
    fn row_counts(&self) -> RowCounts {
        let (split, assignment) = (self.request.split.as_ref(), self.assignment.as_ref());
        let divided = split.zip(assignment);
        RowCounts {
            left_out: LeftOutRows::new(self.request.lists_left_out),
            split: divided.map(|(split, assignment)| SplitSummary::new(split, assignment)),
            last_turns: LastTurns::of(&self.dataset.manifest().plan, &self.request.filters),
            ..RowCounts::default()
        }
    }

    /// The record of a rendering, with further fields of its conversation, or the reason for leaving it out.
    fn record<'a>(
        &self,
        candidate: &'a Candidate<'_>,
        extra: Option<&'a str>,
    ) -> Result<ExportedRow<'a>, String> {
        let row = &ExportRow {
            extra,
            ..candidate.row()
        };
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
            Some(assignment) => assignment
                .part(row.conversation, candidate.rendering.shown)
                .map_err(|reason| reason.words)?,
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
            None => candidate::each(
                self.dataset,
                &self.rendered,
                self.tokens.as_deref(),
                &self.added.of_renderings,
                visit,
            ),
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
        if self.request.format != Format::Parquet {
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
            if let Ok(exported) = self.record(candidate, None) {
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

    /// The properties that all files have in common.
    fn layout(&self) -> Result<FileLayout<'_>, ExportError> {
        let columns = self.columns()?;
        let added = self.added.kinds();
        let added: Columns = added.map(|(name, kind)| (name.to_owned(), kind)).collect();
        if let Some((name, _)) = added
            .iter()
            .find(|(name, _)| columns.iter().any(|(own, _)| own == name))
        {
            return Err(ExportError::taken(name, "a key of a record"));
        }
        let is_whole = self.request.envelope.is_some_and(|envelope| envelope.is_one_file);
        Ok(FileLayout {
            format: self.request.format,
            rendered: &self.rendered,
            columns,
            added,
            shard_bytes: match self.request.shard_bytes {
                Some(bytes) => bytes,
                None if is_whole => u64::MAX,
                None => SHARD_BYTES,
            },
        })
    }

    fn open<'l>(
        &self,
        folder: &'l Folder,
        layout: &'l FileLayout<'l>,
    ) -> Result<Vec<PartFiles<'l>>, DatasetError> {
        let parts: Vec<(&str, Option<i64>)> = match (&self.request.split, &self.assignment) {
            (Some(split), Some(assignment)) => {
                let names = split.parts.iter().map(|part| part.name.as_str());
                names.zip(assignment.begins.iter().copied()).collect()
            }
            _ => vec![(WHOLE, None)],
        };
        let open = |(part, begins): (&str, Option<i64>)| {
            PartFiles::create(folder, layout, part, begins.and_then(instant))
        };
        parts.into_iter().map(open).collect()
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

/// An instant as text; `None` for the beginning of all data.
fn instant(microseconds: i64) -> Option<String> {
    let instant = Timestamp::from_microsecond(microseconds).ok()?;
    Some(instant.to_string())
}
