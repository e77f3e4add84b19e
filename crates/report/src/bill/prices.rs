//! Price files: the price of a million tokens, its source, and the date since which it holds.
//!
//! A price holds for one encoding; renderings that are not counted in it have no price. Prices come from the
//! user: none is built in, and the price list in the repository is an example.

use chatmill_token::Encoding;
use serde::Deserialize;
use thiserror::Error;

/// The price of a million tokens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The name of the priced product, for example a model.
    pub model: String,
    /// The encoding whose tokens are paid for.
    pub encoding: String,
    /// Currency, for example `USD`.
    pub currency: String,
    /// Price of a million tokens that are sent.
    pub per_million: f64,
    /// Price of a million tokens that are sent and read from a cache; none where they cost what all others do.
    pub per_million_cached_input: Option<f64>,
    /// Price of a million tokens that the model writes; none where it is not known.
    pub per_million_output: Option<f64>,
    /// Price of a request, whatever its length.
    pub per_request: Option<f64>,
    /// The share that is taken off everything, from 0 to 1: what a batch costs less.
    pub batch_discount: Option<f64>,
    /// The day on which the price was read, `YYYY-MM-DD`.
    pub date: String,
    /// The source of the price.
    pub source: String,
}

impl Price {
    /// The cost of tokens that are sent.
    pub fn of(&self, tokens: u64) -> f64 {
        self.cost(&BilledUsage {
            input: tokens,
            ..BilledUsage::default()
        })
    }

    /// The cost of requests; answers cost nothing where their price is not known.
    pub fn cost(&self, usage: &BilledUsage) -> f64 {
        let cached = usage.cached_input.min(usage.input);
        let cached_price = self.per_million_cached_input.unwrap_or(self.per_million);
        let tokens = (usage.input - cached) as f64 * self.per_million
            + cached as f64 * cached_price
            + usage.output as f64 * self.per_million_output.unwrap_or_default();
        let requests = usage.requests as f64 * self.per_request.unwrap_or_default();
        (tokens / 1_000_000.0 + requests) * (1.0 - self.batch_discount.unwrap_or_default())
    }

    /// Why the tokens of an encoding, which a model is known to have written or not, have no price here; none where they have.
    pub fn refuses(&self, encoding: &str, model: Option<&str>) -> Option<Unpriced> {
        let is_dated = |model: &str| {
            let rest = model.strip_prefix(self.model.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@', ':']))
        };
        if self.encoding != encoding {
            Some(Unpriced::Encoding)
        } else if model.is_some_and(|model| !is_dated(model)) {
            Some(Unpriced::Model)
        } else {
            None
        }
    }
}

/// Requests and tokens that a price applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BilledUsage {
    /// Tokens that are sent.
    pub input: u64,
    /// The input tokens that are read from a cache.
    pub cached_input: u64,
    /// Tokens that the model writes.
    pub output: u64,
    /// Requests.
    pub requests: u64,
}

/// Why there is no price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpriced {
    /// The price is that of another encoding.
    Encoding,
    /// The price is that of another model.
    Model,
}

impl Unpriced {
    /// The reason, as a clause.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Encoding => "its price is for tokens of another encoding",
            Self::Model => "another model wrote it",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    price: Vec<Price>,
}

/// Why a price file cannot be used: no TOML, an unknown key, or a value that makes no sense.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct PriceError(String);

/// The highest price in any currency, so that every cost is a finite number.
const MOST_PRICE: f64 = 1e12;

/// Reads a price file: TOML with one `[[price]]` table per price, each for an encoding of the registry or one of `own`.
pub fn parse_prices(text: &str, own: &[Encoding]) -> Result<Vec<Price>, PriceError> {
    let file: PriceFile =
        toml::from_str(text).map_err(|error| PriceError(error.to_string().trim_end().to_owned()))?;
    for (index, price) in file.price.iter().enumerate() {
        let (number, model) = (index + 1, &price.model);
        let invalid = |key, reason: &str| PriceError(format!("price {number} (`{model}`): {key}: {reason}"));
        let is_price = |number: f64| (0.0..=MOST_PRICE).contains(&number);
        let numbers = [
            ("per_million", Some(price.per_million)),
            ("per_million_cached_input", price.per_million_cached_input),
            ("per_million_output", price.per_million_output),
            ("per_request", price.per_request),
        ];
        let wrong = numbers
            .into_iter()
            .find(|(_, number)| !number.is_none_or(is_price));
        if let Some((key, _)) = wrong {
            return Err(invalid(key, "it must be a number from 0 to 1e12"));
        }
        let discount = price.batch_discount;
        if !discount.is_none_or(|fraction| (0.0..=1.0).contains(&fraction)) {
            return Err(invalid("batch_discount", "it must be a share from 0 to 1"));
        }
        let first = file.price.first();
        if let Some(first) = first.filter(|first| first.currency != price.currency) {
            let text = format!(
                "a bill has one currency: this is {}, and the first price is {}",
                price.currency, first.currency
            );
            return Err(invalid("currency", &text));
        }
        let is_own = own.iter().any(|encoding| encoding.name() == price.encoding);
        if !is_own && chatmill_token::find(&price.encoding).is_none() {
            return Err(invalid(
                "encoding",
                &format!(
                    "there is no encoding `{}`; `chatmill encodings` lists them",
                    price.encoding
                ),
            ));
        }
        if price.date.parse::<jiff::civil::Date>().is_err() {
            return Err(invalid("date", "it must be a day, for example 2026-01-31"));
        }
        if price.source.trim().is_empty() {
            return Err(invalid("source", "name the source of the price"));
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
    fn costs_follow_the_prices_of_the_file() {
        let prices = parse_prices(GOOD, &[]).unwrap();
        assert!((prices[0].of(2_000_000) - 5.0).abs() < 1e-9);
        let usage = BilledUsage {
            input: 2_000_000,
            cached_input: 1_000_000,
            output: 1_000_000,
            requests: 100,
        };
        assert!((prices[0].cost(&usage) - 5.0).abs() < 1e-9);
        for (line, money) in [
            ("per_million_output = 10", 15.0),
            ("per_million_cached_input = 0.25", 2.75),
            ("per_request = 0.01", 6.0),
            ("batch_discount = 0.5", 2.5),
            (
                "per_million_output = 10\nper_request = 0.01\nbatch_discount = 0.25",
                12.0,
            ),
        ] {
            let prices = parse_prices(&format!("{GOOD}{line}\n"), &[]).unwrap();
            assert!((prices[0].cost(&usage) - money).abs() < 1e-9, "{line}");
        }
    }

    #[test]
    fn the_highest_price_that_a_table_holds_cost_a_finite_number() {
        let price = parse_prices(&GOOD.replace("2.5", "1e12\nper_request = 1e12"), &[]).unwrap();
        let most = i64::MAX.unsigned_abs();
        let usage = BilledUsage {
            input: most,
            cached_input: 0,
            output: most,
            requests: most,
        };
        assert!(price[0].cost(&usage).is_finite() && price[0].of(u64::MAX).is_finite());
    }

    #[test]
    fn a_price_of_another_encoding_or_model_is_refused_with_the_reason() {
        let price = &parse_prices(GOOD, &[]).unwrap()[0];
        assert_eq!(price.refuses("o200k_base", None), None);
        assert_eq!(price.refuses("o200k_base", Some("m-2026-01-01")), None);
        assert_eq!(price.refuses("o200k_base", Some("mini")), Some(Unpriced::Model));
        assert_eq!(price.refuses("cl100k_base", Some("m")), Some(Unpriced::Encoding));
    }

    #[test]
    fn a_list_in_two_currencies_is_refused() {
        let second = GOOD.replace("USD", "EUR").replace("\"m\"", "\"n\"");
        let error = parse_prices(&format!("{GOOD}{second}"), &[])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("EUR") && error.contains("USD") && error.contains("`n`"),
            "{error}"
        );
    }

    #[test]
    fn the_price_list_that_we_ship_is_readable_and_marked_as_an_example() {
        let text = include_str!("../../../../docs/prices.example.toml");
        assert!(parse_prices(text, &[]).unwrap().len() > 1);
        assert!(text.contains("EXAMPLES"));
    }

    #[test]
    fn a_price_without_its_origin_or_sense_is_refused() {
        let broken = [
            ("2.5", "-2.5", "per_million"),
            ("2.5", "inf", "per_million"),
            ("2.5", "nan", "per_million"),
            ("2.5", "1e308", "per_million"),
            ("2.5", "2.5\nper_request = 1e13", "per_request"),
            ("2.5", "2.5\nper_million_output = -1", "per_million_output"),
            ("2.5", "2.5\nper_request = -1", "per_request"),
            ("2.5", "2.5\nbatch_discount = 1.5", "batch_discount"),
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
