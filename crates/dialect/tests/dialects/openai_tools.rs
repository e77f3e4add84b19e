//! Calls that nothing follows, in every dialect.

use chatmill_dialect::policy::Orphans;
use chatmill_dialect::{LossCode, Policy};
use chatmill_model::CallStatus;

use crate::chat::TestChat;

fn orphans(orphans: Orphans) -> Policy {
    Policy {
        orphans,
        ..Policy::default()
    }
}

/// A question, and an answer with words and two calls at the end of the conversation.
fn asking() -> TestChat {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "Tides of Porto and Lisbon?");
    chat.call(
        bot,
        "I look.",
        &[
            ("c1", "tide", r#"{"port":"Porto"}"#),
            ("c2", "tide", r#"{"port":"Lisbon"}"#),
        ],
    );
    chat.pair(Some((1, 1)), None, CallStatus::Unanswered);
    chat.pair(Some((1, 2)), None, CallStatus::Unanswered);
    chat
}

#[test]
fn calls_that_nothing_follows_are_an_answer_in_every_dialect_and_by_every_policy() {
    let chat = asking();
    for policy in [Orphans::Repair, Orphans::Drop, Orphans::Reject] {
        for dialect in chatmill_dialect::DIALECTS {
            let id = dialect.id();
            if dialect.is_neutral() || !chat.only_with(id, &orphans(policy)).text.contains("tide") {
                continue;
            }
            let out = chat.only_with(id, &orphans(policy));
            assert!(
                out.text.contains("Porto") && out.text.contains("Lisbon"),
                "{id}: {}",
                out.text
            );
            assert!(!out.text.contains("no result was recorded"), "{id}: {}", out.text);
            assert_eq!(out.lost(LossCode::MissingResultSynthesised), [], "{id}");
            assert_eq!(out.lost(LossCode::ToolCallDropped), [], "{id}");
            assert_eq!(out.violations, Vec::<String>::new(), "{id}");
            if !dialect.is_single_turn() {
                assert_eq!(out.last_role, Some("assistant"), "{id}: {}", out.text);
            }
        }
    }
    let standard = [
        "openai-chat",
        "openai-responses",
        "anthropic-messages",
        "gemini-contents",
        "bedrock-converse",
    ];
    for id in standard.into_iter().chain([
        "mistral-chat",
        "hf-messages",
        "suna-llm",
        "gryag-gemini",
        "sharegpt",
    ]) {
        assert!(chat.only(id).text.contains("tide"), "{id}");
    }
}
