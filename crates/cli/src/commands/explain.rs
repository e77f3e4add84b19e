//! `chatmill explain`: the page of a code, or the pages of a family.

use chatmill_diag::{codes, page};
use clap::Args;

use crate::exit::{Exit, WrongRequest};
use crate::{output, terminal, told};

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chatmill explain RF001\n  chatmill explain TL\n  chatmill explain SFT-02"
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
    let (family, findings, others) = if let Some(word) = &arguments.code {
        // What is said of one row may follow the code.
        let word = word.split(": ").next().unwrap_or_default();
        let mut families = codes::FAMILIES.iter();
        let family = families.find(|family| family.letters.eq_ignore_ascii_case(word));
        (family, codes::named(word).unwrap_or_default(), told::named(word))
    } else {
        (None, codes::CODES.to_vec(), told::all())
    };
    if let (Some(word), true, true) = (&arguments.code, findings.is_empty(), others.is_empty()) {
        let unknown = WrongRequest::unknown("code", word, told::near(word));
        return Err(unknown.then("`chatmill rules` lists them").into());
    }
    let pages = family.map(page::family).into_iter();
    let pages = pages.chain(findings.into_iter().map(|code| code.text.to_owned()));
    let pages: Vec<String> = pages.chain(others.iter().map(told::Told::page)).collect();
    output::print(&terminal::markdown(&pages.join("\n")))?;
    Ok(Exit::Complete)
}
