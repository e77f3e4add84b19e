//! `chatmill dialects`: the output dialects, from their registry.

use chatmill_dialect::LossCode;
use serde_json::json;

use crate::args::{ListFormat, Listing};
use crate::exit::{Exit, Outcome};
use crate::{output, terminal};

/// Examples at the end of the help.
pub(crate) const EXAMPLES: &str = "Examples:\n  chatmill dialects\n  chatmill dialects --format json";

/// Lists the dialects.
pub(crate) fn execute(listing: &Listing) -> Outcome<Exit> {
    let dialects = chatmill_dialect::DIALECTS.iter();
    match listing.format {
        ListFormat::Text => {
            let mut text = String::new();
            for dialect in dialects {
                let about = dialect.about();
                text.push_str(&format!(
                    "{}: {} ({})\n    family         {}\n    profiles       {}\n    carries        {}\n    may lose       {}\n    \
                     specification  {}, {}\n",
                    dialect.id(),
                    about.title,
                    about.media_type,
                    about.family,
                    about.profile_names().collect::<Vec<_>>().join(", "),
                    about.carries,
                    words(dialect.loses()),
                    about.specification,
                    about.dated
                ));
            }
            text.push_str(
                "A chat template is a dialect too: `[templates.NAME]` in a pipeline file, or `chatmill render --template FILE`.\n",
            );
            output::print(&terminal::prose(&text, 19))?;
        }
        ListFormat::Json => {
            let dialects = dialects.map(|dialect| {
                let about = dialect.about();
                json!({
                    "id": dialect.id(),
                    "title": about.title,
                    "family": about.family,
                    "media_type": about.media_type,
                    "profiles": about.profile_names().collect::<Vec<_>>(),
                    "has_perspective": !dialect.is_neutral(),
                    "carries": about.carries,
                    "loses": words(dialect.loses()),
                    "specification": about.specification,
                    "dated": about.dated,
                })
            });
            output::print_json(&dialects.collect::<Vec<_>>())?;
        }
    }
    Ok(Exit::Complete)
}

/// The kinds of losses that renderings may declare.
fn words(losses: Vec<LossCode>) -> String {
    let words: Vec<&str> = losses.into_iter().map(LossCode::as_str).collect();
    words.join(", ")
}
