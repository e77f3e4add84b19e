//! Price files that a command line or a pipeline file names.

use std::path::Path;

use chatmill_report::bill::{Price, parse_prices};
use chatmill_token::Encoding;

use crate::exit::{self, WrongRequest};

/// Bytes of a price file at most.
const PRICE_FILE: u64 = 1 << 20;

/// The prices of a file, for encodings of the registry and for those of `own`.
pub(crate) fn price_file(path: &Path, own: &[Encoding]) -> anyhow::Result<Vec<Price>> {
    let refused = |reason: String| {
        WrongRequest::new(format!("--prices {}: {reason}", path.display()))
            .then("docs/prices.example.toml shows the form")
    };
    let text = exit::small_file(path, PRICE_FILE, |error| refused(error.to_string()))?;
    Ok(parse_prices(&text, own).map_err(|error| refused(error.to_string()))?)
}
