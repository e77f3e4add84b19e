//! Facts about two releases of Tzurot's formatter, found by running it: 72 of our 113 vectors. Each is read twice, as the request that went in and as
//! the message that came out, and both readings must agree.
//!
//! | Not here | Why |
//! |---|---|
//! | the document's scenarios (17) | The tests of the dialect try them end to end, byte for byte. |
//! | sanitising (13), ids of requests (2) | They concern answers of the AI service and deduplication of requests in flight. |
//! | embeds (3), detection of media (6) | They read messages of Discord before a request exists. |

use std::collections::BTreeSet;

use chatmill_diag::Limits;
use chatmill_model::{Conversation, Part};
use serde_json::Value;

use crate::TZUROT_REQUESTS;
use crate::tests::frame;

const VECTORS: &str = include_str!("../../../../data-samples/sources/tzurot-requests/vectors.json");

/// Vectors that cannot be compared, because of bugs of the formatter or because a text contains its markup.
const EXCEPTIONS: [&str; 13] = [
    // Falsy text: the whole request became the content.
    "c8b458256 empty user text with reference",
    "v2.0.10 empty user text with reference",
    // A quoted list made the formatter forget the quote.
    "c8b458256 reference content is an array",
    "v2.0.10 reference content is an array",
    // No content at all.
    "c8b458256 null content",
    "v2.0.10 null content",
    // A bot with a name and no id: such a quote remains text.
    "v2.0.10 bot reference without personalityName, current personality given",
    "c8b458256 bot reference, personalityDisplayName (production field name)",
    "c8b458256 bot reference with control characters",
    "v2.0.10 bot reference with control characters",
    "v2.0.10 webhook name used for unknown bot",
    "v2.0.10 author used when webhook name is null",
    "v2.0.10 webhook media",
];

fn cases() -> Vec<Value> {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    vectors["cases"].as_array().unwrap().clone()
}

fn read(record: &Value) -> Option<Conversation> {
    frame::read(
        &TZUROT_REQUESTS,
        record.to_string().as_bytes(),
        &Limits::default(),
    )
    .conversation
}

/// The text of a message, without what the formatter removes or adds.
fn own(conversation: &Conversation) -> String {
    let texts: Vec<&str> = conversation.messages[0].texts().collect();
    texts
        .join(" ")
        .chars()
        .filter(|character| *character >= ' ' || "\t\n\r".contains(*character))
        .collect()
}

/// The quoted text, without media and their traces.
fn quoted(conversation: &Conversation) -> Option<String> {
    let preview = conversation.messages[0].references.first()?.preview.as_ref()?;
    let mut text = preview.content.clone().unwrap_or_default();
    for word in ["Image", "Audio", "Embed Thumbnail", "Embed Image"] {
        let marker = format!("[{word}: http");
        while let Some((before, rest)) = text.split_once(&marker) {
            let (_, after) = rest.split_once(']').unwrap();
            text = format!("{before}{after}");
        }
    }
    for placeholder in ["[Image]", "[Audio Message]"] {
        text = text.replace(placeholder, "");
    }
    Some(
        text.trim_matches(|c: char| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
            .to_owned(),
    )
}

fn addresses(conversation: &Conversation) -> usize {
    let media = conversation.messages[0].parts.iter();
    media.filter(|part| matches!(part, Part::Media(_))).count()
}

#[test]
fn a_request_and_its_formatted_message_read_the_same() {
    let mut exceptions: BTreeSet<&str> = EXCEPTIONS.into();
    let mut quotes = 0;
    let cases = cases();
    assert_eq!(cases.len(), 72);
    for case in &cases {
        let name = case["vector"].as_str().unwrap();
        let request = read(&case["record"]).unwrap();
        if exceptions.remove(name) {
            continue;
        }
        let formatted = read(&case["expected"][0]).unwrap_or_else(|| panic!("{name}"));
        let own_words = own(&request);
        let is_proxy = case["record"]["isProxyMessage"] == true;
        if is_proxy {
            assert!(own(&formatted).ends_with(&own_words), "{name}");
        } else {
            assert_eq!(own(&formatted), own_words, "{name}");
        }
        assert_eq!(quoted(&formatted), quoted(&request), "{name}");
        assert_eq!(addresses(&formatted), addresses(&request), "{name}");
        let [one, other] = [&request, &formatted].map(|conversation| {
            let reference = conversation.messages[0].references.first()?;
            Some(reference.preview.as_ref()?.from_agent)
        });
        assert_eq!(one, other, "{name}");
        assert_eq!(
            other.is_some(),
            case["record"]["referencedMessage"].is_object(),
            "{name}"
        );
        quotes += usize::from(other.is_some());
    }
    assert!(exceptions.is_empty(), "{exceptions:?}");
    assert_eq!(quotes, 47);
}

#[test]
fn a_bot_has_the_name_that_the_formatter_gives_it() {
    let mut tried = 0;
    for case in cases() {
        let name = case["vector"].as_str().unwrap();
        let (Some(conversation), Some(text)) = (
            read(&case["record"]),
            case["expected"][0]["content"][0]["text"].as_str(),
        ) else {
            continue;
        };
        let Some(reference) = conversation.messages[0].references.first() else {
            continue;
        };
        let preview = reference.preview.as_ref().unwrap();
        let is_later = name.starts_with("v2.0.10");
        if !preview.from_agent || !is_later || preview.sender_name.is_none() || text.contains("You said") {
            continue;
        }
        if name.contains("registry") {
            // The bot's own registry has another name than the request.
            continue;
        }
        let shown = preview.sender_name.as_deref().unwrap();
        assert!(text.contains(&format!("{shown} ")), "{name}: {shown}: {text}");
        tried += 1;
    }
    assert_eq!(tried, 6);
}
