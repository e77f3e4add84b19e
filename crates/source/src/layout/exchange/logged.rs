//! The model, usage and time of the answer of a logged request, at its message.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Message, Role, ServiceTier, Usage, UsageMismatch};

use crate::base::{present, times};
use crate::frame::Reading;
use crate::grammar::usage::{CountedTokens, MOST, answer_id, counted, flat, model, object, within};

/// Completes the answer, which is the last message, with the logged model, usage and time. If no answer was logged, the message
/// that ends the request gets the usage.
pub(crate) fn answer(root: Value<'_>, messages: &mut [Message]) {
    let Some(last) = messages.last_mut().filter(|_| root.kind() == Kind::Object) else {
        return;
    };
    let response = present(root, "response").filter(|response| response.kind() == Kind::Object);
    last.usage = match last.usage {
        None => logged_usage(root, response, present(root, "metadata")),
        own => within(
            own,
            &[response, Some(root)].into_iter().flatten().collect::<Vec<_>>(),
        ),
    };
    if last.role != Role::Assistant {
        return;
    }
    if last.model.is_none() {
        last.model = response.and_then(model);
    }
    last.answer = response.and_then(answer_id).or(last.answer.take());
    if last.timestamp.is_none() {
        let of_response = response
            .into_iter()
            .flat_map(|response| ["created", "created_at", "createTime"].map(|key| response.get(key)));
        let of_record = ["timestamp", "created_at", "created"].map(|key| root.get(key));
        last.timestamp = of_response.chain(of_record).flatten().find_map(times::known);
    }
}

/// The usage that a record logs of its request: in the answer, in the record, in its metadata, or in top-level fields, as gateways write
/// it. `LiteLLM` may have the counts of caches apart from them.
pub(crate) fn logged_usage(
    root: Value<'_>,
    response: Option<Value<'_>>,
    metadata: Option<Value<'_>>,
) -> Option<Usage> {
    let around: Vec<Value<'_>> = [response, Some(root)].into_iter().flatten().collect();
    let mut places = around.iter().copied().chain(metadata);
    let found = places.find_map(|place| counted(object(place)?)).or_else(|| {
        let more = metadata.and_then(|metadata| counted(present(metadata, "additional_usage_values")?));
        let flat = around.iter().find_map(|place| flat(*place))?;
        Some(more.map_or(flat, |more| flat.or(more)))
    });
    within(found.and_then(CountedTokens::usage), &around)
}

/// Marks answers as parts of a batch, which is charged at its own tier, whatever tier they name.
pub(crate) fn batched(messages: &mut [Message]) {
    for usage in messages.iter_mut().filter_map(|message| message.usage.as_mut()) {
        usage.tier = Some(ServiceTier::Batch);
    }
}

/// A usage without cost, because the answer came from a gateway's cache.
pub(crate) fn unpaid(usage: Usage) -> Usage {
    Usage {
        input: Some(0),
        output: Some(0),
        cost: usage.cost,
        ..Usage::default()
    }
}

/// Removes numbers of usage that are too large for a bill, anywhere in a record, and adds findings about them and about usage that
/// does not add up.
pub(crate) fn bound(reading: &mut Reading) {
    let messages = reading.conversation.iter_mut();
    for message in messages.flat_map(|conversation| &mut conversation.messages) {
        let Some(usage) = &mut message.usage else { continue };
        let logged = *usage;
        for count in [
            &mut usage.input,
            &mut usage.cached_input,
            &mut usage.cache_write,
            &mut usage.cache_write_1h,
            &mut usage.output,
            &mut usage.searches,
        ] {
            *count = count.filter(|count| *count <= MOST);
        }
        if *usage != logged {
            let text =
                format!("more than {MOST} tokens were logged, which no bill can hold: they are left out");
            let finding = Finding::new(&codes::BEARABLE_TYPE, text);
            let finding = finding.at_message(message.position, message.id.as_deref(), "");
            reading.findings.push(finding);
        }
        let counts = (usage.input, usage.output);
        if let (Some(mismatch), (Some(input), Some(output))) = (usage.mismatch, counts) {
            let text = match mismatch {
                UsageMismatch::Total(total) => format!(
                    "the logged usage does not add up: {input} tokens of input and {output} of output, and {total} in all; the parts are used"
                ),
                UsageMismatch::Cache(cache) => format!(
                    "{cache} tokens of a cache were logged that the input should contain and cannot: they are added to it, {input} in all"
                ),
            };
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
    use crate::grammar::usage::usage;
    use chatmill_intake::json;
    use chatmill_model::{Conversation, MessageOrigin};

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
}
