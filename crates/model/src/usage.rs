//! Usage that a provider logged: tokens as it counted and billed them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

/// The tokens of one request, as the provider logged them.
///
/// Invariant for sources: `cached_input`, `cache_write` and `cache_write_1h` are parts of `input`, even if a provider counts them
/// separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    /// Tokens that were sent, including those from a cache.
    pub input: Option<u64>,
    /// The part of `input` that was read from a cache.
    pub cached_input: Option<u64>,
    /// The part of `input` that was written to a cache for minutes.
    pub cache_write: Option<u64>,
    /// The part of `input` that was written to a cache for an hour.
    pub cache_write_1h: Option<u64>,
    /// Tokens that the model wrote, including thoughts.
    pub output: Option<u64>,
    /// Web searches that the provider ran for the answer.
    pub searches: Option<u64>,
    /// The number of requests in the counts, if a program logs only their sum.
    pub requests: Option<u32>,
    /// The service tier of the request, if the log has it in a known word.
    pub tier: Option<ServiceTier>,
    /// The logged cost of the request, in the currency of the log (US dollars in all known ones).
    pub cost: Option<Cost>,
    /// The reason why the counts are doubtful.
    pub mismatch: Option<UsageMismatch>,
}

/// The service tier of a request; most providers price each differently.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum ServiceTier {
    /// The default of a request.
    #[default]
    #[strum(to_string = "standard", serialize = "default", serialize = "on_demand")]
    Standard,
    /// Part of a batch.
    Batch,
    /// Cheaper and slower.
    #[strum(to_string = "flex", serialize = "on_demand_flex")]
    Flex,
    /// Served before others.
    #[strum(to_string = "priority", serialize = "on_demand_priority")]
    Priority,
    /// Served with faster output.
    Fast,
}

impl ServiceTier {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// An amount of money: a finite number, not negative, so that it can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost(f64);

impl Cost {
    /// Makes a cost; `None` unless the number is finite and not negative.
    pub fn new(amount: f64) -> Option<Self> {
        // Adding 0.0 turns negative zero into the positive one.
        (amount.is_finite() && amount >= 0.0).then_some(Self(amount + 0.0))
    }

    /// The amount.
    pub const fn amount(self) -> f64 {
        self.0
    }

    /// The amount in billionths, rounded.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float that is too large becomes the largest number"
    )]
    pub fn billionths(self) -> u64 {
        (self.0 * 1e9).round() as u64
    }
}

impl Eq for Cost {}

impl std::hash::Hash for Cost {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The reason why a logged usage is doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UsageMismatch {
    /// Input and output do not add up to this total, which was also logged.
    Total(u64),
    /// This many tokens of a cache were logged that the input should contain at this vendor and cannot, so they were added to it.
    Cache(u64),
}

impl Usage {
    /// Fills missing values from another part of the log.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            input: self.input.or(other.input),
            cached_input: self.cached_input.or(other.cached_input),
            cache_write: self.cache_write.or(other.cache_write),
            cache_write_1h: self.cache_write_1h.or(other.cache_write_1h),
            output: self.output.or(other.output),
            searches: self.searches.or(other.searches),
            requests: self.requests.or(other.requests),
            tier: self.tier.or(other.tier),
            cost: self.cost.or(other.cost),
            mismatch: self.mismatch.or(other.mismatch),
        }
    }

    /// Whether both sides of the request were logged: half of a request has no cost.
    pub const fn is_whole(self) -> bool {
        self.input.is_some() && self.output.is_some()
    }

    /// Whether neither tokens nor a cost were logged.
    pub const fn is_empty(self) -> bool {
        self.input.is_none() && self.cached_input.is_none() && self.output.is_none() && self.cost.is_none()
    }
}

/// Requests with their tokens and searches, as logged by a provider or estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BilledUsage {
    /// The number of requests.
    pub requests: u64,
    /// Tokens that are sent, including those from a cache.
    pub input: u64,
    /// The part of `input` that is read from a cache.
    pub cached_input: u64,
    /// The part of `input` that is written to a cache for minutes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
    /// The part of `input` that is written to a cache for an hour.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    /// Tokens that the model writes.
    pub output: u64,
    /// Web searches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub searches: u64,
    /// The number of requests with a logged cost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_requests: u64,
    /// The sum of the logged costs in billionths of a US dollar: integers, so that the order of addition changes nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost: u64,
}

impl BilledUsage {
    /// The logged usage of one request; if only one side was logged, only the cost.
    pub fn of(usage: Option<Usage>) -> Self {
        let cost = usage.and_then(|usage| usage.cost);
        let of_cost = Self {
            cost_requests: u64::from(cost.is_some()),
            cost: cost.map_or(0, Cost::billionths),
            ..Self::default()
        };
        let whole = usage.filter(|usage| usage.is_whole());
        whole.map_or(of_cost, |usage| Self {
            requests: usage.requests.map_or(1, u64::from),
            input: usage.input.unwrap_or_default(),
            cached_input: usage.cached_input.unwrap_or_default(),
            cache_write: usage.cache_write.unwrap_or_default(),
            cache_write_1h: usage.cache_write_1h.unwrap_or_default(),
            output: usage.output.unwrap_or_default(),
            searches: usage.searches.unwrap_or_default(),
            ..of_cost
        })
    }

    /// Whether nothing was logged.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The sum of the logged costs in US dollars; `None` if no request has one.
    pub fn logged_cost(&self) -> Option<f64> {
        (self.cost_requests > 0).then(|| self.cost as f64 / 1e9)
    }
}

impl std::ops::AddAssign for BilledUsage {
    fn add_assign(&mut self, other: Self) {
        // A sum that no table could hold is replaced by the largest that it can.
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more).min(i64::MAX.unsigned_abs());
        add(&mut self.requests, other.requests);
        add(&mut self.input, other.input);
        add(&mut self.cached_input, other.cached_input);
        add(&mut self.cache_write, other.cache_write);
        add(&mut self.cache_write_1h, other.cache_write_1h);
        add(&mut self.output, other.output);
        add(&mut self.searches, other.searches);
        add(&mut self.cost_requests, other.cost_requests);
        add(&mut self.cost, other.cost);
    }
}

/// Subtracts usage that was counted twice.
impl std::ops::SubAssign for BilledUsage {
    fn sub_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_sub(other.requests);
        self.input = self.input.saturating_sub(other.input);
        self.cached_input = self.cached_input.saturating_sub(other.cached_input);
        self.cache_write = self.cache_write.saturating_sub(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_sub(other.cache_write_1h);
        self.output = self.output.saturating_sub(other.output);
        self.searches = self.searches.saturating_sub(other.searches);
        self.cost_requests = self.cost_requests.saturating_sub(other.cost_requests);
        self.cost = self.cost.saturating_sub(other.cost);
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_logged_usage_saturate_at_the_limit_of_tables() {
        let most = i64::MAX.unsigned_abs();
        let mut sum = BilledUsage::default();
        for input in [most - 1, 1, 5, u64::MAX] {
            sum += BilledUsage::of(Some(Usage {
                input: Some(input),
                output: Some(0),
                ..Usage::default()
            }));
        }
        assert_eq!((sum.requests, sum.input, sum.output), (4, most, 0));
    }

    #[test]
    fn a_cost_is_finite_and_not_below_nothing() {
        for wrong in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Cost::new(wrong), None);
        }
        assert_eq!(Cost::new(-0.0), Cost::new(0.0));
        assert_eq!(Cost::new(0.25).map(Cost::amount), Some(0.25));
    }

    #[test]
    fn tiers_have_the_words_of_their_vendors() {
        for (word, tier) in [
            ("standard", ServiceTier::Standard),
            ("default", ServiceTier::Standard),
            ("batch", ServiceTier::Batch),
            ("priority", ServiceTier::Priority),
            ("ON_DEMAND", ServiceTier::Standard),
            ("ON_DEMAND_FLEX", ServiceTier::Flex),
            ("ON_DEMAND_PRIORITY", ServiceTier::Priority),
        ] {
            assert_eq!(word.parse(), Ok(tier));
        }
        assert_eq!(ServiceTier::Standard.as_str(), "standard");
        assert!("auto".parse::<ServiceTier>().is_err());
    }
}
