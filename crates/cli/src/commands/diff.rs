//! `chatmill diff`: two datasets, cell by cell, and conditions that a job can fail on.

mod lines;

use std::path::PathBuf;

use chatmill_dataset::Dataset;
use chatmill_report::report::Comparison;
use chatmill_report::{Condition, Objection, compare};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::Context;
use super::report::refuse_other_folders;
use crate::exit::{Exit, WrongRequest};
use crate::mask::mask;
use crate::output;

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                        chatmill diff out/last-night out/tonight\n  \
                        chatmill diff old new --fail-if 'tokens_common > 2%' --fail-if 'findings.error > 0'\n  \
                        chatmill diff old new --format markdown >> \"$SUMMARY\"\n\n\
                        A condition is METRIC[{dialect=ID,encoding=NAME}] OP NUMBER[%] and looks at the change from RUN_A\n\
                        to RUN_B. Metrics: tokens, tokens_per_message, tokens_common (conversations in both runs),\n\
                        findings.error, rejects, conversations. Operators: > >= < <= == !=. A true one exits 1.")]
pub(crate) struct Arguments {
    /// The earlier dataset
    #[arg(value_name = "RUN_A")]
    before: PathBuf,
    /// The later dataset
    #[arg(value_name = "RUN_B")]
    after: PathBuf,
    /// Fails when this is true of the change; may be given several times
    #[arg(long = "fail-if", value_name = "EXPR", allow_hyphen_values = true)]
    conditions: Vec<String>,
    /// Form of the comparison
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

/// Form of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// For job summaries: at most 40 lines
    Markdown,
}

/// Compares two datasets and judges the conditions.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    let conditions = arguments
        .conditions
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<Condition>, _>>()
        .map_err(|error| {
            WrongRequest::new(format!("--fail-if {error}"))
                .then("write for example --fail-if 'tokens{dialect=openai-chat} > 2%'")
        })?;
    for folder in [&arguments.before, &arguments.after] {
        refuse_other_folders(folder)?;
    }
    let mut comparison = compare(
        &Dataset::open(&arguments.before)?,
        &Dataset::open(&arguments.after)?,
    )?;
    if let Some(mask) = mask(context.global)? {
        comparison.mask_ids(&mut |id| mask.id(id));
    }
    let mut objections = Vec::new();
    for condition in &conditions {
        let found = condition
            .judge(&comparison)
            .map_err(|error| WrongRequest::new(format!("--fail-if {error}")))?;
        objections.extend(found);
    }
    match arguments.format {
        Format::Text => output::print(&lines::text(&comparison, &objections))?,
        Format::Json => print_json(&comparison, &objections)?,
        Format::Markdown => output::print(&lines::markdown(&comparison, &objections))?,
    }
    Ok(if objections.is_empty() {
        Exit::Complete
    } else {
        Exit::Objection
    })
}

fn print_json(comparison: &Comparison, objections: &[Objection]) -> anyhow::Result<()> {
    let objections: Vec<_> = objections
        .iter()
        .map(|objection| {
            json!({
                "condition": objection.condition,
                "subject": objection.subject,
                "before": objection.before,
                "after": objection.after,
            })
        })
        .collect();
    output::print_json(&json!({"comparison": comparison, "objections": objections}))
}
