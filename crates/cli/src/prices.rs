//! Reads the price files that a command line or a pipeline file names.

use std::path::Path;

use chatmill_engine::pipeline::NightSection;
use chatmill_report::bill::PriceList;
use chatmill_token::Encoding;

use crate::context::Context;
use crate::exit::{self, CommandError, Outcome};

/// The size limit of a price file, in bytes: the list of `LiteLLM` has 3.5 MB.
const PRICE_FILE: u64 = 32 << 20;

/// The prices of a file, for the encodings of the registry and for `own` ones; empty if no file is named. Entries that are not understood
/// are noted.
pub(crate) fn price_file(path: Option<&Path>, own: &[Encoding], context: &Context<'_>) -> Outcome<PriceList> {
    let Some(path) = path else {
        return Ok(PriceList::default());
    };
    let refused = |reason: String| {
        CommandError::request(format!("--prices {}: {reason}", path.display()))
            .then("docs/prices.example.toml is an example")
    };
    let text = exit::small_file(path, PRICE_FILE, |error| refused(error.to_string()))?;
    let prices = PriceList::parse(&text, own).map_err(|error| refused(error.to_string()))?;
    if let Some(remark) = prices.remark() {
        context.note(&format!("{}: {remark}", path.display()));
    }
    Ok(prices)
}

/// The prices that a pipeline file names for its nights, relative to the file; empty if it names none.
pub(crate) fn prices_of_nights(
    pipeline: &Path,
    section: &NightSection,
    own: &[Encoding],
    context: &Context<'_>,
) -> Outcome<PriceList> {
    let base = pipeline.parent().unwrap_or(Path::new(""));
    let prices = section.prices.as_ref().map(|prices| base.join(prices));
    price_file(prices.as_deref(), own, context)
}
