//! Price files that a command line or a pipeline file names.

use std::path::Path;

use chatmill_engine::pipeline::NightSection;
use chatmill_report::bill::{Price, parse_prices};
use chatmill_token::Encoding;

use crate::exit::{self, CommandError, Outcome};

/// Bytes of a price file at most.
const PRICE_FILE: u64 = 1 << 20;

/// The prices of a file, for encodings of the registry and for those of `own`; none where no file is named.
pub(crate) fn price_file(path: Option<&Path>, own: &[Encoding]) -> Outcome<Vec<Price>> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let refused = |reason: String| {
        CommandError::request(format!("--prices {}: {reason}", path.display()))
            .then("docs/prices.example.toml is an example")
    };
    let text = exit::small_file(path, PRICE_FILE, |error| refused(error.to_string()))?;
    parse_prices(&text, own).map_err(|error| refused(error.to_string()))
}

/// The prices that a pipeline file names for its nights, relative to itself; none where it names none.
pub(crate) fn prices_of_nights(
    pipeline: &Path,
    section: &NightSection,
    own: &[Encoding],
) -> Outcome<Vec<Price>> {
    let base = pipeline.parent().unwrap_or(Path::new(""));
    let prices = section.prices.as_ref().map(|prices| base.join(prices));
    price_file(prices.as_deref(), own)
}
