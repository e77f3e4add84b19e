//! Model, token usage and time of the answer of a logged request.
//!
//! Each vendor has its own field names, which are in its grammar. `OpenAI` and Gemini include cached tokens in the input;
//! Anthropic and Bedrock count them separately, so they are added here. Gemini counts thoughts beside the answer. The
//! fields also remain among the extra fields: they hold more than is read here.

use chatmill_intake::json::Value;
use chatmill_model::Usage;

use crate::grammar::GRAMMARS;

/// The model that a request names.
pub(crate) fn model(root: Value<'_>) -> Option<Box<str>> {
    ["model", "modelId", "modelVersion"]
        .into_iter()
        .find_map(|key| word(root, key))
}

fn word(object: Value<'_>, key: &str) -> Option<Box<str>> {
    let text = object.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.into_owned().into())
}

/// The fields in which a vendor counts tokens.
#[derive(Debug)]
pub(crate) struct UsageForm {
    /// Tokens that went in.
    pub input: &'static str,
    /// Tokens that came out; those of the further fields are counted beside the first.
    pub output: &'static [&'static str],
    /// Tokens that were read from a cache, in the first of these fields; `outer.inner` is a field inside another.
    pub cached: &'static [&'static str],
    /// Tokens that were written to a cache.
    pub written: Option<&'static str>,
    /// Whether `input` contains the cached and the written tokens.
    pub contains_cache: bool,
}

/// The tokens that an object counts, in the words of any vendor; none where it counts none.
pub(crate) fn usage(object: Value<'_>) -> Option<Usage> {
    let forms = || GRAMMARS.iter().filter_map(|grammar| grammar.usage.as_ref());
    let cached = |is_inside: bool| {
        let mut fields = forms()
            .filter(move |form| form.contains_cache == is_inside)
            .flat_map(|form| form.cached);
        fields.find_map(|field| inner(object, field))
    };
    let outside = forms().filter(|form| !form.contains_cache);
    let written = outside
        .filter_map(|form| form.written)
        .find_map(|key| number(object, key));
    let beside = [cached(false), written].into_iter().flatten();
    let sent = forms().find_map(|form| number(object, form.input));
    let mut output: Option<u64> = None;
    for (at, key) in forms().flat_map(|form| form.output.iter().enumerate()) {
        let Some(more) = number(object, key) else { continue };
        match (&mut output, at) {
            (None, 0) => output = Some(more),
            (Some(output), 1..) => *output = output.saturating_add(more),
            _ => {}
        }
    }
    let usage = Usage {
        input: sent.map(|sent| beside.fold(sent, u64::saturating_add)),
        cached_input: cached(false).or_else(|| cached(true)),
        output,
    };
    (!usage.is_empty()).then_some(usage)
}

/// The tokens at a key, or at `outer.inner`.
fn inner(object: Value<'_>, path: &str) -> Option<u64> {
    match path.split_once('.') {
        Some((outer, inner)) => number(object.get(outer)?, inner),
        None => number(object, path),
    }
}

/// The tokens under a key.
pub(crate) fn number(object: Value<'_>, key: &str) -> Option<u64> {
    tokens(object.get(key)?.number_text()?)
}

/// The tokens that a text counts: whole ones; of more than anybody is billed for as many as fit, which [`bound`] leaves out.
pub(crate) fn tokens(text: &str) -> Option<u64> {
    let beyond = || {
        let number = text.parse().ok();
        number.filter(|number: &f64| *number > MOST_WRITTEN)
    };
    text.parse().ok().or_else(|| beyond().map(|_| u64::MAX))
}

/// The most tokens of a request that are taken for logged: beyond it, programs that read a bill have no whole numbers.
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
    fn missing_counts_stay_missing() {
        assert_eq!(read(r#"{"total_tokens":21}"#), None);
        assert_eq!(read(r#"{"prompt_tokens":-1,"completion_tokens":2.5}"#), None);
        assert_eq!(read(r#"{"completion_tokens":5}"#), Some((None, None, Some(5))));
        assert_eq!(read(r#"{"prompt_tokens":5}"#), Some((Some(5), None, None)));
    }
}
