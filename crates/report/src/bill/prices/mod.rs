//! Prices: the model to which a price belongs, and the cost of tokens at a price.
//!
//! All prices come from the user: none is built in, and the price list in the repository is an example. [`file`] reads price files of
//! chatmill, [`lists`] the lists of other projects, and [`names`] decides whether two names mean the same model. Only tokens, requests and
//! searches have prices here.

mod file;
mod lists;
mod names;

use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{BilledUsage, ServiceTier};
use chatmill_token::Encoding;
use jiff::civil::Date;
use thiserror::Error;

pub use file::PriceError;

/// The reason why tokens have no price, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum Unpriced {
    /// No price has a name of the model.
    #[error("no price has this name")]
    Name,
    /// Several prices with different rates match.
    #[error("the prices of {0} and {1} both fit, and differ")]
    Several(String, String),
    /// The price is that of another encoding.
    #[error("its price is for tokens of another encoding")]
    Encoding,
    /// The price has no encoding, and the tokens were counted here.
    #[error("its price names no encoding, so only logged tokens have a price")]
    NoEncoding,
    /// No price of the model is valid on this day.
    #[error("none of its prices holds on {0}")]
    Day(String),
    /// The price depends on the day, which is not known.
    #[error("its price depends on the day, which is not known")]
    Undated,
    /// A kind of tokens or requests has no price.
    #[error("its price has none for {0}")]
    Kind(&'static str),
    /// The price depends on the lengths of requests, of which only the sum is known.
    #[error("it costs more above {0} tokens in a request, and only sums are known here: give the files")]
    Length(u64),
    /// The requests were served in different tiers, and only their sum is known.
    #[error(
        "its requests were served in several ways (batch, flex, priority), and only sums are known here: give the files"
    )]
    Tiers,
    /// The model is not known, and a list of all models is not applied as a whole.
    #[error("its model is not known, and a list of all models is not applied as a whole")]
    NoModel,
    /// Several models wrote a conversation, and the table that was read does not separate them.
    #[error("several models wrote some of it: bill it by model, or give the files")]
    Models,
}

/// The prices of a million tokens by kind; `None` if a kind has no price.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Input tokens.
    pub input: Option<f64>,
    /// Input tokens that are read from a cache.
    pub cached_input: Option<f64>,
    /// Input tokens that are written to a cache for minutes.
    pub cache_write: Option<f64>,
    /// Input tokens that are written to a cache for an hour.
    pub cache_write_1h: Option<f64>,
    /// Output tokens.
    pub output: Option<f64>,
}

/// The terms of requests, on which a price depends in addition to the kind of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Terms {
    /// The service tier of each request; `None` if only the sum of several tiers is known.
    pub tier: Option<ServiceTier>,
    /// The largest threshold of length that each request exceeds; `None` if only the sum of requests is known.
    pub above: Option<u64>,
}

impl Terms {
    /// The terms of a request that exceeds no threshold.
    pub(crate) const BASE: Self = Self {
        tier: Some(ServiceTier::Standard),
        above: Some(0),
    };
}

/// A price for the tokens, requests and searches of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Price {
    /// The name of the priced product, for example a model.
    pub model: String,
    /// Other names of the product.
    pub aliases: Vec<String>,
    /// The encoding of the priced tokens; `None` if the price applies to logged tokens only.
    pub encoding: Option<String>,
    /// Currency, for example `USD`.
    pub currency: String,
    /// The rates by service tier and by the threshold of length that a request exceeds.
    pub rates: BTreeMap<(ServiceTier, u64), Rates>,
    /// The price of a request of any length.
    pub per_request: Option<f64>,
    /// The price of a web search.
    pub per_search: Option<f64>,
    /// The discount on everything, from 0 to 1.
    pub batch_discount: Option<f64>,
    /// The first day on which the price is valid.
    pub from: Option<Date>,
    /// The last day on which the price is valid.
    pub until: Option<Date>,
    /// The day on which the price was read; `None` if the list has no date.
    pub date: Option<String>,
    /// The source of the price.
    pub source: String,
}

/// A kind of tokens: its name, the number of tokens, and their rate.
type Kind = (&'static str, u64, fn(&Rates) -> Option<f64>);

impl Price {
    /// The price of a million input tokens, in requests below all thresholds.
    pub fn per_million(&self) -> Option<f64> {
        self.rates.get(&(ServiceTier::Standard, 0))?.input
    }

    /// The price of a million output tokens.
    pub fn per_million_output(&self) -> Option<f64> {
        self.rates.get(&(ServiceTier::Standard, 0))?.output
    }

    /// The prices of a million tokens of other kinds, if they differ from that of input tokens.
    pub fn more_rates(&self) -> Vec<(&'static str, f64)> {
        let Some(rates) = self.rates.get(&(ServiceTier::Standard, 0)) else {
            return Vec::new();
        };
        let kinds = [
            (
                "cached",
                rates.cached_input.filter(|_| rates.cached_input != rates.input),
            ),
            ("written to a cache", rates.cache_write),
            ("written to a cache for an hour", rates.cache_write_1h),
        ];
        kinds
            .into_iter()
            .filter_map(|(kind, rate)| Some((kind, rate?)))
            .collect()
    }

    /// The estimated cost of tokens that were counted here, in requests below all thresholds; output costs nothing if it has no price.
    pub fn estimate(&self, usage: &BilledUsage) -> f64 {
        let tokens = usage.input as f64 * self.per_million().unwrap_or_default()
            + usage.output as f64 * self.per_million_output().unwrap_or_default();
        let requests = usage.requests as f64 * self.per_request.unwrap_or_default();
        self.discounted(tokens / 1_000_000.0 + requests)
    }

    /// The cost of logged usage. Every kind that occurs needs a price; `longest` is a length that no request exceeds.
    pub(crate) fn cost_of_logged(
        &self,
        usage: &BilledUsage,
        terms: Terms,
        longest: u64,
    ) -> Result<f64, Unpriced> {
        let above = match terms.above {
            Some(above) => above,
            None => match self.thresholds().next() {
                Some(first) if longest.min(usage.input) > first => return Err(Unpriced::Length(first)),
                _ => 0,
            },
        };
        let tier = match terms.tier.ok_or(Unpriced::Tiers)? {
            // A discount on everything is the discount for batches.
            ServiceTier::Batch if self.batch_discount.is_some() && !self.has_tier(ServiceTier::Batch) => {
                ServiceTier::Standard
            }
            tier => tier,
        };
        let (write, write_1h) = (usage.cache_write, usage.cache_write_1h);
        let parts = usage.cached_input.saturating_add(write).saturating_add(write_1h);
        let kinds: [Kind; 5] = [
            ("input tokens", usage.input.saturating_sub(parts), |rates| {
                rates.input
            }),
            ("cached input tokens", usage.cached_input, |rates| {
                rates.cached_input
            }),
            ("cache writes", write, |rates| rates.cache_write),
            ("cache writes of an hour", write_1h, |rates| rates.cache_write_1h),
            ("output tokens", usage.output, |rates| rates.output),
        ];
        let mut sum = 0.0;
        for (name, tokens, rate) in kinds {
            // If a tier above a threshold does not have a rate, that of the threshold below applies.
            let mut tiers = self.rates.range((tier, 0)..=(tier, above)).rev();
            match tiers.find_map(|(_, rates)| rate(rates)) {
                Some(rate) => sum += tokens as f64 * rate / 1_000_000.0,
                None if tokens == 0 => {}
                None => {
                    return Err(Unpriced::Kind(match tier {
                        ServiceTier::Standard => name,
                        ServiceTier::Batch => "requests of batches",
                        ServiceTier::Flex => "requests of the tier `flex`",
                        ServiceTier::Priority => "requests of the tier `priority`",
                        ServiceTier::Fast => "requests of the tier `fast`",
                    }));
                }
            }
        }
        // Searches without a price add nothing; the bill lists them as unpriced.
        sum += usage.searches as f64 * self.per_search.unwrap_or_default();
        let requests = usage.requests as f64 * self.per_request.unwrap_or_default();
        Ok(self.discounted(sum + requests))
    }

    /// Whether there are separate rates for a service tier.
    fn has_tier(&self, tier: ServiceTier) -> bool {
        self.rates.keys().any(|(known, _)| *known == tier)
    }

    /// Whether the price applies to tokens that were counted in an encoding.
    pub(crate) fn counts_in(&self, encoding: &str) -> Result<(), Unpriced> {
        match &self.encoding {
            None => Err(Unpriced::NoEncoding),
            Some(own) if own != encoding => Err(Unpriced::Encoding),
            Some(_) => Ok(()),
        }
    }

    /// The thresholds of length, in ascending order.
    fn thresholds(&self) -> impl Iterator<Item = u64> {
        let lengths: BTreeSet<u64> = self.rates.keys().map(|(_, above)| *above).collect();
        lengths.into_iter().filter(|above| *above > 0)
    }

    fn discounted(&self, amount: f64) -> f64 {
        amount * (1.0 - self.batch_discount.unwrap_or_default())
    }

    /// Whether both prices give the same costs.
    fn costs_as(&self, other: &Self) -> bool {
        let terms = |price: &Self| (price.per_request, price.per_search, price.batch_discount);
        self.currency == other.currency && self.rates == other.rates && terms(self) == terms(other)
    }

    fn holds_on(&self, day: Date) -> bool {
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day <= until)
    }

    fn is_dated(&self) -> bool {
        self.from.is_some() || self.until.is_some()
    }

    /// Whether the price may be valid on a day; true if the day is not known.
    pub(crate) fn may_hold_on(&self, day: &str) -> bool {
        day.parse().map_or(true, |day| self.holds_on(day))
    }

    /// The name, with the days on which the price is valid.
    fn shown(&self) -> String {
        let day =
            |word: &str, day: Option<Date>| day.map_or_else(String::new, |day| format!(" {word} {day}"));
        format!(
            "`{}`{}{}",
            self.model,
            day("from", self.from),
            day("until", self.until)
        )
    }
}

/// The prices of a file, which are found by names of models.
#[derive(Clone, Debug, Default)]
pub struct PriceList {
    prices: Vec<Price>,
    /// Whether the file is a list of all models, which is not applied to tokens without a model.
    is_catalogue: bool,
    /// A sentence about the entries that are not understood.
    remark: Option<String>,
    by_name: BTreeMap<String, Vec<usize>>,
    /// All names in lower case.
    names: BTreeSet<String>,
    by_undated: BTreeMap<String, Vec<usize>>,
    by_bare: BTreeMap<String, Vec<usize>>,
}

impl PriceList {
    /// Reads a price file, which is recognised by its content: TOML of chatmill, or the list of `LiteLLM` or of models.dev. Encodings are
    /// those of the registry and of `own`.
    pub fn parse(text: &str, own: &[Encoding]) -> Result<Self, PriceError> {
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            let (prices, remark) = lists::read(text)?;
            return Ok(Self {
                is_catalogue: true,
                remark,
                ..Self::of(prices)
            });
        }
        Ok(Self::of(file::read(text, own)?))
    }

    /// A list of these prices.
    pub fn of(prices: Vec<Price>) -> Self {
        let mut list = Self::default();
        let named: Vec<(usize, &str)> = prices
            .iter()
            .enumerate()
            .flat_map(|(place, price)| {
                let aliases = price.aliases.iter().map(String::as_str);
                aliases
                    .chain([price.model.as_str()])
                    .map(move |name| (place, name))
            })
            .collect();
        list.names = named.iter().map(|(_, name)| name.to_lowercase()).collect();
        let add = |map: &mut BTreeMap<String, Vec<usize>>, name: &str, place| {
            let places = map.entry(name.to_owned()).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        };
        for (place, name) in named {
            let lower = name.to_lowercase();
            let undated = names::undated(&lower, &list.names);
            add(&mut list.by_name, name, place);
            add(&mut list.by_undated, undated, place);
            add(&mut list.by_bare, names::bare(undated), place);
        }
        list.prices = prices;
        list
    }

    /// The price of a model on a day, `YYYY-MM-DD` or empty; for tokens that were counted in `encoding`, the price for this encoding.
    pub fn find(&self, model: &str, day: &str, encoding: Option<&str>) -> Result<&Price, Unpriced> {
        if model == SEVERAL {
            return Err(Unpriced::Models);
        }
        let lower = model.to_lowercase();
        let undated = names::undated(&lower, &self.names);
        let vendors = names::of_vendor(&lower);
        let places = self
            .by_name
            .get(model)
            .or_else(|| self.by_undated.get(undated))
            .or_else(|| self.by_name.get(vendors?))
            .or_else(|| self.by_undated.get(names::undated(vendors?, &self.names)))
            .or_else(|| self.by_bare.get(names::bare(undated)))
            .ok_or(Unpriced::Name)?;
        let fitting = places.iter().filter_map(|place| self.prices.get(*place));
        let mut fitting: Vec<&Price> = fitting.collect();
        let is_counted = |price: &&Price| encoding.is_some() && price.encoding.as_deref() == encoding;
        if fitting.iter().any(is_counted) {
            fitting.retain(is_counted);
        }
        if fitting.iter().any(|price| price.is_dated()) {
            match day.parse::<Date>() {
                Ok(date) => {
                    fitting.retain(|price| price.holds_on(date));
                    // A price without days is valid where no price with days is.
                    if fitting.iter().any(|price| price.is_dated()) {
                        fitting.retain(|price| price.is_dated());
                    }
                }
                Err(_) => return Err(Unpriced::Undated),
            }
        }
        let Some((first, others)) = fitting.split_first() else {
            return Err(Unpriced::Day(day.to_owned()));
        };
        match others.iter().find(|other| !other.costs_as(first)) {
            None => Ok(first),
            Some(other) => Err(Unpriced::Several(first.shown(), other.shown())),
        }
    }

    /// The prices that apply to tokens without a model, each as a separate figure; empty for a list of all models.
    pub fn each(&self) -> &[Price] {
        if self.is_catalogue { &[] } else { &self.prices }
    }

    /// The number of prices.
    pub fn len(&self) -> usize {
        self.prices.len()
    }

    /// Whether there are no prices.
    pub fn is_empty(&self) -> bool {
        self.prices.is_empty()
    }

    /// The currency of all prices.
    pub fn currency(&self) -> &str {
        self.prices.first().map_or("", |price| &price.currency)
    }

    /// A sentence about the entries that are not understood.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// The properties by which sums must be divided so that these prices can be applied.
    pub fn division(&self) -> Option<PriceDivision> {
        let lengths: BTreeSet<u64> = self.prices.iter().flat_map(Price::thresholds).collect();
        (!self.is_empty()).then(|| PriceDivision {
            by_day: self.prices.iter().any(Price::is_dated),
            lengths: lengths.into_iter().collect(),
        })
    }
}

/// The model of conversations that several models wrote, if they are not separated.
pub(crate) const SEVERAL: &str = "(several)";

/// The properties on which prices depend, in addition to the model.
#[derive(Clone, Debug, Default)]
pub struct PriceDivision {
    /// Whether some prices are valid on some days only.
    pub by_day: bool,
    /// All thresholds of length, in ascending order.
    pub lengths: Vec<u64>,
}

impl PriceDivision {
    /// The logged usage of a single request, with its terms.
    pub fn single(&self, tier: ServiceTier, usage: BilledUsage) -> (Terms, BilledUsage) {
        let exceeded = self.lengths.iter().take_while(|length| **length < usage.input);
        let terms = Terms {
            tier: Some(tier),
            above: Some(exceeded.fold(0, |_, length| *length)),
        };
        (terms, usage)
    }
}

#[cfg(test)]
mod tests;
