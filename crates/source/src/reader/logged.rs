//! What stands in a logged request of its model, its usage and the time of its answer.
//!
//! Each vendor counts under names of its own. `OpenAI` and Gemini count what came from a cache among the input; Anthropic and
//! Bedrock beside it, so that it is added here. Gemini counts thoughts beside the answer. The fields stay where they are, too:
//! they say more than is read.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Message, Role, Usage};

use crate::reader::fields::present;
use crate::reader::times;

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

/// Says of the answer, which is the last message, what was logged beside it: model, usage and time. Where no answer was logged,
/// the message that ends the request gets the usage.
pub(crate) fn answer(root: Value<'_>, messages: &mut [Message]) {
    let Some(last) = messages.last_mut().filter(|_| root.kind() == Kind::Object) else {
        return;
    };
    let response = present(root, "response").filter(|response| response.kind() == Kind::Object);
    if last.usage.is_none() {
        let places = [response, Some(root)].into_iter().flatten();
        last.usage = places
            .flat_map(|place| ["usage", "usageMetadata"].map(|key| present(place, key)))
            .flatten()
            .find_map(usage);
    }
    if last.role != Role::Assistant {
        return;
    }
    if last.model.is_none() {
        last.model = response.and_then(model);
    }
    if last.timestamp.is_none() {
        let of_response = response
            .into_iter()
            .flat_map(|response| ["created", "created_at", "createTime"].map(|key| response.get(key)));
        let of_record = ["timestamp", "created_at", "created"].map(|key| root.get(key));
        last.timestamp = of_response.chain(of_record).flatten().find_map(times::known);
    }
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
            .or_else(|| number(object, "cachedContentTokenCount")),
        output: written.map(|written| written.saturating_add(thought.unwrap_or_default())),
    };
    (!usage.is_empty()).then_some(usage)
}

fn number(object: Value<'_>, key: &str) -> Option<u64> {
    object.get(key)?.number_text()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_intake::json;

    fn read(text: &str) -> Option<(Option<u64>, Option<u64>, Option<u64>)> {
        let document = json::scan(text.as_bytes(), 16).unwrap();
        usage(document.root()).map(|usage| (usage.input, usage.cached_input, usage.output))
    }

    #[test]
    fn usage_means_the_same_whoever_counted() {
        for text in [
            r#"{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}"#,
            r#"{"input_tokens":100,"output_tokens":7,"input_tokens_details":{"cached_tokens":60}}"#,
            r#"{"input_tokens":30,"cache_read_input_tokens":60,"cache_creation_input_tokens":10,"output_tokens":7}"#,
            r#"{"inputTokens":30,"cacheReadInputTokens":60,"cacheWriteInputTokens":10,"outputTokens":7}"#,
            r#"{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":4,"thoughtsTokenCount":3}"#,
        ] {
            assert_eq!(read(text), Some((Some(100), Some(60), Some(7))), "{text}");
        }
    }

    #[test]
    fn what_is_not_counted_is_not_made_up() {
        assert_eq!(read(r#"{"total_tokens":21}"#), None);
        assert_eq!(read(r#"{"prompt_tokens":-1,"completion_tokens":2.5}"#), None);
        assert_eq!(read(r#"{"completion_tokens":5}"#), Some((None, None, Some(5))));
        assert_eq!(read(r#"{"prompt_tokens":5}"#), Some((Some(5), None, None)));
    }
}
