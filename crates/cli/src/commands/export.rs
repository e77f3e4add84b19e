//! `chatmill export`: training and evaluation files out of a finished dataset.

mod maker;
pub(super) mod split;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chatmill_dataset::{Dataset, Folder, TemporaryDataset};
use chatmill_diag::suggest::nearest;
use chatmill_dialect::LossCode;
use chatmill_engine::check::Mask;
use chatmill_export::{
    ENVELOPES, Envelope, ExportError, ExportRequest, ExportSummary, Filters, Format, Maker, NestedAs,
    Preferences, SUMMARY, Split, SplitBy, TokenLimit, begin, check_request, envelope, export_into,
    not_set_yet, publish,
};
use clap::Args;

use super::report::refuse_other_folders;
use crate::args::{Choices, choice};
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::figures::{bytes, count, counted};
use crate::mask::dropped::DroppedFile;
use crate::mask::{mask, masked_reason};
use crate::output::{self, harmless, shown};
use crate::{other_codes, terminal};

/// Arguments of `export`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/export.txt").trim_end())]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Arguments {
    /// Folder of the dataset
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The dialect whose renderings are exported
    #[arg(long, value_name = "ID[@PROFILE]")]
    dialect: String,
    /// File format
    #[arg(long, value_parser = choice(FORMATS), value_name = "FORMAT")]
    format: Format,
    /// How Parquet files hold lists and objects: as text of the Arrow JSON type, or as Arrow structures for readers without that type
    #[arg(long, value_parser = choice(NESTED), default_value = "json", value_name = "FORM")]
    nested: NestedAs,
    /// Record format of each row: openai-sft, openai-rft, openai-evals, inspect, vertex-tuning, bedrock-conversation-2024,
    /// trl-messages, trl-prompt-completion, trl-prompts, verl, llama-factory, axolotl; for preferences trl-dpo, trl-kto, openai-dpo
    /// or llama-factory-ranking
    #[arg(long, value_name = "ID")]
    envelope: Option<String>,
    /// Leaves out renderings that break a rule of the dialect
    #[arg(long)]
    valid: bool,
    /// Leaves out renderings that this chat template refuses: a Jinja file or a tokenizer configuration
    #[arg(long, value_name = "TEMPLATE")]
    valid_for: Option<PathBuf>,
    /// Leaves out renderings whose last turn has another role
    #[arg(long, value_name = "ROLE")]
    last_role: Option<String>,
    /// Leaves out renderings of more than N tokens in an encoding
    #[arg(long, value_name = "N@ENCODING", value_parser = |text: &str| text.parse::<TokenLimit>())]
    max_tokens: Option<TokenLimit>,
    /// Leaves out renderings with this loss; repeatable
    #[arg(long, value_name = "LOSS_CODE")]
    without: Vec<String>,
    /// Keeps answers that no message precedes; envelopes of conversations leave them out otherwise
    #[arg(long, requires = "envelope")]
    keep_unasked: bool,
    /// Leaves out rows that are equal to an earlier one
    #[arg(long)]
    distinct: bool,
    /// Divides the rows into files, for example train=95,test=5
    #[arg(long, value_name = "PART=SHARE,…")]
    split: Option<String>,
    /// What decides which file a conversation belongs to
    #[arg(long, value_parser = choice(SPLITS), default_value = "hash", requires = "split", value_name = "WHAT")]
    split_by: SplitBy,
    /// Seed of the split, where a hash decides
    #[arg(long, requires = "split", default_value_t = 0, value_name = "N")]
    split_seed: u64,
    /// An earlier export of the same data; conversations keep the file that it assigned
    #[arg(long, requires = "split", value_name = "EXPORT")]
    split_like: Option<PathBuf>,
    /// A dataset of the earlier export; its prompts and passages count as those of its parts; repeatable
    #[arg(long, requires = "split_like", value_name = "RUN")]
    split_against: Vec<PathBuf>,
    /// Columns that are added to each record, for example `source,input,tokens_o200k_base,extra.language`: columns of the tables
    /// `conversations` and `renderings`, and fields of the record
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,…")]
    columns: Vec<String>,
    /// Largest file: a part with more bytes becomes several files, train-00000-of-00003.parquet; 500MB if not given
    #[arg(long, value_parser = shard_size, value_name = "SIZE")]
    shard_size: Option<u64>,
    /// Lists the rows that are left out in this file, with their reasons
    #[arg(long, value_name = "FILE")]
    dropped: Option<PathBuf>,
    /// Shuffles the rows of each file with this seed; without it, rows keep the order of the dataset
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Folder of the export
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replaces an earlier export in DIR
    #[arg(long)]
    replace: bool,
}

/// Forms of the files.
pub(super) const FORMATS: Choices<Format> = &[
    ("jsonl", "One JSON value per line", Format::Jsonl),
    ("parquet", "Columns", Format::Parquet),
];

/// Forms of lists and objects in a table.
pub(super) const NESTED: Choices<NestedAs> = &[
    ("json", "JSON text", NestedAs::Json),
    ("struct", "Arrow lists and structures", NestedAs::Struct),
];

/// What decides where a conversation goes.
const SPLITS: Choices<SplitBy> = &[
    ("hash", "A hash of its id", SplitBy::Hash),
    ("time", "When it began", SplitBy::Time),
    ("room", "A hash of its room", SplitBy::Room),
    (
        "session",
        "When a session of it began, which `window.session_gap` divides",
        SplitBy::Session,
    ),
];

/// Writes the export and prints its summary.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let mut request = request(arguments, !context.global.no_content)?;
    refuse_other_folders(&arguments.run)?;
    let dataset = Dataset::open(&arguments.run)?;
    check_request(&request)?;
    let folder = begin(&arguments.out, request.replace)?;
    request.split = request
        .split
        .map(|split| split::planned(split, &dataset))
        .transpose()?;
    let spared: [&Path; 2] = [&arguments.run, &arguments.out];
    let spared = spared.into_iter().chain(arguments.valid_for.as_deref());
    let earlier = arguments.split_like.iter().chain(&arguments.split_against);
    let spared = spared.chain(earlier.map(PathBuf::as_path));
    let dropped = DroppedFile::begin(
        arguments.dropped.as_deref(),
        &spared.collect::<Vec<_>>(),
        (Path::new(""), []),
        context,
    )?;
    let (text, exit) = write(
        &dataset,
        &request,
        (folder, &arguments.out),
        dropped,
        None,
        context,
    )?;
    output::print(&text)?;
    Ok(exit)
}

/// Writes an export into a folder that was begun at a path, and the list of what it leaves out, and returns its description and what it
/// means. A temporary dataset is removed before the export appears: a repeat after a kill is refused then and removes nothing.
pub(super) fn write(
    dataset: &Dataset,
    request: &ExportRequest,
    (folder, out): (Folder, &Path),
    dropped: Option<DroppedFile>,
    temporary: Option<TemporaryDataset>,
    context: &Context<'_>,
) -> Outcome<(String, Exit)> {
    let mask = mask(context.global)?;
    let maker = maker::maker(dataset, request)?;
    let renderer = maker.as_ref().map(|maker| maker as &dyn Maker);
    let summary = export_into(dataset, request, &folder, renderer, context.signals.stop())?;
    let text = describe(&summary, out, mask.as_ref())
        + &way_out(&summary, &dataset.manifest().plan, maker.as_ref())?;
    drop(temporary);
    publish(folder, request)?;
    if let (Some(dropped), Some(rows)) = (dropped, &summary.rows_left_out) {
        dropped.finish(rows)?;
    }
    Ok((text, Exit::complete_if(summary.objections.is_empty())))
}

fn request(arguments: &Arguments, quotes: bool) -> Outcome<ExportRequest> {
    for code in &arguments.without {
        known_loss(code)?;
    }
    let parts = arguments.split.as_deref();
    let parsed = parts.map(|text| Split::parse(text, arguments.split_by));
    let split = parsed.transpose()?.map(|split| Split {
        like: arguments.split_like.clone(),
        against: arguments.split_against.clone(),
        seed: arguments.split_seed,
        ..split
    });
    Ok(ExportRequest {
        dialect: arguments.dialect.clone(),
        format: arguments.format,
        nested: arguments.nested,
        envelope: arguments.envelope.as_deref().map(known_envelope).transpose()?,
        filters: Filters {
            valid: arguments.valid,
            last_role: arguments.last_role.clone(),
            max_tokens: arguments.max_tokens.clone(),
            without: arguments.without.clone(),
            keep_unasked: arguments.keep_unasked,
            distinct: arguments.distinct,
        },
        valid_for: arguments.valid_for.clone(),
        split,
        columns: arguments.columns.clone(),
        shard_bytes: arguments.shard_size,
        lists_left_out: arguments.dropped.is_some(),
        quotes,
        shuffle: arguments.shuffle,
        replace: arguments.replace,
    })
}

/// Bytes of a size such as `500MB`.
pub(super) fn shard_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|sign: char| !sign.is_ascii_digit());
    let factor = match text.strip_prefix(digits) {
        Some("" | "B") => Some(1),
        Some("kB" | "KB") => Some(1_000),
        Some("MB") => Some(1_000_000),
        Some("GB") => Some(1_000_000_000),
        _ => None,
    };
    let bytes = factor.and_then(|factor| digits.parse::<u64>().ok()?.checked_mul(factor));
    let bytes = bytes.filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| format!("`{text}` is not a size, for example 500MB"))
}

fn known_loss(code: &str) -> Outcome<()> {
    let codes = || LossCode::ALL.iter().map(|code| code.as_str());
    if codes().any(|known| known == code) {
        return Ok(());
    }
    Err(CommandError::unknown("loss code", code, nearest(code, codes())))
}

pub(super) fn known_envelope(id: &str) -> Outcome<&'static Envelope> {
    envelope::find(id).ok_or_else(|| {
        let ids: Vec<&str> = ENVELOPES.iter().map(|envelope| envelope.id).collect();
        CommandError::unknown("envelope", id, nearest(id, ids.iter().copied()))
            .then(format!("there are {}", ids.join(", ")))
    })
}

/// Remedies, where fewer than half of the rows are kept: those of the most frequent reasons.
fn way_out(
    summary: &ExportSummary,
    plan: &serde_json::Value,
    maker: Option<&maker::AgainMaker<'_>>,
) -> Result<String, ExportError> {
    let elsewhere = maker
        .filter(|_| summary.kept == 0)
        .map(maker::AgainMaker::elsewhere);
    if let Some(envelope) = elsewhere.transpose()?.flatten() {
        return Ok(format!(
            "help: use --envelope {envelope}, for which there are rows, or convert --to {envelope}\n"
        ));
    }
    if summary.rows_left_out() * 2 <= summary.read {
        return Ok(String::new());
    }
    let mut most: Vec<_> = summary
        .left_out
        .iter()
        .filter(|left| left.rows * 5 >= summary.read)
        .collect();
    most.sort_by_key(|left| Reverse(left.rows));
    let mut known = BTreeSet::new();
    let advice = most.iter().filter_map(|left| advice(&left.reason, summary));
    let advice = advice.filter(|advice| known.insert(*advice));
    let lines = advice
        .filter_map(|advice| not_set_yet(plan, advice))
        .map(|advice| {
            let text =
                format!("help: {advice}; in `convert`, --set KEY=VALUE sets a key of the pipeline file");
            format!("{}\n", terminal::prose(&text, 2))
        });
    Ok(lines.collect())
}

/// What to do about a reason, as its list says. Some codes have several messages.
fn advice(reason: &str, summary: &ExportSummary) -> Option<&'static str> {
    let (code, detail) = reason.split_once(": ").unwrap_or((reason, ""));
    let is_its = |of: &&'static str| *of == "export" || Some(*of) == summary.envelope;
    let mut named = other_codes::named(code);
    named.retain(|other| other.of.iter().any(is_its));
    let exact = named.iter().find(|other| other.meaning == detail);
    exact.or(named.first()).map(|rule| rule.advice)
}

/// The export as text: files, then the rows that were left out, then problems.
fn describe(summary: &ExportSummary, out: &Path, mask: Option<&Mask>) -> String {
    let out = shown(out);
    let envelope = summary.envelope.and_then(envelope::find);
    let preferences = envelope.map_or(Preferences::None, |envelope| envelope.preferences);
    let noun = match preferences {
        Preferences::None => "rendering",
        Preferences::Pairs | Preferences::Labels => "candidate",
    };
    let mut text = format!(
        "{out}: kept {} of {}\n",
        count(summary.kept),
        counted(summary.read, noun)
    );
    for file in &summary.files {
        let begins = file.begins.as_ref();
        let begins = begins.map(|begins| format!(", from {}", harmless(begins)));
        text.push_str(&format!(
            "  {}: {} of {}, {}{}\n",
            harmless(&file.name),
            counted(file.rows, "record"),
            counted(file.conversations, "conversation"),
            bytes(file.bytes),
            begins.unwrap_or_default()
        ));
    }
    if summary.turns_cut > 0 {
        text.push_str(&format!(
            "  {} after the {} cut off\n",
            counted(summary.turns_cut, "turn"),
            match envelope {
                Some(envelope) if envelope.takes_reference() => "last question",
                _ => "assistant's last one",
            }
        ));
    }
    if let Some(turns) = summary.turns {
        text.push_str(&format!(
            "  {} of the assistant to train on\n",
            counted(turns.learned, "turn")
        ));
    }
    let trained = match preferences {
        Preferences::None => None,
        Preferences::Pairs => Some(("pair", "a better answer and a worse one")),
        Preferences::Labels => Some(("labelled answer", "each good or bad")),
    };
    if let Some((noun, what)) = trained {
        let rows = counted(summary.kept, noun);
        text.push_str(&format!("  {rows} to train on: {what}\n"));
    }
    text.push_str(&split::described(summary, mask));
    for note in &summary.notes {
        text.push_str(&format!("  note: {}\n", harmless(note)));
    }
    if summary.rows_left_out() > 0 {
        text.push_str(&format!("left out {}\n", count(summary.rows_left_out())));
        let left_out = summary.left_out.iter();
        let rows = left_out.map(|left| {
            let reason = mask.map(|mask| masked_reason(&left.reason, mask));
            let reason = harmless(reason.as_deref().unwrap_or(&left.reason));
            vec![format!("  {reason}"), count(left.rows)]
        });
        let columns = terminal::table_columns();
        text.push_str(&output::fitted(["  reason", "rows"], rows, 1, &[], columns));
    }
    for problem in &summary.objections {
        text.push_str(&format!("objection: {}\n", harmless(problem)));
    }
    text.push_str(&format!("all figures: {out}/{SUMMARY}\n"));
    text
}
