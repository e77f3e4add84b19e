//! `chatmill tokens`: what conversations cost in each dialect and encoding, from files or from a finished dataset.

mod bill;
mod source;

use std::path::PathBuf;

use chatmill_engine::Plan;
use chatmill_engine::plan::Target;
use chatmill_report::bill::{BillBy, savings};
use clap::{Args, ValueEnum};

use super::Context;
use crate::exit::{Exit, WrongRequest};
use crate::mask::mask;
use crate::output;
use crate::prices::price_file;

/// The encoding that counts when none is named.
const ENCODING: &str = "o200k_base";

/// Arguments of `tokens`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                        chatmill tokens exports/ --dialect openai-chat --dialect gryag-compact\n  \
                        chatmill tokens out/demo --by source --format csv\n  \
                        chatmill tokens chat.json --by participant --prices docs/prices.example.toml")]
pub(crate) struct Arguments {
    /// Files, folders, globs, archives, `-` for stdin, or one finished dataset
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Dialects to price; without it, all of them
    #[arg(long = "dialect", value_name = "ID[@PROFILE]")]
    dialects: Vec<String>,
    /// Encodings to count in; without it, `o200k_base`, or those of the dataset
    #[arg(long = "encoding", value_name = "NAME")]
    encodings: Vec<String>,
    /// What to bill apart; participant, role and tool bill the text itself, before any dialect renders it
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<ByWord>,
    /// Pipeline file whose dialects and encodings are meant; its templates and own encodings have names then
    #[arg(long, value_name = "FILE")]
    pipeline: Option<PathBuf>,
    /// Price file (TOML), to add money
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Source id; `auto` detects by content
    #[arg(long, default_value = "auto", value_name = "ID")]
    source: String,
    /// Form of the bill
    #[arg(long, value_enum, default_value = "table", value_name = "FORMAT")]
    format: Format,
}

/// What is billed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByWord {
    /// The source that read a conversation
    Source,
    /// The conversation
    Conversation,
    /// Who sent a message
    Participant,
    /// The role of who sent it
    Role,
    /// The tool that is called
    Tool,
    /// The day on which a conversation begins, in UTC
    Day,
}

impl From<ByWord> for BillBy {
    fn from(word: ByWord) -> Self {
        match word {
            ByWord::Source => Self::Source,
            ByWord::Conversation => Self::Conversation,
            ByWord::Participant => Self::Participant,
            ByWord::Role => Self::Role,
            ByWord::Tool => Self::Tool,
            ByWord::Day => Self::Day,
        }
    }
}

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
    let by = arguments.by.map(BillBy::from).unwrap_or_default();
    if by.is_of_text() && !arguments.dialects.is_empty() {
        let message = format!(
            "--by {} bills the text before any dialect renders it: a rendering belongs to no single {}",
            by.noun(),
            by.noun()
        );
        return Err(WrongRequest::new(message).then("leave out --dialect").into());
    }
    let plan = arguments.pipeline.as_deref();
    let plan = plan.map(|path| Plan::load(path, &[], None)).transpose()?;
    let (templates, planned, own) = plan.map_or_else(Default::default, |plan| {
        (plan.templates, plan.targets, plan.encodings)
    });
    let prices = arguments
        .prices
        .as_deref()
        .map(|path| price_file(path, &own))
        .transpose()?
        .unwrap_or_default();
    let mut targets = arguments
        .dialects
        .iter()
        .map(|word| Target::find_among(word, &templates))
        .collect::<Result<Vec<_>, _>>()?;
    if targets.is_empty() && !by.is_of_text() {
        targets = planned;
    }
    let request = source::BillRequest {
        paths: &arguments.paths,
        source: &arguments.source,
        targets,
        encodings: &arguments.encodings,
        own,
        by,
    };
    let drawn = source::draw(&request, context)?;
    let mut rows = drawn.bill.rows();
    if let Some(mask) = mask(context.global)?.filter(|_| by.is_of_ids()) {
        for row in rows.iter_mut().filter(|row| !row.group.is_empty()) {
            row.group = mask.id(&row.group);
        }
    }
    let lines = bill::Lines {
        by,
        rows: &rows,
        prices: &prices,
        savings: &savings(&rows),
        not_counted: &drawn.not_counted,
    };
    match arguments.format {
        Format::Table => output::print(&lines.table())?,
        Format::Json => output::print_json(&lines.json())?,
        Format::Csv => output::print_file(&lines.csv())?,
    }
    Ok(drawn.conclude())
}
