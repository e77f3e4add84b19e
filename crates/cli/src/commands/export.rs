//! `chatmill export`: writes training and evaluation files from a finished dataset. The crate `export` writes the rows; `maker` lets the
//! engine render them if the dataset does not contain them. `convert` uses the same options and the same `write`.

mod maker;
pub(super) mod row_options;
pub(super) mod split;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chatmill_dataset::{Dataset, Folder, TemporaryDataset};
use chatmill_diag::suggest::nearest;
use chatmill_dialect::Changed;
use chatmill_engine::check::Mask;
use chatmill_export::{
    ENVELOPES, Envelope, ExportError, ExportRequest, ExportSummary, LossFigures, Maker, Preferences, SUMMARY,
    begin, check_request, envelope, export_into, not_set_yet, publish,
};
use clap::Args;

use super::report::refuse_other_folders;
use crate::commands::export::row_options::RowOptions;
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
pub(crate) struct Arguments {
    /// Folder of the dataset
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Dialect of the renderings to export
    #[arg(long, value_name = "ID[@PROFILE]")]
    dialect: String,
    /// Record format of each row: openai-sft, openai-rft, openai-evals, inspect, vertex-tuning, bedrock-conversation-2024,
    /// trl-messages, trl-prompt-completion, trl-prompts, verl, llama-factory, axolotl; for preferences trl-dpo, trl-kto, openai-dpo
    /// or llama-factory-ranking
    #[arg(long, value_name = "ID")]
    envelope: Option<String>,
    /// Leaves out renderings that break a rule of the dialect
    #[arg(long)]
    valid: bool,
    /// Prints the content of export.json, even if nothing is written
    #[arg(long, hide = true)]
    json: bool,
    #[command(flatten)]
    rows: RowOptions,
}

/// Writes the export and prints its summary.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let envelope = arguments.envelope.as_deref().map(known_envelope).transpose()?;
    let rows = &arguments.rows;
    let flags = [arguments.valid, !context.global.no_content];
    let mut request = rows.request(arguments.dialect.clone(), envelope, flags)?;
    refuse_other_folders(&arguments.run)?;
    let dataset = Dataset::open(&arguments.run)?;
    check_request(&request)?;
    let folder = begin(&rows.out, request.replace)?;
    request.split = request
        .split
        .map(|split| split::planned(split, &dataset))
        .transpose()?;
    let spared: Vec<&Path> = rows.spared().chain([arguments.run.as_path()]).collect();
    let dropped = DroppedFile::begin(rows.dropped.as_deref(), &spared, (Path::new(""), []), context)?;
    let (summary, text, exit) = write(&dataset, &request, (folder, &rows.out), dropped, None, context)?;
    output::print(&if arguments.json { summary.json() } else { text })?;
    Ok(exit)
}

/// Writes an export into a folder that was begun at a path, and the list of omitted rows; returns the summary, its text, and the exit code.
/// A temporary dataset is removed before the export is published: after a kill in between, the repeated command is refused and removes
/// nothing.
pub(super) fn write(
    dataset: &Dataset,
    request: &ExportRequest,
    (folder, out): (Folder, &Path),
    dropped: Option<DroppedFile>,
    temporary: Option<TemporaryDataset>,
    context: &Context<'_>,
) -> Outcome<(ExportSummary, String, Exit)> {
    let mask = mask(context.global)?;
    let maker = maker::maker(dataset, request)?;
    let renderer = maker.as_ref().map(|maker| maker as &dyn Maker);
    let summary = export_into(dataset, request, &folder, renderer, context.signals.stop())?;
    let text = describe(&summary, (out, request.replace), mask.as_ref())
        + &way_out(&summary, &dataset.manifest().plan, maker.as_ref())?;
    drop(temporary);
    publish(folder, request, &summary)?;
    if let (Some(dropped), Some(rows)) = (dropped, &summary.rows_left_out) {
        dropped.finish(rows)?;
    }
    let exit = Exit::complete_if(summary.problems.is_empty());
    Ok((summary, text, exit))
}

pub(super) fn known_envelope(id: &str) -> Outcome<&'static Envelope> {
    envelope::find(id).ok_or_else(|| {
        let ids: Vec<&str> = ENVELOPES.iter().map(|envelope| envelope.id).collect();
        CommandError::unknown("envelope", id, nearest(id, ids.iter().copied()))
            .then(format!("there are {}", ids.join(", ")))
    })
}

/// The remedies for the most frequent reasons, if less than half of the rows are kept.
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

/// The remedy for a reason, from the list that defines it. Some codes have several messages.
fn advice(reason: &str, summary: &ExportSummary) -> Option<&'static str> {
    let (code, detail) = reason.split_once(": ").unwrap_or((reason, ""));
    let is_its = |of: &&'static str| *of == "export" || Some(*of) == summary.envelope;
    let mut named = other_codes::named(code);
    named.retain(|other| other.of.iter().any(is_its));
    let exact = named.iter().find(|other| other.meaning == detail);
    exact.or(named.first()).map(|rule| rule.advice)
}

/// The number of changes of texts that are printed.
const PRINTED: usize = 5;

/// A line for each kind of content that the renderings have and the sources have not, and the most frequent other changes of texts.
fn changes(losses: &[LossFigures]) -> String {
    let of = |changed: Changed| losses.iter().filter(move |loss| loss.changed == changed);
    let printed = of(Changed::Invented).chain(of(Changed::Words).take(PRINTED));
    let mut text = String::new();
    for loss in printed {
        let rows = counted(loss.rows, "row");
        let line = format!("  changed in {rows}: {} ({})\n", loss.meaning, loss.code);
        text.push_str(&line);
    }
    if !text.is_empty() {
        text.push_str("  help: `--without CODE` leaves such rows out\n");
    }
    text
}

/// The export as text: files, omitted rows, problems.
fn describe(summary: &ExportSummary, (out, replaces): (&Path, bool), mask: Option<&Mask>) -> String {
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
    let is_empty = summary.files.iter().all(|file| file.rows == 0);
    for file in summary.files.iter().filter(|_| !is_empty) {
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
    text.push_str(&changes(&summary.losses));
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
    if is_empty {
        let rest = if replaces { "; nothing was replaced" } else { "" };
        text.push_str(&format!(
            "{out}: nothing was written, because no row was kept{rest}\n"
        ));
        return text;
    }
    for problem in &summary.problems {
        text.push_str(&format!("objection: {}\n", harmless(problem)));
    }
    text.push_str(&format!("all figures: {out}/{SUMMARY}\n"));
    text
}
