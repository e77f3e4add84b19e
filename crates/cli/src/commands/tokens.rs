//! `chatmill tokens`: prints the cost of conversations in each dialect and encoding, from files or from a finished dataset. `source` makes
//! the bill, `bill` prints it, `money` and `logged` have its columns of costs and of logged requests.

mod bill;
mod logged;
mod money;
mod source;

use std::path::{Path, PathBuf};

use chatmill_dataset::is_dataset;
use chatmill_engine::{InputReading, Plan, Templates};
use chatmill_report::bill::{BillBy, TEXT, savings};
use clap::{Args, ValueEnum};

use crate::args::{Choices, Inputs, choice};
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome, refuse};
use crate::mask::mask;
use crate::output;
use crate::prices::price_file;
use crate::terminal;

/// The encoding that is used if none is named.
const ENCODING: &str = "o200k_base";

/// Arguments of `tokens`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/tokens.txt").trim_end())]
pub(crate) struct Arguments {
    /// Files, folders, globs, archives, `-` for stdin, or finished datasets
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Dialects to price [default: all]; `text` is the plain text of messages, calls and results, before rendering
    #[arg(long = "dialect", value_name = "ID[@PROFILE]")]
    dialects: Vec<String>,
    /// Encodings to count in [default: `o200k_base`, or those of the dataset]
    #[arg(long = "encoding", value_name = "NAME")]
    encodings: Vec<String>,
    /// Groups the bill by one or two things; participant, role and tool group the plain text, before rendering
    #[arg(long, value_parser = choice(BY), value_delimiter = ',', value_name = "WHAT")]
    by: Vec<BillBy>,
    /// Shows the N groups with the most tokens, and one group for the rest
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Time zone of days: an IANA name or an offset such as `+02:00`
    #[arg(long, default_value = "UTC", allow_hyphen_values = true, value_name = "ZONE")]
    zone: String,
    /// Worker threads; 0 uses all cores
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Pipeline file with the settings for reading, selection, windows, rendering and counting
    #[arg(long, value_name = "FILE")]
    pipeline: Option<PathBuf>,
    /// Prices, to add money: a price file (TOML), or the unchanged list of `LiteLLM` or of models.dev
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    #[command(flatten)]
    reading: Inputs,
    /// Output format
    #[arg(long, value_enum, default_value = "table", value_name = "FORMAT")]
    format: Format,
}

/// The values of `--by`.
const BY: Choices<BillBy> = &[
    ("source", "The source that read a conversation", BillBy::Source),
    ("conversation", "The conversation", BillBy::Conversation),
    ("participant", "Who sent a message", BillBy::Participant),
    ("role", "The role of the sender", BillBy::Role),
    ("tool", "The tool that is called", BillBy::Tool),
    (
        "day",
        "The day of a message, or of the answer to a request",
        BillBy::Day,
    ),
    (
        "model",
        "The model that wrote an answer, or that a request was sent to",
        BillBy::Model,
    ),
    (
        "room",
        "The chat room: conversations with the same title, else the conversation",
        BillBy::Room,
    ),
    ("input", "The input that a conversation came from", BillBy::Input),
];

/// The format of a bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Human-readable table
    Table,
    /// Machine-readable JSON
    Json,
    /// CSV for spreadsheets
    Csv,
}

/// Prices the contents of the paths.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let by = &arguments.by;
    let text = refuse_by(by, &arguments.dialects)?;
    let zone = chatmill_source::time_zone(&arguments.zone).ok_or_else(|| {
        CommandError::request(format!("--zone: there is no time zone `{}`", arguments.zone))
            .then("give an IANA name (Europe/Kyiv) or an offset (+02:00)")
    })?;
    let pipeline = arguments.pipeline.as_deref();
    let reading = arguments.reading.reading(pipeline, context.global)?;
    let plan = pipeline.map(|path| load(arguments, &reading, path)).transpose()?;
    let own = plan.as_ref().map_or(&[][..], |plan| &plan.encodings);
    let prices = price_file(arguments.prices.as_deref(), own, context)?;
    let no_templates = Templates::default();
    let templates = plan.as_ref().map_or(&no_templates, |plan| &plan.templates);
    let mut targets = arguments
        .dialects
        .iter()
        .filter(|_| !text)
        .map(|word| templates.find(word))
        .collect::<Result<Vec<_>, _>>()?;
    if let (true, Some(plan)) = (targets.is_empty() && !text, &plan) {
        targets.clone_from(&plan.targets);
    }
    let request = source::BillRequest {
        arguments,
        reading: &reading,
        targets,
        plan: plan.as_ref(),
        text,
        zone,
        division: prices.division(),
    };
    let drawn = source::draw(&request, context)?;
    let total = drawn.bill.total().rows();
    let mut rows = match arguments.top {
        Some(groups) => drawn.bill.top(groups).rows(),
        None => drawn.bill.rows(),
    };
    let mask = mask(context.global)?;
    let shown_model = |model: &str| match &mask {
        Some(mask) if !model.is_empty() => mask.id(model),
        _ => model.to_owned(),
    };
    if let Some(mask) = &mask {
        let is_masked = |place: usize, group: &str| {
            by.get(place).is_some_and(|by| by.is_of_ids()) && !group.is_empty() && !group.starts_with('(')
        };
        for row in &mut rows {
            if is_masked(0, &row.group) {
                row.group = mask.id(&row.group);
            }
            if is_masked(1, &row.second) {
                row.second = mask.id(&row.second);
            }
            (row.name, row.second_name) = (None, None);
        }
    }
    let lines = bill::BillLines {
        by,
        text,
        rows: &rows,
        total: &total,
        prices: &prices,
        shown_model: &shown_model,
        savings: &savings(&rows),
        not_counted: &drawn.not_counted,
        columns: terminal::table_columns(),
    };
    match arguments.format {
        Format::Table => output::print(&lines.table())?,
        Format::Json => output::print_json(&lines.json())?,
        Format::Csv => output::print_file(&lines.csv())?,
    }
    Ok(drawn.report_exit())
}

/// The pipeline with the paths as its inputs; a dataset needs no inputs.
fn load(arguments: &Arguments, reading: &InputReading, path: &Path) -> Outcome<Plan> {
    let mut typed = Vec::new();
    for path in &arguments.paths {
        if !is_dataset(Path::new(path))? {
            typed.push(path.clone());
        }
    }
    if arguments.reading.source != "auto" {
        return refuse(
            "--source and --pipeline both define how inputs are read",
            "leave one of them out",
        );
    }
    if typed.is_empty() {
        return Ok(Plan::load(path, &[], None, &[])?);
    }
    Ok(reading.plan_over(&typed, path)?)
}

/// Whether the bill is for text, before any dialect renders it. Combinations that cannot be billed together are refused.
fn refuse_by(by: &[BillBy], dialects: &[String]) -> Outcome<bool> {
    if by.len() > 2 {
        return refuse("a bill is grouped by two things at most", "remove a --by");
    }
    if let [one, other] = by
        && one == other
    {
        return refuse(format!("--by {} is given twice", one.noun()), "remove one");
    }
    let is_text = |word: &String| word == TEXT;
    if dialects.iter().any(is_text) {
        return if dialects.iter().all(is_text) {
            Ok(true)
        } else {
            refuse(
                "`text` and dialects cannot be billed together",
                "give one of them at a time",
            )
        };
    }
    let of_text = by.iter().find(|by| by.is_of_text());
    if let Some(by) = of_text.filter(|_| !dialects.is_empty()) {
        let by = by.noun();
        let message = format!("--by {by} bills the plain text: a rendering belongs to more than one {by}");
        return refuse(message, "leave out --dialect");
    }
    Ok(of_text.is_some())
}
