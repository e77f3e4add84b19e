//! `chatmill explain`: the page of a finding code, or the pages of a family.

use chatmill_diag::{codes, page};
use clap::Args;

use crate::exit::Exit;
use crate::{output, selection, terminal};

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill explain RF001\n  chatmill explain dangling-reference\n  chatmill explain TL"
)]
pub(crate) struct Arguments {
    /// The code by its letters and digits or by its name, or the letters of a family (TL)
    #[arg(required_unless_present = "all")]
    code: Option<String>,
    /// Explains every code
    #[arg(long, conflicts_with = "code")]
    all: bool,
}

/// Prints one page, those of a family after what they are about, or all.
pub(crate) fn execute(arguments: &Arguments) -> anyhow::Result<Exit> {
    let pages: Vec<String> = match &arguments.code {
        Some(word) => {
            let family = codes::FAMILIES
                .iter()
                .find(|family| family.letters.eq_ignore_ascii_case(word));
            let codes = selection::named(word)?;
            let pages = codes.into_iter().map(page::code);
            family.map(page::family).into_iter().chain(pages).collect()
        }
        None => codes::CODES.iter().map(|code| page::code(code)).collect(),
    };
    output::print(&terminal::markdown(&pages.join("\n")))?;
    Ok(Exit::Complete)
}
