//! `chatmill tokens`: what conversations cost in each dialect and encoding, from files or from a finished dataset.

mod bill;
mod logged;
mod source;

use std::path::{Path, PathBuf};

use chatmill_dataset::is_dataset;
use chatmill_engine::{Plan, Templates};
use chatmill_report::bill::{BillBy, TEXT, savings};
use clap::{Args, ValueEnum};

use crate::args::{Choices, Inputs, choice};
use crate::context::Context;
use crate::exit::{Exit, WrongRequest, refuse};
use crate::mask::mask;
use crate::output;
use crate::prices::price_file;
use crate::terminal;

/// The encoding that counts when none is named.
const ENCODING: &str = "o200k_base";

/// Arguments of `tokens`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/tokens.txt").trim_end())]
pub(crate) struct Arguments {
    /// Files, folders, globs, archives, `-` for stdin, or finished datasets
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Dialects to price; without it, all of them; `text` is what is said, called and answered before any dialect renders it
    #[arg(long = "dialect", value_name = "ID[@PROFILE]")]
    dialects: Vec<String>,
    /// Encodings to count in; without it, `o200k_base`, or those of the dataset
    #[arg(long = "encoding", value_name = "NAME")]
    encodings: Vec<String>,
    /// What to bill apart, one thing or two; participant, role and tool bill the text itself, before any dialect renders it
    #[arg(long, value_parser = choice(BY), value_delimiter = ',', value_name = "WHAT")]
    by: Vec<BillBy>,
    /// Show so many groups, those of the most tokens, and one for the rest
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Zone of days: an IANA name or an offset such as `+02:00`
    #[arg(long, default_value = "UTC", allow_hyphen_values = true, value_name = "ZONE")]
    zone: String,
    /// Threads; 0 for as many as the machine gives
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Pipeline file that says how conversations are read, selected, windowed, said and counted
    #[arg(long, value_name = "FILE")]
    pipeline: Option<PathBuf>,
    /// Price file (TOML), to add money
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    #[command(flatten)]
    reading: Inputs,
    /// Form of the bill
    #[arg(long, value_enum, default_value = "table", value_name = "FORMAT")]
    format: Format,
}

/// What may be billed apart.
const BY: Choices<BillBy> = &[
    ("source", "The source that read a conversation", BillBy::Source),
    ("conversation", "The conversation", BillBy::Conversation),
    ("participant", "Who sent a message", BillBy::Participant),
    ("role", "The role of who sent it", BillBy::Role),
    ("tool", "The tool that is called", BillBy::Tool),
    (
        "day",
        "The day of a message, or of the answer to a request",
        BillBy::Day,
    ),
    (
        "model",
        "The model that wrote an answer, or was asked",
        BillBy::Model,
    ),
    (
        "room",
        "The room: conversations of one title, else the conversation",
        BillBy::Room,
    ),
    ("input", "The input that a conversation came from", BillBy::Input),
];

/// Form of a bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

/// Prices what the paths hold.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    let by = &arguments.by;
    let text = refuse_by(by, &arguments.dialects)?;
    let zone = chatmill_source::time_zone(&arguments.zone).ok_or_else(|| {
        WrongRequest::new(format!("--zone: there is no zone `{}`", arguments.zone))
            .then("give an IANA name (Europe/Kyiv) or an offset (+02:00)")
    })?;
    let pipeline = arguments.pipeline.as_deref();
    let plan = pipeline.map(|path| load(arguments, path)).transpose()?;
    let own = plan.as_ref().map_or(&[][..], |plan| &plan.encodings);
    let prices = arguments.prices.as_deref().map(|path| price_file(path, own));
    let prices = prices.transpose()?.unwrap_or_default();
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
        targets,
        plan: plan.as_ref(),
        text,
        zone,
    };
    let drawn = source::draw(&request, context)?;
    let total = drawn.bill.total().rows();
    let mut rows = match arguments.top {
        Some(groups) => drawn.bill.top(groups).rows(),
        None => drawn.bill.rows(),
    };
    if let Some(mask) = mask(context.global)? {
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
        savings: &savings(&rows),
        not_counted: &drawn.not_counted,
        columns: terminal::table_columns(),
    };
    match arguments.format {
        Format::Table => output::print(&lines.table())?,
        Format::Json => output::print_json(&lines.json())?,
        Format::Csv => output::print_file(&lines.csv())?,
    }
    Ok(drawn.conclude())
}

/// The pipeline with the paths as its inputs; a dataset needs none of them.
fn load(arguments: &Arguments, path: &Path) -> anyhow::Result<Plan> {
    let mut typed = Vec::new();
    for path in &arguments.paths {
        if !is_dataset(Path::new(path))? {
            typed.push(path.clone());
        }
    }
    if arguments.reading.source != "auto" {
        return refuse(
            "--source and --pipeline both say how inputs are read",
            "leave one of them out",
        );
    }
    Ok(Plan::load(path, &[], None, &typed)?)
}

/// Whether text is billed before any dialect renders it; what cannot be billed together is refused.
fn refuse_by(by: &[BillBy], dialects: &[String]) -> Result<bool, WrongRequest> {
    if by.len() > 2 {
        return refuse("a bill is divided by two things at most", "leave out a --by");
    }
    if let [one, other] = by
        && one == other
    {
        return refuse(format!("--by {} is there twice", one.noun()), "leave one out");
    }
    let is_text = |word: &String| word == TEXT;
    if dialects.iter().any(is_text) {
        return if dialects.iter().all(is_text) {
            Ok(true)
        } else {
            refuse(
                "text and dialects are not billed together",
                "give one of them at a time",
            )
        };
    }
    let of_text = by.iter().find(|by| by.is_of_text());
    if let Some(by) = of_text.filter(|_| !dialects.is_empty()) {
        let by = by.noun();
        let message = format!(
            "--by {by} bills the text before any dialect renders it: a rendering belongs to no single {by}"
        );
        return refuse(message, "leave out --dialect");
    }
    Ok(of_text.is_some())
}
