//! Price files in chatmill's format: TOML with a `[[price]]` table for each price, its source, and the date on which it was read.

use std::collections::BTreeMap;

use chatmill_diag::settings_error;
use chatmill_model::ServiceTier;
use chatmill_token::Encoding;
use jiff::civil::Date;
use serde::Deserialize;
use thiserror::Error;

use super::{Price, Rates};

/// A price as it is in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    model: String,
    #[serde(default)]
    aliases: Vec<String>,
    encoding: Option<String>,
    currency: String,
    per_million: f64,
    per_million_cached_input: Option<f64>,
    per_million_cache_write: Option<f64>,
    per_million_cache_write_1h: Option<f64>,
    per_million_output: Option<f64>,
    #[serde(default)]
    above: Vec<RateKeys>,
    batch: Option<RateKeys>,
    per_request: Option<f64>,
    per_search: Option<f64>,
    batch_discount: Option<f64>,
    from: Option<String>,
    until: Option<String>,
    date: String,
    source: String,
}

/// The rates of requests above a number of tokens, or of batches.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RateKeys {
    tokens: Option<u64>,
    per_million: Option<f64>,
    per_million_cached_input: Option<f64>,
    per_million_cache_write: Option<f64>,
    per_million_cache_write_1h: Option<f64>,
    per_million_output: Option<f64>,
}

impl RateKeys {
    /// The rates. Cached tokens cost as much as others if the file has no price for them.
    fn rates(&self, is_cached_as_input: bool) -> Result<Rates, (&'static str, String)> {
        let input = self.per_million.filter(|_| is_cached_as_input);
        let rates = [
            ("per_million", self.per_million),
            (
                "per_million_cached_input",
                self.per_million_cached_input.or(input),
            ),
            ("per_million_cache_write", self.per_million_cache_write),
            ("per_million_cache_write_1h", self.per_million_cache_write_1h),
            ("per_million_output", self.per_million_output),
        ];
        for (key, rate) in rates {
            number(key, rate)?;
        }
        let [input, cached_input, cache_write, cache_write_1h, output] = rates.map(|(_, rate)| rate);
        Ok(Rates {
            input,
            cached_input,
            cache_write,
            cache_write_1h,
            output,
        })
    }
}

/// The reason why a price file cannot be used: neither TOML nor a known list, an unknown key, or an invalid value.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct PriceError(pub(super) String);

/// The highest price in any currency, so that every cost is a finite number.
pub(super) const MOST_PRICE: f64 = 1e12;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    price: Vec<PriceEntry>,
}

/// Reads a price file; encodings are those of the registry or of `own`.
pub(super) fn read(text: &str, own: &[Encoding]) -> Result<Vec<Price>, PriceError> {
    let file: PriceFile =
        toml::from_str(text).map_err(|error| PriceError(settings_error(text, &error.to_string())))?;
    let first = file.price.first().map(|first| first.currency.clone());
    let mut prices = Vec::new();
    for (index, entry) in file.price.into_iter().enumerate() {
        let (number, model) = (index + 1, entry.model.clone());
        let invalid = |(key, reason): (&str, String)| {
            PriceError(format!("price {number} (`{model}`): {key}: {reason}"))
        };
        if let Some(first) = first.as_ref().filter(|first| **first != entry.currency) {
            let text = format!(
                "a bill has one currency: this is {}, and the first price is {first}",
                entry.currency
            );
            return Err(invalid(("currency", text)));
        }
        prices.push(price(entry, own).map_err(invalid)?);
    }
    Ok(prices)
}

/// The price of an entry, or the key with an invalid value and the reason.
fn price(entry: PriceEntry, own: &[Encoding]) -> Result<Price, (&'static str, String)> {
    let refused = |key, reason: &str| Err((key, reason.to_owned()));
    if !entry
        .batch_discount
        .is_none_or(|part| (0.0..=1.0).contains(&part))
    {
        return refused("batch_discount", "it must be a share from 0 to 1");
    }
    if let Some(encoding) = &entry.encoding
        && !own.iter().any(|own| own.name() == encoding)
        && chatmill_token::find(encoding).is_none()
    {
        let text = format!("there is no encoding `{encoding}`; `chatmill encodings` lists them");
        return Err(("encoding", text));
    }
    let day = |key: &'static str, text: Option<&String>| -> Result<Option<Date>, (&'static str, String)> {
        let day = text.map(|text| text.parse::<Date>()).transpose();
        day.map_err(|_| (key, "it must be a day, for example 2026-01-31".to_owned()))
    };
    day("date", Some(&entry.date))?;
    let (from, until) = (
        day("from", entry.from.as_ref())?,
        day("until", entry.until.as_ref())?,
    );
    if from.zip(until).is_some_and(|(from, until)| from > until) {
        return refused("until", "it is before `from`");
    }
    if entry.source.trim().is_empty() {
        return refused("source", "name the source of the price");
    }
    let base = RateKeys {
        tokens: None,
        per_million: Some(entry.per_million),
        per_million_cached_input: entry.per_million_cached_input,
        per_million_cache_write: entry.per_million_cache_write,
        per_million_cache_write_1h: entry.per_million_cache_write_1h,
        per_million_output: entry.per_million_output,
    };
    let mut rates = BTreeMap::from([((ServiceTier::Standard, 0), base.rates(true)?)]);
    if let Some(batch) = &entry.batch {
        if batch.tokens.is_some() || batch.per_million.is_none() {
            return refused("batch", "it needs `per_million`, and no `tokens`");
        }
        rates.insert((ServiceTier::Batch, 0), batch.rates(true)?);
    }
    for tier in &entry.above {
        let above = tier.rates(entry.per_million_cached_input.is_none())?;
        let tokens = tier.tokens.filter(|tokens| *tokens > 0);
        if tokens.is_none_or(|tokens| rates.insert((ServiceTier::Standard, tokens), above).is_some()) {
            return refused("above", "each tier needs a different number of `tokens`, above 0");
        }
    }
    number("per_request", entry.per_request)?;
    number("per_search", entry.per_search)?;
    Ok(Price {
        date: Some(entry.date),
        source: entry.source,
        model: entry.model,
        aliases: entry.aliases,
        encoding: entry.encoding,
        currency: entry.currency,
        rates,
        per_request: entry.per_request,
        per_search: entry.per_search,
        batch_discount: entry.batch_discount,
        from,
        until,
    })
}

fn number(key: &'static str, price: Option<f64>) -> Result<(), (&'static str, String)> {
    if price.is_none_or(|price| (0.0..=MOST_PRICE).contains(&price)) {
        Ok(())
    } else {
        Err((key, "it must be a number from 0 to 1e12".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bill::{Terms, Unpriced};
    use chatmill_model::BilledUsage;

    const GOOD: &str = "[[price]]\nmodel = \"m\"\nencoding = \"o200k_base\"\ncurrency = \"USD\"\nper_million = 2.5\n\
                        date = \"2026-01-31\"\nsource = \"our contract\"\n";

    fn price(lines: &str) -> Price {
        read(&format!("{GOOD}{lines}\n"), &[]).unwrap().swap_remove(0)
    }

    #[test]
    fn costs_follow_the_prices_of_the_file() {
        let usage = BilledUsage {
            input: 2_000_000,
            cached_input: 1_000_000,
            output: 1_000_000,
            requests: 100,
            ..BilledUsage::default()
        };
        let nothing_known = price("").cost_of_logged(&usage, Terms::BASE, 0);
        assert_eq!(nothing_known, Err(Unpriced::Kind("output tokens")));
        for (lines, estimate, logged) in [
            ("per_million_output = 10", 15.0, 15.0),
            (
                "per_million_output = 10\nper_million_cached_input = 0.25",
                15.0,
                12.75,
            ),
            ("per_million_output = 0\nper_request = 0.01", 6.0, 6.0),
            (
                "per_million_output = 10\nper_request = 0.01\nbatch_discount = 0.25",
                12.0,
                12.0,
            ),
        ] {
            let price = price(lines);
            assert!((price.estimate(&usage) - estimate).abs() < 1e-9, "{lines}");
            let cost = price.cost_of_logged(&usage, Terms::BASE, 0).unwrap();
            assert!((cost - logged).abs() < 1e-9, "{lines}");
        }
        assert!((price("").estimate(&usage) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn writes_to_caches_searches_batches_and_long_requests_have_prices_of_their_own() {
        let all = price(
            "per_million_output = 10\nper_million_cached_input = 0.25\nper_million_cache_write = 3\n\
             per_million_cache_write_1h = 5\nper_search = 0.01\nbatch = { per_million = 1, per_million_output = 4 }\n\
             above = [{ tokens = 200000, per_million = 4, per_million_output = 20 }, { tokens = 500000, per_million = 8 }]",
        );
        let usage = BilledUsage {
            input: 1_000_000,
            cached_input: 100_000,
            cache_write: 200_000,
            cache_write_1h: 300_000,
            output: 10_000,
            searches: 3,
            requests: 1,
            ..BilledUsage::default()
        };
        let cost_of = |terms, longest| all.cost_of_logged(&usage, terms, longest);
        let near =
            |found: Result<f64, Unpriced>, cost: f64| assert!((found.unwrap() - cost).abs() < 1e-9, "{cost}");
        near(cost_of(Terms::BASE, 0), 1.0 + 0.025 + 0.6 + 1.5 + 0.1 + 0.03);
        let above = |above| Terms { above, ..Terms::BASE };
        // A rate that a tier does not have is that of the tier below.
        near(
            cost_of(above(Some(200_000)), 0),
            1.6 + 0.025 + 0.6 + 1.5 + 0.2 + 0.03,
        );
        near(
            cost_of(above(Some(700_000)), 0),
            3.2 + 0.025 + 0.6 + 1.5 + 0.2 + 0.03,
        );
        // For a sum, the cost is known only if no request was long.
        near(
            cost_of(above(None), 200_000),
            1.0 + 0.025 + 0.6 + 1.5 + 0.1 + 0.03,
        );
        assert_eq!(cost_of(above(None), 200_001), Err(Unpriced::Length(200_000)));
        let batch = Terms {
            tier: Some(ServiceTier::Batch),
            ..Terms::BASE
        };
        assert_eq!(cost_of(batch, 0), Err(Unpriced::Kind("requests of batches")));
        let lines = BilledUsage {
            input: 1_000_000,
            output: 10_000,
            ..BilledUsage::default()
        };
        near(all.cost_of_logged(&lines, batch, 0), 1.04);
    }

    #[test]
    fn a_kind_that_was_logged_and_has_no_price_is_named() {
        let price = price("per_million_output = 10");
        let usage = BilledUsage {
            input: 10,
            ..BilledUsage::default()
        };
        for (usage, kind) in [
            (
                BilledUsage {
                    cache_write: 1,
                    ..usage
                },
                "cache writes",
            ),
            (
                BilledUsage {
                    cache_write_1h: 1,
                    ..usage
                },
                "cache writes of an hour",
            ),
        ] {
            assert_eq!(
                price.cost_of_logged(&usage, Terms::BASE, 0),
                Err(Unpriced::Kind(kind))
            );
        }
        assert!(price.cost_of_logged(&usage, Terms::BASE, 0).is_ok());
        let terms = Terms {
            tier: Some(ServiceTier::Batch),
            ..Terms::BASE
        };
        let discounted = self::price("per_million_output = 10\nbatch_discount = 0.5");
        assert!(discounted.cost_of_logged(&usage, terms, 0).is_ok());
        for (tier, kind) in [
            (ServiceTier::Batch, "requests of batches"),
            (ServiceTier::Priority, "requests of the tier `priority`"),
        ] {
            let terms = Terms {
                tier: Some(tier),
                ..Terms::BASE
            };
            let cost = price.cost_of_logged(&usage, terms, 0);
            assert_eq!(cost, Err(Unpriced::Kind(kind)));
        }
    }

    #[test]
    fn the_highest_price_that_a_table_holds_cost_a_finite_number() {
        let price = read(
            &GOOD.replace("2.5", "1e12\nper_million_output = 1e12\nper_request = 1e12"),
            &[],
        )
        .unwrap();
        let most = i64::MAX.unsigned_abs();
        let usage = BilledUsage {
            input: most,
            output: most,
            requests: most,
            ..BilledUsage::default()
        };
        assert!(price[0].estimate(&usage).is_finite());
        assert!(
            price[0]
                .cost_of_logged(&usage, Terms::BASE, 0)
                .unwrap()
                .is_finite()
        );
    }

    #[test]
    fn a_list_in_two_currencies_is_refused() {
        let second = GOOD.replace("USD", "EUR").replace("\"m\"", "\"n\"");
        let error = read(&format!("{GOOD}{second}"), &[]).unwrap_err().to_string();
        assert!(
            error.contains("EUR") && error.contains("USD") && error.contains("`n`"),
            "{error}"
        );
    }

    #[test]
    fn the_price_list_that_we_ship_is_readable_and_marked_as_an_example() {
        let text = include_str!("../../../../../docs/prices.example.toml");
        assert!(read(text, &[]).unwrap().len() > 1);
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
            (
                "2.5",
                "2.5\nper_million_cache_write = -1",
                "per_million_cache_write",
            ),
            ("2.5", "2.5\nper_search = inf", "per_search"),
            ("2.5", "2.5\nbatch = { per_million = nan }", "per_million"),
            ("2.5", "2.5\nbatch = { per_million_output = 1 }", "batch"),
            ("2.5", "2.5\nabove = [{ per_million = 1 }]", "above"),
            ("2.5", "2.5\nabove = [{ tokens = 0, per_million = 1 }]", "above"),
            ("2.5", "2.5\nabove = [{ tokens = 5 }, { tokens = 5 }]", "above"),
            ("2.5", "2.5\nfrom = \"soon\"", "from"),
            (
                "2.5",
                "2.5\nfrom = \"2026-02-01\"\nuntil = \"2026-01-31\"",
                "until",
            ),
        ];
        for (old, new, key) in broken {
            let error = read(&GOOD.replace(old, new), &[]).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("`m`"), "{error}");
        }
        let unknown = read(&format!("{GOOD}discount = 3\n"), &[]).unwrap_err();
        assert!(unknown.to_string().contains("discount"));
    }
}
