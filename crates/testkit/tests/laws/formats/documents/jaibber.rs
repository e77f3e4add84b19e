//! Jaibber's document: "All messages are published as `channel.publish("message", payload)` where `payload` is an
//! `AblyMessage`". Of its fields, `from`, `fromUsername`, `projectId`, `text`, `messageId` and `type` are not marked as
//! optional.

use chatmill_diag::Limits;
use chatmill_dialect::{Policy, View};
use chatmill_intake::{Framing, Head};
use chatmill_model::Linked;
use chatmill_testkit::conversations::cases;
use serde_json::Value;

/// The payloads of a conversation, and the source that recognises them.
fn published(linked: &Linked) -> (Vec<Value>, Option<&'static str>) {
    let dialect = chatmill_dialect::find("jaibber-events").unwrap();
    let policy = Policy::default();
    let view = View::whole(linked, None, &policy);
    let mut text = String::new();
    dialect.render_each(&view, &mut |sink, _| text.push_str(sink.text()));
    let head = Head {
        framing: Framing::Array,
        complete: true,
        bytes: text.clone().into_bytes(),
    };
    let evidence = chatmill_source::detect(&head, &Limits::default());
    (
        serde_json::from_str(&text).unwrap(),
        evidence.map(|evidence| evidence.source),
    )
}

#[test]
fn every_payload_has_the_required_fields_and_is_recognised() {
    let mut tried = 0;
    for (name, linked) in cases() {
        let (payloads, source) = published(&linked);
        // Tasks have a different form.
        let messages = payloads.iter().filter(|payload| payload.get("task").is_none());
        for payload in messages {
            tried += 1;
            for field in ["from", "fromUsername", "projectId", "text", "messageId", "type"] {
                let word = payload[field].as_str();
                let is_said = word.is_some_and(|word| field == "text" || !word.is_empty());
                let is_free = field == "type" && linked.conversation.keeps_fields_of("jaibber-events");
                assert!(is_said || is_free, "{name}: {field} of {payload}");
            }
        }
        if !payloads.is_empty() {
            assert_eq!(source, Some("jaibber-events"), "{name}: {payloads:?}");
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn one_message_written_as_a_jaibber_event_is_recognised_as_one() {
    let linked = chatmill_testkit::conversations::read(
        "openai-messages",
        r#"{"messages":[{"role":"user","content":"q"}]}"#,
    );
    let (payloads, source) = published(&linked);
    assert_eq!((payloads.len(), source), (1, Some("jaibber-events")));
}
