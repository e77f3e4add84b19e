//! Model, token usage and time of the answer of a logged request.
//!
//! Each vendor has its own field names, and its own rule about which count contains which; both are in its grammar. `OpenAI` and Gemini
//! include cached tokens in the input; Anthropic and Bedrock count them separately, so they are added here. Gemini counts thoughts
//! separately from the answer. The fields also remain among the extra fields, because they contain more than is read here.

use std::borrow::Cow;

use chatmill_intake::json::{Mark, Value};
use chatmill_model::{Cost, ServiceTier, Usage, UsageMismatch};

use crate::base::present;
use crate::grammar::GRAMMARS;

/// The model that a request names.
pub(crate) fn model(root: Value<'_>) -> Option<Box<str>> {
    ["model", "modelId", "modelVersion"]
        .into_iter()
        .find_map(|key| word(root, key))
}

/// The id that a provider gave an answer.
pub(crate) fn answer_id(answer: Value<'_>) -> Option<Box<str>> {
    ["id", "responseId"].into_iter().find_map(|key| word(answer, key))
}

fn word(object: Value<'_>, key: &str) -> Option<Box<str>> {
    let text = object.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.into_owned().into())
}

/// The fields in which a vendor counts tokens; `outer.inner` is a field inside another, at any depth.
#[derive(Debug)]
pub(crate) struct UsageForm {
    /// Input tokens: the sum of these fields, none of which contains another.
    pub input: &'static [&'static str],
    /// Output tokens, in the same way.
    pub output: &'static [&'static str],
    /// Thoughts that the output contains, in any of these fields.
    pub thoughts: &'static [&'static str],
    /// Tokens that were read from a cache, in any of these fields.
    pub cached: &'static [&'static str],
    /// Tokens that were written to a cache, in any of these fields.
    pub written: &'static [&'static str],
    /// The shares of them that were written for minutes, and for an hour, if the vendor divides them.
    pub written_for: [&'static str; 2],
    /// Searches on the web, in any of these fields.
    pub searches: &'static [&'static str],
    /// Whether `input` contains the cached and the written tokens.
    pub contains_cache: bool,
    /// All tokens of the request.
    pub total: Option<&'static str>,
}

/// For vendors that do not divide writes into those for minutes and for an hour.
pub(crate) const NONE: [&str; 2] = [""; 2];

impl UsageForm {
    /// The counts of input, cache and output. They decide which form an object has.
    fn main_counts(&self, object: &UsageFields<'_>) -> CountedTokens {
        CountedTokens {
            input: sum(object, self.input),
            cached: any(object, self.cached),
            written: any(object, self.written).max(sum(object, &self.written_for)),
            contains_cache: self.contains_cache,
            output: sum(object, self.output),
            ..CountedTokens::default()
        }
    }

    /// Adds all other counts.
    fn complete(&self, object: &UsageFields<'_>, main: CountedTokens) -> CountedTokens {
        let [_, hour] = self.written_for;
        CountedTokens {
            written_1h: inner(object, hour),
            thoughts: any(object, self.thoughts),
            contains_thoughts: true,
            searches: any(object, self.searches),
            total: self.total.and_then(|field| inner(object, field)),
            ..main
        }
    }
}

/// The largest count in one of these fields.
fn any(object: &UsageFields<'_>, fields: &[&str]) -> Option<u64> {
    fields.iter().filter_map(|field| inner(object, field)).max()
}

/// The sum of the counts in these fields.
fn sum(object: &UsageFields<'_>, fields: &[&str]) -> Option<u64> {
    let counts = fields.iter().filter_map(|field| inner(object, field));
    counts.reduce(u64::saturating_add)
}

/// Counts of a request as they were logged, before it is known which of them contain which.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CountedTokens {
    /// Input tokens.
    pub input: Option<u64>,
    /// Tokens that were read from a cache.
    pub cached: Option<u64>,
    /// Tokens that were written to a cache.
    pub written: Option<u64>,
    /// The share of them that was written for an hour.
    pub written_1h: Option<u64>,
    /// Whether the vendor includes both in `input`.
    pub contains_cache: bool,
    /// Output tokens.
    pub output: Option<u64>,
    /// Thoughts.
    pub thoughts: Option<u64>,
    /// Whether the vendor includes them in `output`.
    pub contains_thoughts: bool,
    /// All tokens.
    pub total: Option<u64>,
    /// Searches on the web.
    pub searches: Option<u64>,
    /// The service tier of the request.
    pub tier: Option<ServiceTier>,
    /// The cost of the request.
    pub cost: Option<Cost>,
}

impl CountedTokens {
    /// The usage. A logged total decides which counts contain which. Without one the vendor's rule does, if it is possible: a part that is
    /// larger than the whole was counted separately.
    pub(crate) fn usage(self) -> Option<Usage> {
        let cache = [self.cached, self.written].into_iter().flatten();
        let cache = cache.fold(0, u64::saturating_add);
        let thoughts = self.thoughts.into_iter().sum();
        let ways = |count: Option<u64>, part: u64, contains: bool| {
            let with = count.map(|count| count.saturating_add(part));
            match count {
                Some(count) if part > count => [with; 2],
                _ if contains => [count, with],
                _ => [with, count],
            }
        };
        let inputs = ways(self.input, cache, self.contains_cache);
        let outputs = ways(self.output, thoughts, self.contains_thoughts);
        let ([input, _], [output, _]) = (inputs, outputs);
        let sum = |input: Option<u64>, output: Option<u64>| input?.checked_add(output?);
        let total = self
            .total
            .filter(|total| *total > 0 && sum(input, output).is_some());
        let mut pairs = inputs
            .into_iter()
            .flat_map(|input| outputs.map(|output| (input, output)));
        let agreed = pairs.find(|(input, output)| total.is_some() && sum(*input, *output) == total);
        let mismatch = match (agreed, total) {
            (Some(_), _) => None,
            (None, Some(total)) => Some(UsageMismatch::Total(total)),
            (None, None) => {
                let is_more = self.input.is_some_and(|input| cache > input);
                (self.contains_cache && is_more).then_some(UsageMismatch::Cache(cache))
            }
        };
        let (input, output) = agreed.unwrap_or((input, output));
        let usage = Usage {
            input,
            cached_input: self.cached,
            cache_write: self
                .written
                .map(|written| written.saturating_sub(self.written_1h.unwrap_or_default())),
            cache_write_1h: self.written_1h,
            output,
            searches: self.searches,
            requests: None,
            tier: self.tier,
            cost: self.cost,
            mismatch,
        };
        (!usage.is_empty()).then_some(usage)
    }
}

/// The tokens that an object counts, with the field names of any vendor; `None` if it counts none.
pub(crate) fn usage(object: Value<'_>) -> Option<Usage> {
    let forms = || GRAMMARS.iter().filter_map(|grammar| grammar.usage.as_ref());
    let fields = &UsageFields::of(object);
    // Vendors share field names: those of the cache decide whether the input contains it.
    let rank = |counted: &CountedTokens| match (
        counted.input,
        counted.cached.max(counted.written),
        counted.output,
    ) {
        (Some(_), Some(1..), _) => 0,
        (Some(_), Some(0), _) => 1,
        (Some(_), None, _) => 2,
        (None, _, Some(_)) => 3,
        (None, Some(_), None) => 4,
        (None, None, None) => 5,
    };
    let candidates = forms().map(|form| (form, form.main_counts(fields)));
    let (form, counted) = candidates.min_by_key(|(_, counted)| rank(counted))?;
    let counted = form.complete(fields, counted);
    let output = || forms().find_map(|form| sum(fields, form.output));
    let searches = || forms().find_map(|form| any(fields, form.searches));
    CountedTokens {
        output: counted.output.or_else(output),
        searches: counted.searches.or_else(searches),
        tier: tier(object),
        cost: cost(object),
        ..counted
    }
    .usage()
}

/// The fields of an object, read once and looked up under the names of all vendors.
struct UsageFields<'v>(Vec<(Cow<'v, str>, Value<'v>)>);

impl<'v> UsageFields<'v> {
    fn of(object: Value<'v>) -> Self {
        Self(object.fields().collect())
    }

    /// The last field of a name, as in [`Value::get`].
    fn get(&self, key: &str) -> Option<Value<'v>> {
        let found = self.0.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| *value)
    }
}

/// The tokens at a key, or at `outer.inner`.
fn inner(object: &UsageFields<'_>, path: &str) -> Option<u64> {
    let mut keys = path.split('.');
    let first = object.get(keys.next()?)?;
    let value = keys.try_fold(first, Value::get)?;
    tokens(value.number_text()?)
}

/// Completes a usage with the service tier and the cost from the objects around it.
pub(crate) fn within(usage: Option<Usage>, holders: &[Value<'_>]) -> Option<Usage> {
    let around = Usage {
        tier: holders.iter().find_map(|holder| tier(*holder)),
        cost: holders.iter().find_map(|holder| cost(*holder)),
        ..Usage::default()
    };
    let usage = usage.unwrap_or_default().or(around);
    (!usage.is_empty()).then_some(usage)
}

/// The usage that a gateway writes into the top level of its record.
pub(crate) fn flat(record: Value<'_>) -> Option<Usage> {
    let mut counts = ["prompt_tokens", "completion_tokens"].into_iter();
    let has_counts = counts.all(|key| present(record, key).is_some());
    usage(record).filter(|_| has_counts)
}

/// The service tier in a usage or an answer.
pub(crate) fn tier(object: Value<'_>) -> Option<ServiceTier> {
    // Claude Code writes both the speed and the tier; the speed decides the price.
    ["speed", "service_tier", "serviceTier"]
        .into_iter()
        .filter_map(|key| {
            let value = object.get(key)?;
            let word = value.string()?;
            // A text of several words is not the name of a tier, and stays unread.
            if !word.contains(char::is_whitespace) {
                value.mark(Mark::Taken);
            }
            word.parse().ok()
        })
        .max()
}

/// The logged cost of a request: a number, or the `total` of an object of numbers.
pub(crate) fn cost(object: Value<'_>) -> Option<Cost> {
    COSTS
        .into_iter()
        .find_map(|key| amount(present(object, key)?).or_else(|| amount(object.get(key)?.get("total")?)))
}

/// Keys under which programs log the cost of a request in US dollars.
const COSTS: [&str; 9] = [
    "cost",
    "costUSD",
    "cost_usd",
    "response_cost",
    "spend",
    "total_cost",
    "totalCost",
    "calculatedTotalCost",
    "cost_details",
];

/// An amount of money.
pub(crate) fn amount(value: Value<'_>) -> Option<Cost> {
    value.number_text()?.parse().ok().and_then(Cost::new)
}

/// The tokens under a key.
pub(crate) fn number(object: Value<'_>, key: &str) -> Option<u64> {
    tokens(object.get(key)?.number_text()?)
}

/// The tokens that a text counts, if it is a whole number. A number beyond any bill becomes the largest count, which [`bound`] removes.
pub(crate) fn tokens(text: &str) -> Option<u64> {
    let beyond = || {
        let number = text.parse().ok();
        number.filter(|number: &f64| *number > MOST_WRITTEN)
    };
    text.parse().ok().or_else(|| beyond().map(|_| u64::MAX))
}

/// The most tokens of a request that count as logged: beyond it, programs that read a bill have no exact whole numbers.
pub(crate) const MOST: u64 = 1 << 53;
const MOST_WRITTEN: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_intake::json;

    fn read(text: &str) -> Option<(Option<u64>, Option<u64>, Option<u64>)> {
        let document = json::scan(text.as_bytes(), 16).unwrap();
        usage(document.root()).map(|usage| (usage.input, usage.cached_input, usage.output))
    }

    #[test]
    fn usage_of_all_vendors_is_normalised() {
        for text in [
            r#"{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}"#,
            r#"{"input_tokens":100,"output_tokens":7,"input_tokens_details":{"cached_tokens":60}}"#,
            r#"{"input_tokens":30,"cache_read_input_tokens":60,"cache_creation_input_tokens":10,"output_tokens":7}"#,
            r#"{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7,"reasoning_output_tokens":3}"#,
            r#"{"inputTokens":30,"cacheReadInputTokens":60,"cacheWriteInputTokens":10,"outputTokens":7}"#,
            r#"{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":4,"thoughtsTokenCount":3}"#,
        ] {
            assert_eq!(read(text), Some((Some(100), Some(60), Some(7))), "{text}");
        }
    }

    #[test]
    fn words_of_gateways_and_frameworks_say_what_contains_what() {
        for text in [
            // LiteLLM adds Anthropic's field names to OpenAI's.
            r#"{"prompt_tokens":100,"completion_tokens":7,"cache_read_input_tokens":60,"cache_creation_input_tokens":30}"#,
            r#"{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":0},"cache_read_input_tokens":60}"#,
            r#"{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40}"#,
            r#"{"prompt_tokens":100,"completion_tokens":7,"cached_tokens":60}"#,
            r#"{"prompt_tokens":100,"completion_tokens":7,"input_tokens":100,"cache_read_input_tokens":60}"#,
            r#"{"inputTokens":100,"outputTokens":7,"totalTokens":107,"reasoningTokens":3,"cachedInputTokens":60}"#,
            r#"{"inputTokens":100,"outputTokens":7,"inputTokenDetails":{"cacheReadTokens":60,"cacheWriteTokens":9}}"#,
            r#"{"input_tokens":100,"output_tokens":7,"input_token_details":{"cache_read":60,"cache_creation":20}}"#,
            r#"{"input_tokens":100,"output_tokens":7,"input_tokens_details":{"cached_tokens":60},"cache_write_input_tokens":5}"#,
        ] {
            assert_eq!(read(text), Some((Some(100), Some(60), Some(7))), "{text}");
        }
    }

    #[test]
    fn a_logged_total_says_what_was_counted_beside() {
        for (text, counts) in [
            // Thoughts outside the answer, and inside it.
            (
                r#"{"prompt_tokens":32,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":94},"total_tokens":135}"#,
                (32, None, 103),
            ),
            (
                r#"{"prompt_tokens":32,"completion_tokens":100,"completion_tokens_details":{"reasoning_tokens":94},"total_tokens":132}"#,
                (32, None, 100),
            ),
            (
                r#"{"prompt_tokens":32,"completion_tokens":100,"completion_tokens_details":{"reasoning_tokens":94},"total_tokens":226}"#,
                (32, None, 194),
            ),
            (
                r#"{"prompt_tokens":32,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":94}}"#,
                (32, None, 103),
            ),
            // Tokens that tools added to the prompt.
            (
                r#"{"promptTokenCount":100,"toolUsePromptTokenCount":5000,"candidatesTokenCount":40,"thoughtsTokenCount":30,"totalTokenCount":5170}"#,
                (5100, None, 70),
            ),
            (
                r#"{"promptTokenCount":100,"thoughtsTokenCount":30,"totalTokenCount":130}"#,
                (100, None, 30),
            ),
            (
                r#"{"promptTokenCount":1000,"cachedContentTokenCount":900,"candidatesTokenCount":10,"totalTokenCount":1010}"#,
                (1000, Some(900), 10),
            ),
            // A cache outside the prompt.
            (
                r#"{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens":7,"total_tokens":167}"#,
                (160, Some(60), 7),
            ),
            (
                r#"{"input_tokens":100,"cache_read_input_tokens":60,"output_tokens":7,"total_tokens":107}"#,
                (100, Some(60), 7),
            ),
        ] {
            let document = json::scan(text.as_bytes(), 16).unwrap();
            let usage = usage(document.root()).unwrap();
            let (input, cached, output) = counts;
            assert_eq!(
                (usage.input, usage.cached_input, usage.output),
                (Some(input), cached, Some(output)),
                "{text}"
            );
            assert_eq!(usage.mismatch, None, "{text}");
        }
    }

    #[test]
    fn writes_to_caches_searches_tiers_and_costs_are_read_where_a_log_has_them() {
        let of = |text: &str| {
            let document = json::scan(text.as_bytes(), 16).unwrap();
            usage(document.root()).unwrap()
        };
        for (text, writes) in [
            (
                r#"{"input_tokens":5,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":7}"#,
                (Some(10), Some(20)),
            ),
            (
                r#"{"input_tokens":5,"cache_creation_input_tokens":30,"output_tokens":7}"#,
                (Some(30), None),
            ),
            // LangChain leaves the sum out if it divides it.
            (
                r#"{"input_tokens":40,"output_tokens":7,"input_token_details":{"cache_creation":0,"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}"#,
                (Some(10), Some(20)),
            ),
            (
                r#"{"prompt_tokens":40,"completion_tokens":7,"cache_creation_input_tokens":30,"prompt_tokens_details":{"cache_creation_token_details":{"ephemeral_1h_input_tokens":20}}}"#,
                (Some(30), None),
            ),
            (
                r#"{"prompt_tokens":40,"completion_tokens":7,"cache_creation_input_tokens":30,"cache_creation_token_details":{"ephemeral_1h_input_tokens":20}}"#,
                (Some(10), Some(20)),
            ),
            (r#"{"prompt_tokens":40,"completion_tokens":7}"#, (None, None)),
        ] {
            let usage = of(text);
            assert_eq!((usage.cache_write, usage.cache_write_1h), writes, "{text}");
        }
        let usage = of(
            r#"{"input_tokens":5,"output_tokens":7,"server_tool_use":{"web_search_requests":3},"service_tier":"priority","cost":0.25}"#,
        );
        assert_eq!(
            (usage.searches, usage.tier),
            (Some(3), Some(ServiceTier::Priority))
        );
        assert_eq!(usage.cost.map(Cost::amount), Some(0.25));
        // Fast output has another price than the tier.
        let fast = of(r#"{"input_tokens":5,"output_tokens":7,"service_tier":"standard","speed":"fast"}"#);
        assert_eq!(fast.tier, Some(ServiceTier::Fast));
        let document = json::scan(br#"{"service_tier":"not at all","speed":"fast"}"#, 8).unwrap();
        assert_eq!(tier(document.root()), Some(ServiceTier::Fast));
        let marked = |key| document.root().get(key).unwrap().marked();
        assert_eq!(
            (marked("service_tier"), marked("speed")),
            (Mark::Left, Mark::Taken)
        );
        for cost in ["-1", "1e999", r#""free""#] {
            let text = format!(r#"{{"input_tokens":5,"output_tokens":7,"cost":{cost}}}"#);
            assert_eq!(of(&text).cost, None, "{cost}");
        }
        assert_eq!(
            of(r#"{"cost":{"input":1,"total":3}}"#).cost.map(Cost::amount),
            Some(3.0)
        );
    }

    #[test]
    fn counts_that_do_not_add_up_are_doubtful() {
        for (text, counts, mismatch) in [
            (
                r#"{"prompt_tokens":100,"completion_tokens":50,"total_tokens":900}"#,
                (100, 50),
                UsageMismatch::Total(900),
            ),
            (
                r#"{"prompt_tokens":30,"cache_read_input_tokens":60,"cache_creation_input_tokens":10,"completion_tokens":7}"#,
                (100, 7),
                UsageMismatch::Cache(70),
            ),
        ] {
            let document = json::scan(text.as_bytes(), 16).unwrap();
            let usage = usage(document.root()).unwrap();
            assert_eq!(
                (usage.input, usage.output),
                (Some(counts.0), Some(counts.1)),
                "{text}"
            );
            assert_eq!(usage.mismatch, Some(mismatch), "{text}");
        }
        // Half a usage, and a total that was never filled in.
        for text in [
            r#"{"prompt_tokens":100,"total_tokens":900}"#,
            r#"{"prompt_tokens":100,"completion_tokens":50,"total_tokens":0}"#,
        ] {
            let document = json::scan(text.as_bytes(), 16).unwrap();
            assert_eq!(usage(document.root()).unwrap().mismatch, None, "{text}");
        }
    }

    #[test]
    fn missing_counts_stay_missing() {
        assert_eq!(read(r#"{"total_tokens":21}"#), None);
        assert_eq!(read(r#"{"prompt_tokens":-1,"completion_tokens":2.5}"#), None);
        assert_eq!(read(r#"{"completion_tokens":5}"#), Some((None, None, Some(5))));
        assert_eq!(read(r#"{"prompt_tokens":5}"#), Some((Some(5), None, None)));
    }
}
