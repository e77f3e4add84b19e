//! `chatmill rules`: lists the finding codes of the registry, and the codes that are not findings, by family.

use chatmill_diag::Code;
use chatmill_diag::codes::{self, Family};
use serde_json::json;

use crate::args::{ListFormat, Listing};
use crate::exit::{Exit, Outcome};
use crate::{other_codes, output, terminal};

/// The examples at the end of the help.
pub(crate) const EXAMPLES: &str = "Examples:\n  chatmill rules\n  chatmill rules --format json";

/// Lists the codes by family.
pub(crate) fn execute(listing: &Listing) -> Outcome<Exit> {
    match listing.format {
        ListFormat::Text => output::print(&text())?,
        ListFormat::Json => {
            let findings = codes::CODES.iter().map(|code| {
                json!({
                    "code": code.code,
                    "kind": "finding",
                    "family": family_of(code).map(|family| family.prefix),
                    "name": code.name,
                    "severity": code.severity.as_str(),
                    "what": code.page.what,
                    "why": code.page.why,
                    "example": code.page.example,
                    "does": code.page.does,
                    "fix": code.page.fix,
                })
            });
            let others = other_codes::all().iter().map(|other| {
                json!({"code": other.code, "kind": other.kind, "family": other.family(), "of": other.of, "what": other.meaning, "fix": other.advice})
            });
            output::print_json(&findings.chain(others).collect::<Vec<_>>())?;
        }
    }
    Ok(Exit::Complete)
}

fn family_of(code: &Code) -> Option<&'static Family> {
    codes::FAMILIES.iter().find(|family| family.holds(code))
}

/// The codes as text, each family under its title.
fn text() -> String {
    let longest = codes::CODES.iter().map(|code| code.name.len());
    let longest = longest.max().unwrap_or_default();
    let mut text = String::new();
    let mut last = String::new();
    let mut head = |text: &mut String, title: String| {
        if last != title {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{title}\n"));
            last = title;
        }
    };
    for code in codes::CODES {
        let family = family_of(code);
        head(
            &mut text,
            family.map_or_else(String::new, |family| {
                format!("{} ({})", family.about, family.prefix)
            }),
        );
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
    let others = other_codes::all();
    let longest = others.iter().map(|other| other.code.len());
    let longest = longest.max().unwrap_or_default();
    for other in others {
        head(&mut text, other.title());
        let line = format!("{:<longest$}  {:<8}  {}", other.code, other.kind, other.meaning);
        text.push_str(&terminal::prose(&line, longest + "envelope".len() + 4));
        text.push('\n');
    }
    text
}
