//! Calls that nothing follows, in every dialect.

use chatmill_dialect::policy::Orphans;
use chatmill_dialect::{LossCode, Policy};
use chatmill_model::CallStatus;

use crate::room::Room;

fn orphans(orphans: Orphans) -> Policy {
    Policy {
        orphans,
        ..Policy::default()
    }
}

/// A question, and an answer of words and two calls, with which the conversation ends.
fn asking() -> Room {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "Tides of Porto and Lisbon?");
    room.call(
        bot,
        "I look.",
        &[
            ("c1", "tide", r#"{"port":"Porto"}"#),
            ("c2", "tide", r#"{"port":"Lisbon"}"#),
        ],
    );
    room.pair(Some((1, 1)), None, CallStatus::Unanswered);
    room.pair(Some((1, 2)), None, CallStatus::Unanswered);
    room
}

#[test]
fn calls_that_nothing_follows_are_an_answer_in_every_dialect_and_by_every_policy() {
    let room = asking();
    for policy in [Orphans::Repair, Orphans::Drop, Orphans::Reject] {
        for dialect in chatmill_dialect::DIALECTS {
            let id = dialect.id();
            if dialect.is_neutral() || !room.only_with(id, &orphans(policy)).text.contains("tide") {
                continue;
            }
            let out = room.only_with(id, &orphans(policy));
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
    let said = [
        "openai-chat",
        "openai-responses",
        "anthropic-messages",
        "gemini-contents",
        "bedrock-converse",
    ];
    for id in said.into_iter().chain([
        "mistral-chat",
        "hf-messages",
        "suna-llm",
        "gryag-gemini",
        "sharegpt",
    ]) {
        assert!(room.only(id).text.contains("tide"), "{id}");
    }
}
