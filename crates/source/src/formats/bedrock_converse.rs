//! Requests of Bedrock's Converse API, and the lines of its fine-tuning files, which are the same with a version.
//!
//! The smallest example:
//!
//! ```json
//! {"schemaVersion": "bedrock-conversation-2024", "system": [{"text": "Be brief."}],
//!  "messages": [{"role": "user", "content": [{"text": "Hi"}]}, {"role": "assistant", "content": [{"text": "Hello"}]}]}
//! ```
//!
//! A block is an object with one field, which says what it is; a cache mark is a block of its own. A user turn that holds
//! nothing but results is the tool's; one that says more is the user's, results and all.

use chatmill_intake::RecordSketch;

use crate::reader::vendor::converse::turn;
use crate::reader::{RequestForm, Requests, Vendor, has, holds};
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "bedrock-converse",
    title: "Bedrock Converse requests",
    specification: "Amazon Bedrock runtime, Converse, and the schema bedrock-conversation-2024",
    shapes: &["converse"],
    carries: "roles, text, pictures, films and documents, tool definitions, calls and results, failures, reasoning, cache marks",
    customs: NO_TEXT_ARGUMENTS.of_one_request(),
};

static FORM: RequestForm = RequestForm {
    list: "messages",
    may_be_text: false,
    system: Some("system"),
    tools: "toolConfig",
    known: &["role", "content"],
    turn,
    described: None,
};

/// The source `bedrock-converse`.
pub static BEDROCK_CONVERSE: Requests = Requests {
    about: &ABOUT,
    form: &FORM,
    recognise,
    vendor: Some(Vendor::Converse),
};

/// Fields that only these requests have beside `messages`.
const OWN: [&str; 3] = ["toolConfig", "inferenceConfig", "additionalModelRequestFields"];

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    if !holds(record, "messages", "role") {
        return None;
    }
    if let Some(key) = OWN.into_iter().find(|key| has(record, key)) {
        return Some((95, format!("the record has {key}")));
    }
    let mut strings = record.strings.iter();
    if strings.any(|(key, text)| key == "schemaVersion" && text.starts_with("bedrock-conversation")) {
        return Some((
            95,
            "the record has the schema version of Bedrock's conversations".to_owned(),
        ));
    }
    let is_system = holds(record, "system", "text") && !holds(record, "system", "type");
    is_system.then(|| (85, "system text is a list of blocks without a type".to_owned()))
}
