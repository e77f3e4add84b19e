//! Model, token usage and time of the answer of a logged request.
//!
//! Each vendor has its own field names. `OpenAI` and Gemini include cached tokens in the input; Anthropic and
//! Bedrock count them separately, so they are added here. Gemini counts thoughts beside the answer. The
//! fields also remain among the extra fields: they hold more than is read here.

use chatmill_intake::json::Value;
use chatmill_model::Usage;

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

/// The tokens that an object counts, in the words of any vendor; none where it counts none.
pub(crate) fn usage(object: Value<'_>) -> Option<Usage> {
    let count = |keys: &[&str]| keys.iter().find_map(|key| number(object, key));
    let inner = |key: &str, field: &str| number(object.get(key)?, field);
    let beside = [
        count(&["cache_read_input_tokens", "cacheReadInputTokens"]),
        count(&["cache_creation_input_tokens", "cacheWriteInputTokens"]),
    ];
    let sent = count(&["prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount"]);
    let written = count(&[
        "completion_tokens",
        "output_tokens",
        "outputTokens",
        "candidatesTokenCount",
    ]);
    let thought = number(object, "thoughtsTokenCount");
    let usage = Usage {
        input: sent.map(|sent| beside.into_iter().flatten().fold(sent, u64::saturating_add)),
        cached_input: beside
            .first()
            .copied()
            .flatten()
            .or_else(|| inner("prompt_tokens_details", "cached_tokens"))
            .or_else(|| inner("input_tokens_details", "cached_tokens"))
            .or_else(|| count(&["cached_input_tokens", "cachedContentTokenCount"])),
        output: written.map(|written| written.saturating_add(thought.unwrap_or_default())),
    };
    (!usage.is_empty()).then_some(usage)
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
