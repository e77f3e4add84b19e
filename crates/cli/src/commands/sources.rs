//! `chatmill sources`: the input formats, from their registry.

use serde_json::json;

use super::listing::{ListedThing, NamedListing};
use crate::exit::{Exit, Outcome};

/// The examples at the end of the help.
pub(crate) const EXAMPLES: &str = "Examples:\n  chatmill sources\n  chatmill sources whatsapp-text";

/// Lists the sources.
pub(crate) fn execute(listing: &NamedListing) -> Outcome<Exit> {
    let entries = chatmill_source::SOURCES.iter().map(|source| {
        let about = source.about();
        ListedThing {
            name: about.id,
            title: about.title.to_owned(),
            topics: vec![
                ("shapes", about.shapes.join(", ")),
                ("carries", about.carries.to_owned()),
                ("specification", about.specification.to_owned()),
            ],
            json: json!({
                "id": about.id,
                "title": about.title,
                "specification": about.specification,
                "shapes": about.shapes,
                "carries": about.carries,
            }),
        }
    });
    listing.print("source", entries.collect())?;
    Ok(Exit::Complete)
}
