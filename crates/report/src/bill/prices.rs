//! Price files: what a million tokens cost, according to whom, and since when.
//!
//! A price holds for one encoding; what is not counted in that encoding has no price. Prices are the user's: none is
//! built in, and a price list that we ship is an example.

use chatmill_token::Encoding;
use serde::Deserialize;
use thiserror::Error;

/// What a million tokens cost.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// What is paid for, for example a model.
    pub model: String,
    /// The encoding whose tokens are paid for.
    pub encoding: String,
    /// Currency, for example `USD`.
    pub currency: String,
    /// Price of a million tokens that are sent.
    pub per_million: f64,
    /// Price of a million tokens that the model writes; none where it is not known.
    pub per_million_output: Option<f64>,
    /// The day on which the price was read, `YYYY-MM-DD`.
    pub date: String,
    /// Where it was read.
    pub source: String,
}

impl Price {
    /// What so many tokens cost.
    pub fn of(&self, tokens: u64) -> f64 {
        tokens as f64 * self.per_million / 1_000_000.0
    }

    /// What requests cost that send and are answered by so many tokens; answers cost nothing where their price is not known.
    pub fn of_requests(&self, sent: u64, answers: u64) -> f64 {
        let output = self.per_million_output.unwrap_or_default();
        self.of(sent) + answers as f64 * output / 1_000_000.0
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    price: Vec<Price>,
}

/// Why a price file cannot be used.
#[derive(Debug, Error)]
pub enum PriceError {
    /// It is not a TOML, or not of this shape.
    #[error("{0}")]
    Shape(String),
    /// A value makes no sense.
    #[error("price {number} (`{model}`): {key}: {reason}")]
    Value {
        /// Which price, from 1.
        number: usize,
        /// Its model.
        model: String,
        /// The key.
        key: &'static str,
        /// A clause that says why.
        reason: String,
    },
}

/// Reads a price file: TOML with one `[[price]]` table per price, each for an encoding of the registry or one of `own`.
pub fn parse_prices(text: &str, own: &[Encoding]) -> Result<Vec<Price>, PriceError> {
    let file: PriceFile =
        toml::from_str(text).map_err(|error| PriceError::Shape(error.to_string().trim_end().to_owned()))?;
    for (index, price) in file.price.iter().enumerate() {
        let fault = |key, reason: &str| PriceError::Value {
            number: index + 1,
            model: price.model.clone(),
            key,
            reason: reason.to_owned(),
        };
        let is_price = |number: f64| number.is_finite() && number >= 0.0;
        if !is_price(price.per_million) {
            return Err(fault("per_million", "it must be a number from 0 on"));
        }
        if !price.per_million_output.is_none_or(is_price) {
            return Err(fault("per_million_output", "it must be a number from 0 on"));
        }
        let is_own = own.iter().any(|encoding| encoding.name() == price.encoding);
        if !is_own && chatmill_token::find(&price.encoding).is_none() {
            return Err(fault(
                "encoding",
                &format!(
                    "there is no encoding `{}`; `chatmill encodings` lists them",
                    price.encoding
                ),
            ));
        }
        if price.date.parse::<jiff::civil::Date>().is_err() {
            return Err(fault("date", "it must be a day, for example 2026-01-31"));
        }
        if price.source.trim().is_empty() {
            return Err(fault("source", "say where the price was read"));
        }
    }
    Ok(file.price)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[[price]]\nmodel = \"m\"\nencoding = \"o200k_base\"\ncurrency = \"USD\"\nper_million = 2.5\n\
                        date = \"2026-01-31\"\nsource = \"our contract\"\n";

    #[test]
    fn a_million_tokens_cost_what_the_file_says() {
        let prices = parse_prices(GOOD, &[]).unwrap();
        assert!((prices[0].of(2_000_000) - 5.0).abs() < 1e-9);
        assert!((prices[0].of_requests(2_000_000, 1_000_000) - 5.0).abs() < 1e-9);
        let both = parse_prices(&format!("{GOOD}per_million_output = 10\n"), &[]).unwrap();
        assert!((both[0].of_requests(2_000_000, 1_000_000) - 15.0).abs() < 1e-9);
    }

    #[test]
    fn the_price_list_that_we_ship_is_readable_and_says_that_it_is_an_example() {
        let text = include_str!("../../../../docs/prices.example.toml");
        assert!(parse_prices(text, &[]).unwrap().len() > 1);
        assert!(text.contains("EXAMPLES"));
    }

    #[test]
    fn a_price_without_its_origin_or_sense_is_refused() {
        let broken = [
            ("2.5", "-2.5", "per_million"),
            ("2.5", "inf", "per_million"),
            ("2.5", "2.5\nper_million_output = -1", "per_million_output"),
            ("o200k_base", "o201k_base", "encoding"),
            ("2026-01-31", "last week", "date"),
            ("our contract", " ", "source"),
        ];
        for (old, new, key) in broken {
            let error = parse_prices(&GOOD.replace(old, new), &[])
                .unwrap_err()
                .to_string();
            assert!(error.contains(key) && error.contains("`m`"), "{error}");
        }
        let unknown = parse_prices(&format!("{GOOD}discount = 3\n"), &[]).unwrap_err();
        assert!(unknown.to_string().contains("discount"));
    }
}
