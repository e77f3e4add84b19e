//! `chatmill rules`: the finding codes, from their registry.

use chatmill_diag::codes;
use serde_json::json;

use crate::args::{ListFormat, Listing};
use crate::exit::Exit;
use crate::{output, terminal};

/// Examples at the end of the help.
pub(crate) const EXAMPLES: &str =
    "Examples:\n  chatmill rules\n  chatmill rules --format json\n  chatmill rules | grep error";

/// Lists the codes.
pub(crate) fn execute(listing: &Listing) -> anyhow::Result<Exit> {
    match listing.format {
        ListFormat::Text => {
            let longest = codes::CODES
                .iter()
                .map(|code| code.name.len())
                .max()
                .unwrap_or_default();
            let mut text = String::new();
            for code in codes::CODES {
                let line = format!(
                    "{}  {:<longest$}  {:<7}  {}",
                    code.code,
                    code.name,
                    code.severity.as_str(),
                    code.page.what
                );
                let indentation = longest + "IN001".len() + "warning".len() + 6;
                text.push_str(&terminal::prose(&line, indentation));
                text.push('\n');
            }
            output::print(&text)?;
        }
        ListFormat::Json => {
            let rules: Vec<_> = codes::CODES
                .iter()
                .map(|code| {
                    json!({
                        "code": code.code,
                        "name": code.name,
                        "severity": code.severity.as_str(),
                        "what": code.page.what,
                        "why": code.page.why,
                        "example": code.page.example,
                        "does": code.page.does,
                        "fix": code.page.fix,
                    })
                })
                .collect();
            output::print_json(&rules)?;
        }
    }
    Ok(Exit::Complete)
}
