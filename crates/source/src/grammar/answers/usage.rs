//! Model, token usage and time of the answer of a logged request.
//!
//! Each vendor has its own field names, and its own rule about which count contains which; both are in its grammar. `OpenAI` and Gemini
//! include cached tokens in the input; Anthropic and Bedrock count them separately, so they are added here. Gemini counts thoughts
//! separately from the answer. The fields also remain among the extra fields, because they contain more than is read here.

use std::borrow::Cow;

use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{Cost, ServiceTier, Usage, UsageMismatch};

use crate::base::{present, text};
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

/// The fields in which a vendor counts tokens; `outer.inner` is a field inside another, at any depth, and `list[key=word]` the first
/// element of a list in which a field is this word. SDKs write the names of their vendor in the case of their language
/// (`prompt_tokens`, `promptTokens`): one spelling of each is enough.
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
    /// The shares of them that were written for minutes, and for an hour, each in any of these fields.
    pub written_for: [&'static [&'static str]; 2],
    /// Searches on the web, in any of these fields.
    pub searches: &'static [&'static str],
    /// Whether `input` contains the cached and the written tokens.
    pub contains_cache: bool,
    /// All tokens of the request.
    pub total: Option<&'static str>,
    /// A list with the counts of each step of the answer.
    pub steps: Option<&'static str>,
}

/// Forms of programs that have no grammar: Ollama, and Cohere, which bills other counts than those of its tokenizer.
static OTHERS: [UsageForm; 2] = [
    UsageForm {
        input: &["prompt_eval_count"],
        output: &["eval_count"],
        ..UsageForm::NOTHING
    },
    UsageForm {
        input: &["billed_units.input_tokens"],
        output: &["billed_units.output_tokens"],
        ..UsageForm::NOTHING
    },
];

impl UsageForm {
    /// The form of a vendor that counts nothing, which others complete.
    pub(crate) const NOTHING: Self = Self {
        input: &[],
        output: &[],
        thoughts: &[],
        cached: &[],
        written: &[],
        written_for: [&[]; 2],
        searches: &[],
        contains_cache: true,
        total: None,
        steps: None,
    };

    /// The counts of input, cache and output. They decide which form an object has.
    fn main_counts(&self, object: &UsageFields<'_, '_>) -> CountedTokens {
        let written_for = self.written_for.map(|fields| any(object, fields));
        CountedTokens {
            input: sum(object, self.input),
            cached: any(object, self.cached),
            written: any(object, self.written).max(added(written_for)),
            contains_cache: self.contains_cache,
            output: sum(object, self.output),
            ..CountedTokens::default()
        }
    }

    /// Adds all other counts.
    fn complete(&self, object: &UsageFields<'_, '_>, main: CountedTokens) -> CountedTokens {
        let [_, hour] = self.written_for;
        let whole = CountedTokens {
            written_1h: any(object, hour),
            thoughts: any(object, self.thoughts),
            contains_thoughts: true,
            searches: any(object, self.searches),
            total: self.total.and_then(|field| inner(object, field)),
            ..main
        };
        let steps = self.steps.and_then(|key| object.get(key));
        let steps = steps.into_iter().flat_map(Value::items);
        steps.fold(whole, |whole, step| self.with_step(whole, step))
    }

    /// Adds a step that the counts of the answer do not contain: a compaction. They contain its messages; an adviser is another model.
    fn with_step(&self, whole: CountedTokens, step: Value<'_>) -> CountedTokens {
        let kind = step.get("type").and_then(Value::string);
        let is_added = match kind.as_deref() {
            Some("compaction") => true,
            Some("message") => false,
            _ => return whole,
        };
        let fields: Vec<_> = step.fields().collect();
        let fields = UsageFields::of(&fields);
        step.get("type").inspect(|kind| kind.mark(Mark::Taken));
        let counted = self.complete(&fields, self.main_counts(&fields));
        if is_added { whole.plus(counted) } else { whole }
    }
}

/// The largest count in one of these fields.
fn any(object: &UsageFields<'_, '_>, fields: &[&str]) -> Option<u64> {
    fields.iter().filter_map(|field| inner(object, field)).max()
}

/// The sum of the counts in these fields.
fn sum(object: &UsageFields<'_, '_>, fields: &[&str]) -> Option<u64> {
    added(fields.iter().map(|field| inner(object, field)))
}

/// The sum of those counts that there are.
fn added(counts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
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
    /// Fills missing counts from an earlier part of the log: a stream counts the input when it begins, and the output when it ends.
    pub(crate) fn or(self, earlier: Self) -> Self {
        let of_input = if self.input.is_some() { self } else { earlier };
        Self {
            input: of_input.input,
            cached: self.cached.or(earlier.cached),
            written: self.written.or(earlier.written),
            written_1h: self.written_1h.or(earlier.written_1h),
            contains_cache: of_input.contains_cache,
            output: self.output.or(earlier.output),
            thoughts: self.thoughts.or(earlier.thoughts),
            contains_thoughts: self.contains_thoughts,
            // An earlier total does not contain what came later.
            total: self.total,
            searches: self.searches.or(earlier.searches),
            tier: self.tier.or(earlier.tier),
            cost: self.cost.or(earlier.cost),
        }
    }

    /// Adds the tokens of another request with the same form.
    fn plus(self, other: Self) -> Self {
        Self {
            input: added([self.input, other.input]),
            cached: added([self.cached, other.cached]),
            written: added([self.written, other.written]),
            written_1h: added([self.written_1h, other.written_1h]),
            output: added([self.output, other.output]),
            ..self
        }
    }

    /// The usage. A logged total decides which counts contain which. Without one the vendor's rule does, if it is possible: a part that is
    /// larger than the whole was counted separately.
    pub(crate) fn usage(self) -> Option<Usage> {
        let cache = added([self.cached, self.written]).unwrap_or_default();
        let thoughts = self.thoughts.unwrap_or_default();
        let with = |count: Option<u64>, part: u64| count.map(|count| count.saturating_add(part));
        let ways = |count: Option<u64>, part: u64, contains: bool| match count {
            Some(own) if part > own => [with(count, part); 2],
            _ if contains => [count, with(count, part)],
            _ => [with(count, part), count],
        };
        // Some programs include in the input what was read from a cache, and not what was written to it.
        let outside = if self.cached <= self.input {
            self.written.unwrap_or_default()
        } else {
            cache
        };
        let is_more = self.contains_cache && self.input.is_some_and(|input| cache > input);
        let inputs = if is_more {
            [with(self.input, outside), with(self.input, cache)]
        } else {
            ways(self.input, cache, self.contains_cache)
        };
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
            (None, None) => is_more.then_some(UsageMismatch::Cache(outside)),
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
    counted(object)?.usage()
}

/// The counts of an object, with the field names of any vendor; `None` if it has none.
pub(crate) fn counted(object: Value<'_>) -> Option<CountedTokens> {
    let fields: Vec<_> = object.fields().collect();
    let as_written = UsageFields::of(&fields);
    let best = |fields: UsageFields<'_, '_>| {
        let candidates = forms().map(|form| (form, form.main_counts(&fields)));
        candidates.min_by_key(|(_, counted)| rank(counted))
    };
    let known = best(as_written)?;
    let mut found = (as_written, known);
    if rank(&known.1) > 0 {
        let in_any_case = as_written.in_any_case();
        let other = best(in_any_case).filter(|(_, other)| rank(other) < rank(&known.1));
        found = other.map_or(found, |other| (in_any_case, other));
    }
    let (fields, (form, main)) = found;
    let counted = form.complete(&fields, main);
    let output = || forms().find_map(|form| sum(&fields, form.output));
    let searches = || forms().find_map(|form| any(&fields, form.searches));
    let counted = CountedTokens {
        output: counted.output.or_else(output),
        searches: counted.searches.or_else(searches),
        tier: tier(object),
        cost: cost(object),
        ..counted
    };
    counted.usage().is_some().then_some(counted)
}

fn forms() -> impl Iterator<Item = &'static UsageForm> {
    let of_grammars = GRAMMARS.iter().filter_map(|grammar| grammar.usage.as_ref());
    of_grammars.chain(&OTHERS)
}

/// The order of forms that read an object: vendors share field names, and those of the cache decide whether the input contains it.
fn rank(counted: &CountedTokens) -> u8 {
    let cache = counted.cached.max(counted.written);
    match (counted.input, cache, counted.output) {
        (Some(_), Some(1..), _) => 0,
        (Some(_), Some(0), _) => 1,
        (Some(_), None, _) => 2,
        (None, _, Some(_)) => 3,
        (None, Some(_), None) => 4,
        (None, None, None) => 5,
    }
}

/// The fields of an object, looked up under the names of all vendors.
#[derive(Clone, Copy)]
struct UsageFields<'f, 'v> {
    fields: &'f [(Cow<'v, str>, Value<'v>)],
    is_name: fn(&str, &str) -> bool,
}

impl<'f, 'v> UsageFields<'f, 'v> {
    fn of(fields: &'f [(Cow<'v, str>, Value<'v>)]) -> Self {
        Self {
            fields,
            is_name: |name, key| name == key,
        }
    }

    /// The same fields, which are found in the other case of their names, too.
    fn in_any_case(self) -> Self {
        Self {
            is_name: is_same_word,
            ..self
        }
    }

    /// The last field of a name, as in [`Value::get`].
    fn get(&self, key: &str) -> Option<Value<'v>> {
        let mut fields = self.fields.iter().rev();
        fields
            .find(|(name, _)| (self.is_name)(name, key))
            .map(|(_, value)| *value)
    }

    /// The last field of a name in an object inside.
    fn inside(&self, object: Value<'v>, key: &str) -> Option<Value<'v>> {
        let named = object.fields().filter(|(name, _)| (self.is_name)(name, key));
        named.last().map(|(_, value)| value)
    }
}

/// Whether a name is a key in the same case or another: `promptTokens` is `prompt_tokens`.
fn is_same_word(name: &str, key: &str) -> bool {
    let signs = |word| str::bytes(word).filter(|byte| *byte != b'_');
    let lower = |byte: u8| byte.to_ascii_lowercase();
    signs(name).map(lower).eq(signs(key).map(lower))
}

/// The tokens at a path.
fn inner(object: &UsageFields<'_, '_>, path: &str) -> Option<u64> {
    let mut steps = path
        .split('.')
        .map(|step| step.split_once('[').unwrap_or((step, "")));
    let (key, wanted) = steps.next()?;
    let first = element(object.get(key)?, wanted)?;
    let value = steps.try_fold(first, |value, (key, wanted)| {
        element(object.inside(value, key)?, wanted)
    })?;
    tokens(value.number_text()?)
}

/// The element of a list that `wanted` names, as in `key=word]`; the value itself if that is empty.
fn element<'v>(value: Value<'v>, wanted: &str) -> Option<Value<'v>> {
    let Some((key, word)) = wanted.trim_end_matches(']').split_once('=') else {
        return Some(value);
    };
    let mut elements = value.items();
    elements.find(|element| text(element.get(key)).as_deref() == Some(word))
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

/// Fields in which an answer, or a record around it, counts tokens; of a list its first element counts. `usage_metadata` is Gemini's in
/// Python, and `LangChain`'s; the last two are in streams of Groq and Moonshot.
const PLACES: [&str; 6] = [
    "usage",
    "usageMetadata",
    "usage_metadata",
    "usage_object",
    "x_groq.usage",
    "choices.usage",
];

/// The object in which an answer, or a record around it, counts tokens.
pub(crate) fn object<'d>(holder: Value<'d>) -> Option<Value<'d>> {
    let step = |value: Value<'d>, key| present(value.items().next().unwrap_or(value), key);
    PLACES.iter().find_map(|place| {
        let mut keys = place.split('.');
        let first = present(holder, keys.next()?)?;
        keys.try_fold(first, step)
    })
}

/// Pairs of counts at the top level of a record: of gateways, and of Ollama's answers.
const FLAT: [[&str; 2]; 3] = [
    ["prompt_tokens", "completion_tokens"],
    ["promptTokens", "completionTokens"],
    ["prompt_eval_count", "eval_count"],
];

/// The counts that a gateway or a program writes into the top level of its record.
pub(crate) fn flat(record: Value<'_>) -> Option<CountedTokens> {
    let has = |key: &&str| present(record, key).is_some();
    let is_one = FLAT.iter().any(|pair| pair.iter().all(has));
    is_one.then(|| counted(record))?
}

/// The service tier in a usage or an answer.
pub(crate) fn tier(object: Value<'_>) -> Option<ServiceTier> {
    // Claude Code writes both the speed and the tier; the speed decides the price. Bedrock's tier is an object.
    [
        "speed",
        "service_tier",
        "serviceTier",
        "trafficType",
        "traffic_type",
    ]
    .into_iter()
    .filter_map(|key| {
        let value = object.get(key)?;
        let value = if value.kind() == Kind::Object {
            value.get("type")?
        } else {
            value
        };
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
const COSTS: [&str; 10] = [
    "cost",
    "costUSD",
    "cost_usd",
    "response_cost",
    "spend",
    "total_cost",
    "totalCost",
    "calculatedTotalCost",
    "cost_details",
    "costDetails",
];

/// An amount of money.
pub(crate) fn amount(value: Value<'_>) -> Option<Cost> {
    let number = value.number_text().and_then(money);
    // Decimal numbers are texts in JSON.
    number.or_else(|| {
        let cost = money(&value.string()?)?;
        value.mark(Mark::Taken);
        Some(cost)
    })
}

/// An amount of money in a text.
pub(crate) fn money(text: &str) -> Option<Cost> {
    text.parse().ok().and_then(Cost::new)
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
    fn names_are_read_in_the_case_of_each_language() {
        for text in [
            r#"{"promptTokens":100,"completionTokens":7,"promptTokensDetails":{"cachedTokens":60},"completionTokensDetails":{"reasoningTokens":3}}"#,
            r#"{"prompt_token_count":100,"cached_content_token_count":60,"candidates_token_count":4,"thoughts_token_count":3,"total_token_count":107}"#,
            r#"{"inputTokens":100,"outputTokens":7,"inputTokensDetails":{"cachedTokens":60}}"#,
            r#"{"inputTokens":30,"outputTokens":7,"cacheReadInputTokens":60,"cacheCreationInputTokens":10}"#,
            r#"{"inputTokens":{"total":100,"noCache":40,"cacheRead":60},"outputTokens":{"total":7,"reasoning":3}}"#,
            // DashScope's are in the names of both APIs of OpenAI.
            r#"{"input_tokens":100,"output_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}"#,
        ] {
            assert_eq!(read(text), Some((Some(100), Some(60), Some(7))), "{text}");
        }
        for text in [
            r#"{"prompt_eval_count":100,"eval_count":7}"#,
            r#"{"billed_units":{"input_tokens":100,"output_tokens":7},"tokens":{"input_tokens":500,"output_tokens":9}}"#,
            // OpenWebUI repeats Ollama's counts in OpenAI's names.
            r#"{"prompt_eval_count":100,"eval_count":7,"prompt_tokens":100,"completion_tokens":7}"#,
        ] {
            assert_eq!(read(text), Some((Some(100), None, Some(7))), "{text}");
        }
    }

    #[test]
    fn counts_are_found_where_answers_and_their_streams_have_them() {
        for text in [
            r#"{"usage":{"input_tokens":8}}"#,
            r#"{"usage_metadata":{"input_tokens":8}}"#,
            r#"{"usage":null,"x_groq":{"id":"r","usage":{"prompt_tokens":8}}}"#,
            r#"{"choices":[{"index":0,"delta":{},"usage":{"prompt_tokens":8}}]}"#,
        ] {
            let document = json::scan(text.as_bytes(), 16).unwrap();
            let object = object(document.root()).unwrap();
            assert_eq!(usage(object).unwrap().input, Some(8), "{text}");
        }
        for (text, counts) in [
            (r#"{"done":true,"prompt_eval_count":8,"eval_count":3}"#, Some(3)),
            (r#"{"promptTokens":8,"completionTokens":3}"#, Some(3)),
            (r#"{"prompt_tokens":8}"#, None),
        ] {
            let document = json::scan(text.as_bytes(), 16).unwrap();
            assert_eq!(
                flat(document.root()).and_then(|counted| counted.output),
                counts,
                "{text}"
            );
        }
    }

    #[test]
    fn a_compaction_is_paid_beside_the_answer() {
        let text = r#"{"input_tokens":10,"cache_read_input_tokens":600,"output_tokens":50,"iterations":[
            {"type":"compaction","input_tokens":18000,"output_tokens":350,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_1h_input_tokens":20}},
            {"type":"message","input_tokens":10,"cache_read_input_tokens":600,"output_tokens":50},
            {"type":"advisor_message","model":"other","input_tokens":70,"output_tokens":8}]}"#;
        let document = json::scan(text.as_bytes(), 16).unwrap();
        let usage = usage(document.root()).unwrap();
        assert_eq!(
            (
                usage.input,
                usage.cached_input,
                usage.cache_write,
                usage.cache_write_1h
            ),
            (Some(18_640), Some(600), Some(10), Some(20))
        );
        assert_eq!(usage.output, Some(400));
        let steps = document.root().get("iterations").unwrap();
        let left: Vec<bool> = steps.items().map(Value::is_touched).collect();
        assert_eq!(left, [true, true, false]);
    }

    #[test]
    fn a_stream_divides_its_writes_at_the_start_and_repeats_their_sum_at_the_end() {
        let scan = |text: &'static str| json::scan(text.as_bytes(), 16).unwrap();
        let start = scan(
            r#"{"input_tokens":100,"cache_creation_input_tokens":300,"cache_read_input_tokens":600,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":200},"output_tokens":1}"#,
        );
        for end in [
            r#"{"input_tokens":100,"cache_creation_input_tokens":300,"cache_read_input_tokens":600,"output_tokens":50}"#,
            r#"{"output_tokens":50}"#,
        ] {
            let end = scan(end);
            let all = counted(end.root()).unwrap().or(counted(start.root()).unwrap());
            let usage = all.usage().unwrap();
            assert_eq!(
                (usage.input, usage.cache_write, usage.cache_write_1h, usage.output),
                (Some(1000), Some(100), Some(200), Some(50))
            );
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
                (Some(10), Some(20)),
            ),
            // The details are LiteLLM's only inside those of the prompt.
            (
                r#"{"prompt_tokens":40,"completion_tokens":7,"cache_creation_input_tokens":30,"cache_creation_token_details":{"ephemeral_1h_input_tokens":20}}"#,
                (Some(30), None),
            ),
            (
                r#"{"inputTokens":5,"outputTokens":7,"cacheWriteInputTokens":30,"cacheDetails":[{"ttl":"1h","inputTokens":20},{"ttl":"5m","inputTokens":10}]}"#,
                (Some(10), Some(20)),
            ),
            (
                r#"{"input_tokens":40,"output_tokens":7,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":30}}"#,
                (Some(30), None),
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
        for (tier, text) in [
            (ServiceTier::Priority, r#"{"serviceTier":{"type":"priority"}}"#),
            (ServiceTier::Flex, r#"{"trafficType":"ON_DEMAND_FLEX"}"#),
            (ServiceTier::Standard, r#"{"traffic_type":"ON_DEMAND"}"#),
        ] {
            let document = json::scan(text.as_bytes(), 8).unwrap();
            assert_eq!(super::tier(document.root()), Some(tier), "{text}");
        }
        assert_eq!(
            of(r#"{"input_tokens":5,"output_tokens":7,"cost":"0.0012"}"#)
                .cost
                .map(Cost::amount),
            Some(0.0012)
        );
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
            // What was read from a cache is in the input, and what was written to it cannot be.
            (
                r#"{"prompt_tokens":65,"cache_read_input_tokens":60,"cache_creation_input_tokens":10,"completion_tokens":7}"#,
                (75, 7),
                UsageMismatch::Cache(10),
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
