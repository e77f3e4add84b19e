//! `chatmill diff`: compares two datasets cell by cell, and evaluates conditions on which a job can fail. `chatmill_report` computes the
//! changes; `lines` prints them.

mod lines;

use std::path::PathBuf;

use chatmill_dataset::Dataset;
use chatmill_report::report::Comparison;
use chatmill_report::{Case, Condition, ConditionFailure, ConditionOutcome, compare};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::report::refuse_other_folders;
use crate::context::Context;
use crate::exit::{CommandError, Exit, Outcome};
use crate::mask::mask;
use crate::prices::price_file;
use crate::{output, terminal};

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/diff.txt").trim_end())]
pub(crate) struct Arguments {
    /// The earlier dataset
    #[arg(value_name = "RUN_A")]
    before: PathBuf,
    /// The later dataset
    #[arg(value_name = "RUN_B")]
    after: PathBuf,
    /// Fails when this condition is true; repeatable
    #[arg(long = "fail-if", value_name = "EXPR", allow_hyphen_values = true)]
    conditions: Vec<String>,
    /// Prices, for conditions on money: a price file (TOML), or the unchanged list of `LiteLLM` or of models.dev
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

/// The format of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Human-readable text
    Text,
    /// Machine-readable JSON
    Json,
    /// For job summaries: at most 40 lines
    Markdown,
}

/// Compares two datasets and evaluates the conditions.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let conditions = arguments.conditions.iter().map(|text| text.parse());
    let conditions: Vec<Condition> = conditions.collect::<Result<_, _>>().map_err(|error| {
        CommandError::request(format!("--fail-if {error}"))
            .then("write for example --fail-if 'tokens{dialect=openai-chat} > 2%'")
    })?;
    for folder in [&arguments.before, &arguments.after] {
        refuse_other_folders(folder)?;
    }
    let prices = price_file(arguments.prices.as_deref(), &[], context)?;
    let before = Dataset::open(&arguments.before)?;
    let after = Dataset::open(&arguments.after)?;
    let mut comparison = compare(&before, &after)?;
    if let Some(mask) = mask(context.global)? {
        comparison.mask_ids(&mut |id| mask.id(id));
    }
    let mut failures = Vec::new();
    if !conditions.is_empty() {
        let case = Case::of(&before, &after, &comparison, &prices, None)?;
        for condition in &conditions {
            let outcome = condition
                .evaluate(&case)
                .map_err(|error| CommandError::request(format!("--fail-if {error}")))?;
            if let ConditionOutcome::Evaluated(found) = outcome {
                failures.extend(found);
            }
        }
    }
    match arguments.format {
        Format::Text => output::print(&lines::text(&comparison, &failures, terminal::table_columns()))?,
        Format::Json => print_json(&comparison, &failures)?,
        Format::Markdown => output::print(&lines::markdown(&comparison, &failures))?,
    }
    Ok(Exit::complete_if(failures.is_empty()))
}

fn print_json(comparison: &Comparison, failures: &[ConditionFailure]) -> Outcome<()> {
    let failures: Vec<_> = failures
        .iter()
        .map(|failure| {
            json!({
                "condition": failure.condition,
                "subject": failure.subject,
                "before": failure.before,
                "after": failure.after,
            })
        })
        .collect();
    output::print_json(&json!({"comparison": comparison, "objections": failures}))
}
