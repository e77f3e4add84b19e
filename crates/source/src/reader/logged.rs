//! Model, token usage and time of the answer of a logged request.
//!
//! Each vendor has its own field names. `OpenAI` and Gemini include cached tokens in the input; Anthropic and
//! Bedrock count them separately, so they are added here. Gemini counts thoughts beside the answer. The
//! fields also remain among the extra fields: they hold more than is read here.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Message, Role, Usage};

use crate::frame::Reading;
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

/// Completes the answer, which is the last message, with the logged model, usage and time. Where no answer
/// was logged, the message that ends the request gets the usage.
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
const MOST: u64 = 1 << 53;
const MOST_WRITTEN: f64 = 9_007_199_254_740_992.0;

/// Removes numbers of usage that are too large for a bill, anywhere in a record, with a finding at the
/// message.
pub(crate) fn bound(reading: &mut Reading) {
    let messages = reading.conversation.iter_mut();
    for message in messages.flat_map(|conversation| &mut conversation.messages) {
        let Some(usage) = &mut message.usage else { continue };
        let logged = *usage;
        for count in [&mut usage.input, &mut usage.cached_input, &mut usage.output] {
            *count = count.filter(|count| *count <= MOST);
        }
        if *usage != logged {
            let text =
                format!("more than {MOST} tokens were logged, which no bill can hold: they are left out");
            let finding = Finding::new(&codes::BEARABLE_TYPE, text);
            let finding = finding.at_message(message.position, message.id.as_deref(), "");
            reading.findings.push(finding);
        }
        if usage.is_empty() {
            message.usage = None;
        }
    }
    reading.also.iter_mut().for_each(bound);
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_intake::json;
    use chatmill_model::{Conversation, MessageOrigin};

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
    fn a_count_beyond_two_to_the_53rd_is_left_out_at_its_message() {
        let all = |input: &str| format!(r#"{{"prompt_tokens":{input},"completion_tokens":7}}"#);
        for (input, left) in [
            ("9007199254740992", Some(1 << 53)),
            ("9007199254740993", None),
            ("9223372036854775807", None),
            ("18446744073709551615", None),
            ("18446744073709551616", None),
            ("1e308", None),
            ("1e999", None),
        ] {
            let text = all(input);
            let document = json::scan(text.as_bytes(), 16).unwrap();
            let mut reading = Reading {
                conversation: Some(Conversation {
                    messages: vec![Message {
                        usage: usage(document.root()),
                        ..Message::new(Role::Assistant, 0, MessageOrigin::default())
                    }],
                    ..Conversation::default()
                }),
                ..Reading::default()
            };
            bound(&mut reading);
            let usage = reading.conversation.unwrap().messages[0].usage.unwrap();
            assert_eq!((usage.input, usage.output), (left, Some(7)), "{input}");
            assert_eq!(reading.findings.len(), usize::from(left.is_none()), "{input}");
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
