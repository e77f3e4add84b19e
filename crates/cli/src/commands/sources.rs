//! `chatmill sources`: the input formats, from their registry.

use serde_json::json;

use crate::args::{ListFormat, Listing};
use crate::exit::{Exit, Outcome};
use crate::{output, terminal};

/// Examples at the end of the help.
pub(crate) const EXAMPLES: &str = "Examples:\n  chatmill sources\n  chatmill sources --format json";

/// Lists the sources.
pub(crate) fn execute(listing: &Listing) -> Outcome<Exit> {
    let sources = chatmill_source::SOURCES.iter();
    match listing.format {
        ListFormat::Text => {
            let text = sources.map(|source| {
                let about = source.about();
                format!(
                    "{}: {}\n    shapes         {}\n    carries        {}\n    specification  {}\n",
                    source.id(),
                    about.title,
                    about.shapes.join(", "),
                    about.carries,
                    about.specification
                )
            });
            output::print(&terminal::prose(&text.collect::<String>(), 19))?;
        }
        ListFormat::Json => {
            let sources = sources.map(|source| {
                let about = source.about();
                json!({
                    "id": source.id(),
                    "title": about.title,
                    "specification": about.specification,
                    "shapes": about.shapes,
                    "carries": about.carries,
                })
            });
            output::print_json(&sources.collect::<Vec<_>>())?;
        }
    }
    Ok(Exit::Complete)
}
