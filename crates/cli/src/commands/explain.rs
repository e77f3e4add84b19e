//! `chatmill explain`: the page of a code, or the pages of a family.

use chatmill_diag::{codes, page};
use clap::Args;

use crate::exit::{CommandError, Exit, Outcome};
use crate::other_codes::{self, OtherCode};
use crate::{output, terminal};

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chatmill explain RF001\n  chatmill explain TL")]
pub(crate) struct Arguments {
    /// Code (RF001, SFT-02, name-inlined, `select.min_turns`), name (dangling-reference), or the letters of a family (TL, ANT)
    #[arg(required_unless_present = "all")]
    code: Option<String>,
    /// Explains every code
    #[arg(long, conflicts_with = "code")]
    all: bool,
}

/// Prints the page of a code, the pages of a family after its introduction, or all pages.
pub(crate) fn execute(arguments: &Arguments) -> Outcome<Exit> {
    let (family, findings, others) = if let Some(word) = &arguments.code {
        // In reports, details of a row may follow the code.
        let word = word.split(": ").next().unwrap_or_default();
        let mut families = codes::FAMILIES.iter();
        let family = families.find(|family| family.prefix.eq_ignore_ascii_case(word));
        let mut findings = codes::named(word).unwrap_or_default();
        // Letters alone name a family; a word with digits must be a whole code.
        let is_family = word.bytes().all(|byte| byte.is_ascii_alphabetic());
        findings.retain(|code| is_family || code.name == word || code.code.len() == word.len());
        (family, findings, other_codes::named(word))
    } else {
        (None, codes::CODES.to_vec(), other_codes::all().iter().collect())
    };
    if let (Some(word), true, true) = (&arguments.code, findings.is_empty(), others.is_empty()) {
        let near = codes::named(word).map_or_else(|near| near, |begun| begun.first().map(|code| code.code));
        let unknown = CommandError::unknown("code", word, other_codes::near(word).or(near));
        return Err(unknown.then("`chatmill rules` lists them"));
    }
    let pages = family.map(page::family).into_iter();
    let pages = pages.chain(findings.into_iter().map(|code| code.text.to_owned()));
    let pages: Vec<String> = pages.chain(others.into_iter().map(OtherCode::page)).collect();
    output::print(&terminal::markdown(&pages.join("\n")))?;
    Ok(Exit::Complete)
}
