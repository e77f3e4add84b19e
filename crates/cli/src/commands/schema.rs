//! `chatmill schema`: prints the JSON Schema of the pipeline file, of `chatmill.toml`, of the report or of format files, or the columns of
//! a table.

use chatmill_diag::suggest::nearest;
use chatmill_engine::pipeline::{self, Config};
use clap::Args;

use crate::exit::{CommandError, Exit, Outcome};
use crate::output;

/// The schemas that are not tables.
const PIPELINE: &str = "pipeline";
const CONFIG: &str = "config";
const REPORT: &str = "report";
const FORMAT: &str = "format";

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill schema pipeline > pipeline.schema.json\n  chatmill schema findings"
)]
pub(crate) struct Arguments {
    /// `pipeline`, `config`, `report`, `format` or the name of a table; without it, the names are listed
    name: Option<String>,
}

/// Prints a schema, or the list of schemas.
pub(crate) fn execute(arguments: &Arguments) -> Outcome<Exit> {
    match arguments.name.as_deref() {
        None => output::print(&names().collect::<Vec<_>>().join("\n"))?,
        Some(PIPELINE) => output::print_json(&pipeline::schema())?,
        Some(CONFIG) => output::print_json(&Config::schema())?,
        Some(FORMAT) => output::print_json(&chatmill_source::format_schema())?,
        Some(REPORT) => output::print_json(&chatmill_report::schema())?,
        Some(name) => {
            let page = chatmill_dataset::describe(name).ok_or_else(|| unknown(name))?;
            output::print(&page)?;
        }
    }
    Ok(Exit::Complete)
}

fn names() -> impl Iterator<Item = &'static str> {
    [PIPELINE, CONFIG, REPORT, FORMAT]
        .into_iter()
        .chain(chatmill_dataset::TABLES.iter().copied())
}

fn unknown(name: &str) -> CommandError {
    let known = names().collect::<Vec<_>>().join(", ");
    CommandError::unknown("schema", name, nearest(name, names())).then(format!("there are {known}"))
}
