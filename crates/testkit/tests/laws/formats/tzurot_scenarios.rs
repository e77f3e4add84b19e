//! The scenarios of the Tzurot document through source, linking and dialect; then the output is read back.
//!
//! Two of the formatter's vectors do not apply: one display name comes from the bot's registry of personalities, which
//! no captured request contains; another is in `personalityDisplayName`, which that formatter overlooked and the source
//! reads. Vectors of later releases concern the wording of a quote, and are tested with the dialect.

use chatmill_model::{LinkStatus, Linked};
use chatmill_testkit::conversations::{read, renderings};
use serde_json::Value;

const SCENARIOS: &str = include_str!("../../../../../data-samples/dialects/tzurot/scenarios.json");
const FORMATTER: &str = include_str!("../../../../../data-samples/dialects/tzurot/formatter.json");

/// Reads a record and links it.
fn linked(record: &Value) -> Linked {
    read("tzurot-requests", &record.to_string())
}

/// The requests that the dialect writes for a conversation.
fn requests(linked: &Linked) -> Vec<String> {
    let renderings = renderings("tzurot", linked).into_iter();
    renderings.map(|(text, _)| text).collect()
}

fn cases(file: &str) -> Vec<Value> {
    serde_json::from_str(file).unwrap()
}

/// A scenario as the bot captures it: one object with the content and the personality.
fn request(input: &Value) -> Value {
    let mut record = match &input["content"] {
        Value::Object(fields) => Value::Object(fields.clone()),
        content => serde_json::json!({ "messageContent": content }),
    };
    record["currentPersonality"] = input["currentPersonality"].clone();
    record
}

#[test]
fn the_seventeen_scenarios_come_out_of_the_pipeline_byte_for_byte() {
    let cases = cases(SCENARIOS);
    assert_eq!(cases.len(), 17);
    for case in &cases {
        let expected = vec![serde_json::to_string(&case["expected"]).unwrap()];
        assert_eq!(
            requests(&linked(&case["input"])),
            expected,
            "call {}",
            case["scenario"]
        );
        assert_eq!(
            requests(&linked(&request(&case["input"]))),
            expected,
            "request {}",
            case["scenario"]
        );
    }
}

#[test]
fn the_formatters_vectors_come_out_of_the_pipeline_byte_for_byte() {
    let mut tried = 0;
    for case in cases(FORMATTER) {
        let input = &case["input"];
        let quoted = &input["content"]["referencedMessage"];
        if input["personalityRegistry"].is_object() || quoted["personalityDisplayName"].is_string() {
            continue;
        }
        let expected = vec![serde_json::to_string(&case["expected"]).unwrap()];
        assert_eq!(requests(&linked(&case["input"])), expected, "{}", case["vector"]);
        tried += 1;
    }
    assert_eq!(tried, 15);
}

#[test]
fn a_formatted_request_is_read_back() {
    let mut quotes = 0;
    for case in cases(SCENARIOS) {
        let linked = linked(&case["expected"][0]);
        let expected = vec![serde_json::to_string(&case["expected"]).unwrap()];
        assert_eq!(requests(&linked), expected, "{}", case["scenario"]);
        let links = &linked.links[0];
        let has_quote = case["input"]["content"]["referencedMessage"].is_object();
        assert_eq!(links.len(), usize::from(has_quote), "{}", case["scenario"]);
        assert!(links.iter().all(|link| link.status == LinkStatus::Preview));
        quotes += links.len();
    }
    assert_eq!(quotes, 13);
}
