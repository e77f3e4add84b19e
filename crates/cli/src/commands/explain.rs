//! `chatmill explain`: the page of a finding code, or the pages of a family.

use chatmill_diag::codes;
use clap::Args;

use crate::exit::Exit;
use crate::{output, selection};

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill explain RF001\n  chatmill explain dangling-reference\n  chatmill explain RF"
)]
pub(crate) struct Arguments {
    /// The code by its letters and digits or by its name, or the letters of a family (RF)
    #[arg(required_unless_present = "all")]
    code: Option<String>,
    /// Explains every code
    #[arg(long, conflicts_with = "code")]
    all: bool,
}

/// Prints one page, or all.
pub(crate) fn execute(arguments: &Arguments) -> anyhow::Result<Exit> {
    let pages: Vec<String> = match &arguments.code {
        Some(word) => selection::named(word)?
            .iter()
            .map(|code| code.page_markdown())
            .collect(),
        None => codes::CODES.iter().map(|code| code.page_markdown()).collect(),
    };
    output::print(&pages.join("\n"))?;
    Ok(Exit::Complete)
}
