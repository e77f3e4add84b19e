//! `chatmill dialects`: the output dialects, from their registry.

use chatmill_dialect::LossCode;
use serde_json::json;

use super::listing::{ListedThing, NamedListing};
use crate::exit::{Exit, Outcome};
use crate::{output, terminal};

/// The examples at the end of the help.
pub(crate) const EXAMPLES: &str = "Examples:\n  chatmill dialects\n  chatmill dialects openai-chat";

/// Lists the dialects.
pub(crate) fn execute(listing: &NamedListing) -> Outcome<Exit> {
    let entries = chatmill_dialect::known().map(|dialect| {
        let about = dialect.about();
        let profiles: Vec<&str> = about.profile_names().collect();
        let losses = words(dialect.loses());
        ListedThing {
            name: dialect.id(),
            title: format!("{} ({})", about.title, about.media_type),
            topics: vec![
                ("family", about.family.to_owned()),
                ("profiles", profiles.join(", ")),
                ("carries", about.carries.to_owned()),
                ("may lose", losses.clone()),
                (
                    "specification",
                    format!("{}, {}", about.specification, about.dated),
                ),
            ],
            json: json!({
                "id": dialect.id(),
                "title": about.title,
                "family": about.family,
                "media_type": about.media_type,
                "profiles": profiles,
                "has_perspective": !dialect.is_neutral(),
                "carries": about.carries,
                "loses": losses,
                "specification": about.specification,
                "dated": about.dated,
            }),
        }
    });
    listing.print("dialect", entries.collect())?;
    if listing.is_of_lines() {
        let line = "\nA chat template is a dialect too: `[templates.NAME]` in a pipeline file, or `chatmill render --template FILE`.\n";
        output::print(&terminal::prose(line, 0))?;
    }
    Ok(Exit::Complete)
}

/// The kinds of losses that renderings may declare.
fn words(losses: Vec<LossCode>) -> String {
    let words: Vec<&str> = losses.into_iter().map(LossCode::as_str).collect();
    words.join(", ")
}
