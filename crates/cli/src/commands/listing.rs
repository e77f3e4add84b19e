//! Lists of named things: a line for each, and a description of the one that is asked for.

use chatmill_diag::suggest::nearest;
use clap::Args;
use serde_json::Value;

use crate::args::{ListFormat, Listing};
use crate::exit::{CommandError, Outcome};
use crate::{output, terminal};

/// The arguments of a list of named things.
#[derive(Debug, Args)]
pub(crate) struct NamedListing {
    /// Name of the entry to describe; without it, all are listed, one per line
    #[arg(value_name = "ID")]
    name: Option<String>,
    #[command(flatten)]
    listing: Listing,
}

/// An entry of a list.
pub(super) struct ListedThing<'e> {
    pub(super) name: &'e str,
    pub(super) title: String,
    /// Its properties, each with a topic and a text.
    pub(super) topics: Vec<(&'static str, String)>,
    pub(super) json: Value,
}

impl NamedListing {
    /// Whether the list is printed as text, with a line for each entry.
    pub(super) fn is_of_lines(&self) -> bool {
        self.name.is_none() && matches!(self.listing.format, ListFormat::Text)
    }

    /// Prints the entries, or the single one that is asked for; `what` is the noun for error messages.
    pub(super) fn print(&self, what: &str, mut entries: Vec<ListedThing<'_>>) -> Outcome<()> {
        if let Some(name) = &self.name {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            if !names.contains(&name.as_str()) {
                return Err(CommandError::unknown(
                    what,
                    name,
                    nearest(name, names.into_iter()),
                ));
            }
            entries.retain(|entry| entry.name == name);
        }
        if matches!(self.listing.format, ListFormat::Json) {
            let list: Vec<Value> = entries.into_iter().map(|entry| entry.json).collect();
            output::print_json(&list)?;
        } else if self.is_of_lines() {
            let widest = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
            let lines = entries.iter().map(|entry| {
                let line = format!("{:widest$}  {}", entry.name, entry.title);
                terminal::clipped(&line) + "\n"
            });
            output::print(&lines.collect::<String>())?;
        } else {
            let blocks = entries.iter().map(|entry| {
                let topics = entry.topics.iter();
                let topics = topics.map(|(topic, text)| format!("    {topic:<15}{text}\n"));
                format!("{}: {}\n{}", entry.name, entry.title, topics.collect::<String>())
            });
            output::print(&terminal::prose(&blocks.collect::<String>(), 19))?;
        }
        Ok(())
    }
}
