//! Price lists of other projects, in the form in which they are published: `LiteLLM`'s `model_prices_and_context_window.json` and the
//! `api.json` of models.dev. Both are recognised by their content.
//!
//! Prices of text, cached text, answers, searches and requests are read. Prices of pictures, sound, seconds and pages are not, which one
//! remark for the whole list states.

use std::collections::BTreeMap;

use chatmill_model::ServiceTier;
use serde_json::{Map, Value};

use super::file::{MOST_PRICE, PriceError};
use super::{Price, Rates};
use crate::numbers::counted;

/// The number of kinds of unread prices that the remark names.
const NAMED: usize = 4;

/// The providers of models.dev that sell only their own models, so that a name in their list is the vendor's.
const VENDORS: &[&str] = &[
    "alibaba",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "llama",
    "minimax",
    "mistral",
    "moonshotai",
    "openai",
    "xai",
    "zai",
];

type Object = Map<String, Value>;

/// The prices of a list, and a remark about unread ones.
pub(super) fn read(text: &str) -> Result<(Vec<Price>, Option<String>), PriceError> {
    let text = text.trim_start_matches('\u{feff}');
    let list: Object = serde_json::from_str(text).map_err(|error| PriceError(error.to_string()))?;
    let entries = || list.values().filter_map(Value::as_object);
    let mut published = PublishedList::default();
    let name = if entries().any(|entry| entry.contains_key("litellm_provider")) {
        published.litellm(&list);
        "LiteLLM's list"
    } else if entries().any(|entry| entry.get("models").is_some_and(Value::is_object)) {
        published.models_dev(&list);
        "the list of models.dev"
    } else {
        let text = "JSON that is neither LiteLLM's list of prices nor the api.json of models.dev";
        return Err(PriceError(text.to_owned()));
    };
    if published.prices.is_empty() {
        return Err(PriceError(format!("{name} without a price of tokens")));
    }
    for price in &mut published.prices {
        name.clone_into(&mut price.source);
        "USD".clone_into(&mut price.currency);
    }
    let remark = published.remark(name);
    Ok((published.prices, remark))
}

#[derive(Default)]
struct PublishedList {
    prices: Vec<Price>,
    /// Number of entries without a price of tokens.
    without: usize,
    /// Kinds of prices that are not read, with the number of entries that have them.
    unread: BTreeMap<String, usize>,
}

impl PublishedList {
    fn litellm(&mut self, list: &Object) {
        let mut aliases: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (model, entry) in list {
            let Some(entry) = entry.as_object() else {
                self.without += 1;
                continue;
            };
            if let Some(of) = entry.get("alias_of").and_then(Value::as_str) {
                aliases.entry(of).or_default().push(model.clone());
                continue;
            }
            // The entry that describes the fields, with zeros as examples.
            if model != "sample_spec" {
                self.litellm_entry(model, entry);
            }
        }
        for price in &mut self.prices {
            if let Some(names) = aliases.remove(price.model.as_str()) {
                price.aliases = names;
            }
        }
    }

    fn litellm_entry(&mut self, model: &str, entry: &Object) {
        let mut price = Price {
            model: model.to_owned(),
            ..Price::default()
        };
        let mut unread = Vec::new();
        for (key, value) in entry {
            let is_read = match (key.as_str(), value) {
                ("tiered_pricing", Value::Array(tiers)) => litellm_tiers(&mut price, tiers),
                ("input_cost_per_request", value) => set(&mut price.per_request, value, 1.0),
                ("search_context_cost_per_query", Value::Object(sizes)) => {
                    // Logs do not contain the size of a search.
                    let mut costs = sizes.values();
                    let first = costs.next();
                    costs.all(|cost| Some(cost) == first)
                        && first.is_some_and(|cost| set(&mut price.per_search, cost, 1.0))
                }
                _ => litellm_rate(&mut price, key, value),
            };
            let is_price = key.contains("cost") || key.contains("pric");
            if !is_read && is_price && !value.is_null() {
                unread.push(key.clone());
            }
        }
        let tiers = entry.get("tiered_pricing").and_then(Value::as_array);
        let lengths = tiers.into_iter().flatten().filter_map(Value::as_object);
        let keys = ("output_cost_per_reasoning_token", "output_cost_per_token");
        self.add(price, prices_thoughts(lengths.chain([entry]), keys), unread);
    }

    fn models_dev(&mut self, list: &Object) {
        for (provider, entry) in list {
            let models = entry.get("models").and_then(Value::as_object);
            for (model, entry) in models.into_iter().flatten() {
                let Some(cost) = entry.get("cost").and_then(Value::as_object) else {
                    self.without += 1;
                    continue;
                };
                let mut price = Price {
                    model: format!("{provider}/{model}"),
                    ..Price::default()
                };
                if VENDORS.contains(&provider.as_str()) {
                    price.aliases.push(model.clone());
                }
                let mut unread = Vec::new();
                let mut rates = Rates::default();
                for (key, value) in cost {
                    let is_read = match key.as_str() {
                        // It equals the first entry of `tiers`.
                        "context_over_200k" if cost.contains_key("tiers") => true,
                        "context_over_200k" => dev_tier(&mut price, value, 200_000),
                        "tiers" => value.as_array().is_some_and(|tiers| {
                            let size = |tier: &Value| tier.pointer("/tier/size").and_then(Value::as_u64);
                            let mut sized = tiers.iter();
                            sized.all(|tier| size(tier).is_some_and(|size| dev_tier(&mut price, tier, size)))
                        }),
                        _ => dev_rate(&mut rates, key, value),
                    };
                    if !is_read {
                        unread.push(key.clone());
                    }
                }
                price.rates.insert((ServiceTier::Standard, 0), rates);
                let tiers = cost.get("tiers").and_then(Value::as_array);
                let lengths = tiers.into_iter().flatten().chain(cost.get("context_over_200k"));
                let lengths = lengths.filter_map(Value::as_object).chain([cost]);
                self.add(price, prices_thoughts(lengths, ("reasoning", "output")), unread);
            }
        }
    }

    /// Adds a price, if it has a rate for input tokens. If reasoning has a different price than other output at any length, the price has
    /// no rate for output, since logs do not separate the two.
    fn add(&mut self, mut price: Price, prices_thoughts: bool, unread: Vec<String>) {
        if price.per_million().is_none() {
            self.without += 1;
            return;
        }
        for rates in price.rates.values_mut().filter(|_| prices_thoughts) {
            rates.output = None;
        }
        for key in unread {
            *self.unread.entry(key).or_default() += 1;
        }
        self.prices.push(price);
    }

    fn remark(&self, list: &str) -> Option<String> {
        if self.without == 0 && self.unread.is_empty() {
            return None;
        }
        let mut kinds: Vec<(&String, &usize)> = self.unread.iter().collect();
        kinds.sort_by_key(|(name, entries)| (std::cmp::Reverse(**entries), *name));
        let named: Vec<String> = kinds
            .iter()
            .take(NAMED)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        let mut text = format!(
            "{list} has {} of tokens, and {} without one",
            counted(self.prices.len() as u64, "price"),
            counted(self.without as u64, "model")
        );
        if !named.is_empty() {
            let number = counted(kinds.len() as u64, "kind");
            text = format!("{text}; prices of {number} are not read: {}", named.join(", "));
        }
        if kinds.len() > NAMED {
            text.push_str(" and others");
        }
        Some(text)
    }
}

/// Whether reasoning has a different price than other output in the rates of any length; the keys are those of the two.
fn prices_thoughts<'l>(
    lengths: impl IntoIterator<Item = &'l Object>,
    (thoughts, output): (&str, &str),
) -> bool {
    lengths.into_iter().any(|rates| {
        let of = |key: &str| rates.get(key).and_then(million);
        of(thoughts).is_some_and(|thoughts| Some(thoughts) != of(output))
    })
}

/// The suffixes of `LiteLLM`'s keys for service tiers.
const TIERS: [(&str, ServiceTier); 3] = [
    ("_batches", ServiceTier::Batch),
    ("_flex", ServiceTier::Flex),
    ("_priority", ServiceTier::Priority),
];

/// Sets the rate of a key of `LiteLLM`: for a kind of tokens, possibly above a length, and possibly for a service tier.
fn litellm_rate(price: &mut Price, key: &str, value: &Value) -> bool {
    let of_tier = TIERS
        .into_iter()
        .find_map(|(suffix, tier)| Some((key.strip_suffix(suffix)?, tier)));
    let (key, tier) = of_tier.unwrap_or((key, ServiceTier::Standard));
    let above = key
        .strip_suffix("k_tokens")
        .and_then(|key| key.rsplit_once("_above_"));
    let Some((kind, thousands)) = above else {
        return litellm_kind(price, key, (tier, 0), value);
    };
    let length = thousands
        .parse()
        .ok()
        .and_then(|length: u64| length.checked_mul(1000));
    length.is_some_and(|length| litellm_kind(price, kind, (tier, length), value))
}

/// Sets the rate of a kind of tokens, by service tier and length.
fn litellm_kind(price: &mut Price, kind: &str, of: (ServiceTier, u64), value: &Value) -> bool {
    let field: fn(&mut Rates) -> &mut Option<f64> = match kind {
        "input_cost_per_token" => |rates| &mut rates.input,
        "output_cost_per_token" => |rates| &mut rates.output,
        "cache_read_input_token_cost" => |rates| &mut rates.cached_input,
        "cache_creation_input_token_cost" => |rates| &mut rates.cache_write,
        "cache_creation_input_token_cost_above_1hr" => |rates| &mut rates.cache_write_1h,
        // The price of reasoning is compared with that of output.
        "output_cost_per_reasoning_token" if of.0 == ServiceTier::Standard => return true,
        _ => return false,
    };
    let Some(cost) = million(value) else { return false };
    *field(price.rates.entry(of).or_default()) = Some(cost);
    true
}

/// `tiered_pricing` of `LiteLLM`: rates with the ranges of lengths for which they are valid.
fn litellm_tiers(price: &mut Price, tiers: &[Value]) -> bool {
    let start = |tier: &Value| {
        let start = tier.pointer("/range/0")?.as_f64()?;
        // The number of tokens may be written as a fraction.
        format!("{start:.0}").parse::<u64>().ok()
    };
    tiers.iter().all(|tier| {
        let (Some(start), Some(rates)) = (start(tier), tier.as_object()) else {
            return false;
        };
        let rates = rates.iter().filter(|(key, _)| *key != "range");
        rates.fold(true, |all, (key, value)| {
            litellm_kind(price, key, (ServiceTier::Standard, start), value) && all
        })
    })
}

/// A tier of models.dev.
fn dev_tier(price: &mut Price, tier: &Value, above: u64) -> bool {
    let mut rates = Rates::default();
    let Some(costs) = tier.as_object() else {
        return false;
    };
    let costs = costs.iter().filter(|(key, _)| *key != "tier");
    let is_read = costs.fold(true, |all, (key, value)| dev_rate(&mut rates, key, value) && all);
    price.rates.insert((ServiceTier::Standard, above), rates);
    is_read
}

fn dev_rate(rates: &mut Rates, key: &str, value: &Value) -> bool {
    let field = match key {
        "input" => &mut rates.input,
        "output" => &mut rates.output,
        "cache_read" => &mut rates.cached_input,
        "cache_write" => &mut rates.cache_write,
        "reasoning" => return true,
        _ => return false,
    };
    set(field, value, 1.0)
}

/// The price of a million tokens, from the price of one; rounded, so that equal prices with different digits are equal.
fn million(value: &Value) -> Option<f64> {
    let mut price = None;
    set(&mut price, value, 1_000_000.0).then_some(price?)
}

fn set(price: &mut Option<f64>, value: &Value, times: f64) -> bool {
    let cost = value.as_f64().map(|cost| (cost * times * 1e9).round() / 1e9);
    *price = cost.filter(|cost| (0.0..=MOST_PRICE).contains(cost));
    price.is_some()
}
