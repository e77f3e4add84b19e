//! `chatmill encodings`: the token encodings, from their registry.

use serde_json::json;

use crate::args::{ListFormat, Listing};
use crate::exit::Exit;
use crate::{figures, output};

/// Examples at the end of the help.
pub const EXAMPLES: &str = "Examples:\n  chatmill encodings\n  chatmill encodings --format json";

/// Lists the encodings.
pub fn execute(listing: &Listing) -> anyhow::Result<Exit> {
    match listing.format {
        ListFormat::Text => {
            let mut text = String::new();
            for encoding in chatmill_token::ENCODINGS {
                let about = encoding.about();
                text.push_str(&format!(
                    "{}: {}\n    models      {}\n    vocabulary  {} tokens\n    source      {}\n",
                    encoding.name(),
                    about.title,
                    about.models,
                    figures::count(about.vocabulary.into()),
                    about.source
                ));
            }
            output::print(&text)?;
        }
        ListFormat::Json => {
            let encodings: Vec<_> = chatmill_token::ENCODINGS
                .iter()
                .map(|encoding| {
                    let about = encoding.about();
                    json!({
                        "name": encoding.name(),
                        "title": about.title,
                        "models": about.models,
                        "vocabulary": about.vocabulary,
                        "source": about.source,
                    })
                })
                .collect();
            output::print_json(&encodings)?;
        }
    }
    Ok(Exit::Complete)
}
