//! `chatmill convert`: archives to files for a trainer, in one step.
//!
//! The archives are converted to a temporary dataset next to the target, which is exported and removed. To cut, select, redact or compare,
//! users write a pipeline: `chatmill init`, `run` and `export` are the same steps one by one.

use std::path::{Path, PathBuf};

use chatmill_dataset::{Dataset, DatasetError, TemporaryDataset, Texts, columns};
use chatmill_diag::suggest::nearest;
use chatmill_diag::{Severity, codes};
use chatmill_engine::pipeline::{self, CountedEncoding, Pipeline};
use chatmill_engine::{Plan, Progress, ReadProblem, ReadProblems, Reporter, RunError, RunOptions, run};
use chatmill_export::{
    ENVELOPES, Envelope, ExportError, ExportRequest, Preferences, begin, check_request, envelope,
};
use clap::Args;
use serde_json::json;

use super::export;
use super::export::row_options::RowOptions;
use super::export::split::planned;
use super::run::{resumable, summary};
use crate::args::MappedInputs;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::mask::dropped::DroppedFile;
use crate::output::{self, shown};
use crate::{read_problems, terminal};

/// Arguments of `convert`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/convert.txt").trim_end())]
pub(crate) struct Arguments {
    /// Files, folders, globs or archives
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<String>,
    /// An envelope (trl-messages, openai-sft, …) or a dialect (hf-messages, chatml, …)
    #[arg(long, value_name = "FORMAT")]
    to: String,
    #[command(flatten)]
    reading: MappedInputs,
    #[command(flatten)]
    rows: RowOptions,
    /// Who speaks as the assistant: id or name of a participant, `auto`, `none`, `each-agent` or `each-participant`
    #[arg(long = "as", value_name = "PARTICIPANT")]
    speaker: Option<String>,
    /// Sets a key of the pipeline that processes the inputs
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    overrides: Vec<String>,
    /// Worker threads; 0 uses all cores
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Keeps the dataset, next to the files, as DIR.dataset
    #[arg(long)]
    keep: bool,
}

/// The pipeline file before any key is set.
const PIPELINE: &str = "name = \"convert\"\ninput = []\n[output]\npath = \"convert\"\n[count]\nencodings = []\n\
                        [perspective]\nas = \"each-agent\"\n[window]\nmode = \"document\"\n";

/// The values of `--as` that are not a participant.
const RULES: [&str; 4] = ["auto", "none", "each-agent", "each-participant"];

/// Runs the pipeline, exports the dataset, and prints a summary of both.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let (envelope, dialect) = target(&arguments.to)?;
    let rows = &arguments.rows;
    let mut request = rows.request(dialect, envelope, [true, !context.global.no_content])?;
    request.convert = Some(options(arguments));
    // Checked first: a wrong argument must not end hours of work.
    check_request(&request)?;
    let files = begin(&rows.out, request.replace)?;
    let permanent = dataset_path(&rows.out);
    let temporary = (!arguments.keep)
        .then(|| TemporaryDataset::beside(&rows.out))
        .transpose()?;
    let folder = temporary.as_ref().map_or(permanent, TemporaryDataset::path);
    let plan = Plan::resolve(
        pipeline(arguments, &request, context)?,
        Path::new("."),
        Some(&folder),
        None,
    )?;
    let beside = plan.read_beside();
    let own = rows.spared().chain(beside.iter().map(PathBuf::as_path));
    let own = own.chain(arguments.reading.files());
    let spared: Vec<&Path> = own.chain(arguments.inputs.iter().map(Path::new)).collect();
    let patterns = (Path::new("."), &arguments.inputs);
    let dropped = DroppedFile::begin(rows.dropped.as_deref(), &spared, patterns, context)?;
    let result = run(
        plan,
        RunOptions {
            threads: arguments.threads,
            parent: temporary.as_ref().map(TemporaryDataset::parent),
            // A dataset at this place is left over from a killed process.
            replace: !arguments.keep || rows.replace,
            report: arguments
                .keep
                .then_some(Reporter(&|folder| chatmill_report::write(folder, None).map(drop))),
            ..RunOptions::default()
        },
        context.meter,
        context.signals.stop(),
    );
    let summary = result.map_err(|error| {
        match error {
            error if arguments.keep => resumable(error),
            // The dataset is removed, and no file was begun.
            RunError::Stopped { .. } => ExportError::Stopped.into(),
            error => error.into(),
        }
    })?;
    let dataset = Dataset::open(&folder)?;
    read_problems::report("not converted", &rejects(&dataset)?);
    let mut text = summary::ledger("convert", &summary, terminal::table_columns());
    let has_rows = is_of_preferences(&request) || summary.totals.renderings > 0;
    if summary.totals.conversations == 0 || !has_rows {
        context.meter.finish();
        let why = if summary.totals.conversations == 0 {
            "no conversation was read".to_owned()
        } else {
            format!("no conversation has a rendering in {}", request.dialect)
        };
        text.push_str(&format!(
            "{}: nothing was written, because {why}\n",
            shown(&rows.out)
        ));
        output::print(&text)?;
        return Ok(Exit::Failed);
    }
    context.meter.stage("export", 0);
    request.split = request.split.map(|split| planned(split, &dataset)).transpose()?;
    let (_, exported, exit) = export::write(
        &dataset,
        &request,
        (files, &rows.out),
        dropped,
        temporary,
        context,
    )?;
    context.meter.finish();
    text.push('\n');
    text.push_str(&exported);
    if arguments.keep {
        text.push_str(&format!("dataset: {}\n", shown(&folder)));
    }
    output::print(&text)?;
    Ok(match exit {
        Exit::Complete => Exit::complete_if(summary.is_within_threshold()),
        failed => failed,
    })
}

columns! {
    struct Rejects {
        input: Texts,
        entry: Texts,
        level: Texts,
        code: Texts,
        message: Texts,
    }
}

/// The records of the inputs that were rejected, and the reasons.
fn rejects(dataset: &Dataset) -> Result<ReadProblems, DatasetError> {
    let mut problems = ReadProblems::default();
    dataset.each_row("rejects", &mut |columns: &Rejects, row| {
        let code = codes::find(columns.code.at(row));
        if let Some(code) = code.filter(|_| columns.level.at(row) == "frame") {
            problems.add(ReadProblem {
                path: columns.input.at(row).to_owned(),
                entry: columns.entry.at(row).to_owned(),
                line: None,
                code: code.code,
                severity: Severity::Error,
                message: columns.message.at(row).to_owned(),
            });
        }
    })?;
    Ok(problems)
}

/// The options of `convert` itself for the card, without paths and names of people.
fn options(arguments: &Arguments) -> Vec<(&'static str, String)> {
    let mut options = vec![("to", arguments.to.clone())];
    options.extend(arguments.reading.options());
    options.extend(arguments.speaker.as_ref().map(|speaker| {
        let is_rule = RULES.contains(&speaker.as_str());
        let speaker = if is_rule { speaker } else { "PARTICIPANT" };
        ("as", speaker.to_owned())
    }));
    let is_word = |value: &str| {
        value
            .chars()
            .all(|sign| sign.is_ascii_alphanumeric() || "._-".contains(sign))
    };
    options.extend(arguments.overrides.iter().map(|set| match set.split_once('=') {
        Some((key, value)) if !is_word(value) => ("set", format!("{key}=VALUE")),
        _ => ("set", set.clone()),
    }));
    options
}

/// Whether the request is for rated answers, which are rendered from the tables.
fn is_of_preferences(request: &ExportRequest) -> bool {
    let envelope = request.envelope;
    envelope.is_some_and(|envelope| envelope.preferences != Preferences::None)
}

/// The folder of the dataset under `--keep`.
fn dataset_path(out: &Path) -> PathBuf {
    let mut path = out.as_os_str().to_owned();
    path.push(".dataset");
    PathBuf::from(path)
}

/// The pipeline with the keys of `--set`; keys that are decided by other options cannot be set.
fn pipeline(arguments: &Arguments, request: &ExportRequest, context: &Context<'_>) -> Outcome<Pipeline> {
    let mut overrides = arguments.overrides.clone();
    if let Some(speaker) = &arguments.speaker {
        let is_rule = RULES.contains(&speaker.as_str());
        let named = if is_rule { json!(speaker) } else { json!([speaker]) };
        overrides.push(format!("perspective.as={named}"));
    }
    let mut pipeline = pipeline::parse(PIPELINE, &overrides, Path::new("--set"))?;
    arguments
        .reading
        .reading(context.global)?
        .hand_to(&mut pipeline, &arguments.inputs);
    pipeline.render.dialects = vec![request.dialect.clone()];
    // Encodings are counted if token counts are used in columns or in limits.
    let windows = pipeline.window.max_tokens.as_ref();
    let windows = windows.and_then(|most| most.encoding.clone());
    let columns = request.columns.iter().filter_map(|column| {
        let column = column.strip_prefix("sent_").unwrap_or(column);
        column.strip_prefix("tokens_")
    });
    let limit = request.filters.max_tokens.as_ref();
    let limits = limit.map(|limit| limit.encoding.as_str()).into_iter();
    for encoding in columns.chain(limits).chain(windows.as_deref()) {
        let encoding = chatmill_token::find(encoding);
        let name = encoding.map(|encoding| CountedEncoding::Named(encoding.name().to_owned()));
        let counted = &mut pipeline.count.encodings;
        counted.extend(name.filter(|name| !counted.contains(name)));
    }
    if !arguments.keep {
        let tables: &[&str] = if is_of_preferences(request) {
            &[
                "conversations",
                "messages",
                "message_references",
                "alternatives",
                "losses",
            ]
        } else if request.split.is_some() {
            // Parts are compared by the texts of people and agents.
            &[
                "conversations",
                "messages",
                "alternatives",
                "renderings",
                "losses",
            ]
        } else {
            &["conversations", "renderings", "losses"]
        };
        pipeline.output.tables = Some(tables.iter().map(|table| (*table).to_owned()).collect());
    }
    Ok(pipeline)
}

/// The envelope and dialect of `--to`, or a dialect alone.
fn target(to: &str) -> Outcome<(Option<&'static Envelope>, String)> {
    if let Some(envelope) = envelope::find(to) {
        let dialect = envelope.dialects.first().copied().unwrap_or_default();
        let with_profile = |profile: &str| format!("{dialect}@{profile}");
        return Ok((
            Some(envelope),
            envelope.profile.map_or(dialect.to_owned(), with_profile),
        ));
    }
    if chatmill_dialect::find(to).is_some() {
        return Ok((None, to.to_owned()));
    }
    let envelopes: Vec<&str> = ENVELOPES.iter().map(|envelope| envelope.id).collect();
    let dialects = chatmill_dialect::known().map(chatmill_dialect::Dialect::id);
    let known = envelopes.iter().copied().chain(dialects);
    Err(
        CommandError::unknown("format", to, nearest(to, known)).then(format!(
            "name one of {}, or a dialect that `chatmill dialects` lists",
            envelopes.join(", ")
        )),
    )
}
