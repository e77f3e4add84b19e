//! Additions of a pipeline to a conversation: a prompt, and definitions of tools.

use chatmill_dialect::policy::{Policy, System};
use chatmill_dialect::{
    Additions, CalledTools, DIALECTS, Existing, History, LossCode, Prompt, auto_perspective,
};
use chatmill_model::RawJson;

use crate::chat::{Out, TestChat};

/// A chat with or without system text in the source.
fn chat(system: Option<&str>) -> TestChat {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.linked.conversation.title = Some("Pier".to_owned());
    if let Some(system) = system {
        chat.system(system);
    }
    chat.write(ann, "question");
    chat.write(bot, "answer");
    chat
}

fn render_one(chat: &TestChat, dialect: &str, policy: &Policy, additions: Additions<'_>) -> Out {
    let perspective = auto_perspective(&chat.linked);
    let seen = (policy, additions);
    let mut outs = chat.render_added(dialect, seen, History::Document, perspective, None);
    assert_eq!(outs.len(), 1, "{dialect}");
    outs.remove(0)
}

fn prompted(chat: &TestChat, dialect: &str, existing: Existing) -> Out {
    let prompt = Prompt::parse("You are {agent.name} at the {room.title}.", existing).unwrap();
    let additions = Additions {
        prompt: Some(&prompt),
        ..Additions::default()
    };
    render_one(chat, dialect, &Policy::default(), additions)
}

const PROMPT: &str = "You are Bot at the Pier.";

/// Dialects that have no place for system text.
const PLACELESS: [&str; 3] = ["tzurot", "gryag-compact", "jaibber-context"];

#[test]
fn a_prompt_stands_in_every_dialect_or_is_declared_as_lost() {
    let chat = chat(None);
    for dialect in DIALECTS.iter().filter(|dialect| !dialect.is_neutral()) {
        let out = prompted(&chat, dialect.id(), Existing::Keep);
        let has_place = !PLACELESS.contains(&dialect.id());
        assert_eq!(out.text.contains(PROMPT), has_place, "{dialect:?} {}", out.text);
        assert_eq!(
            out.lost(LossCode::SystemAdded).len(),
            usize::from(has_place),
            "{dialect:?}"
        );
        assert_eq!(
            out.lost(LossCode::SystemDropped).len(),
            usize::from(!has_place),
            "{dialect:?}"
        );
    }
}

#[test]
fn existing_system_text_stays_is_replaced_or_follows_the_prompt() {
    let chat = chat(Some("Be brief."));
    for dialect in DIALECTS.iter().filter(|dialect| !dialect.is_neutral()) {
        if PLACELESS.contains(&dialect.id()) {
            continue;
        }
        for (existing, has_prompt, has_own) in [
            (Existing::Keep, false, true),
            (Existing::Replace, true, false),
            (Existing::Precede, true, true),
        ] {
            let out = prompted(&chat, dialect.id(), existing);
            let places = [out.text.find(PROMPT), out.text.find("Be brief.")];
            let found = places.map(|place| place.is_some());
            assert_eq!(
                found,
                [has_prompt, has_own],
                "{dialect:?} {existing:?} {}",
                out.text
            );
            if let [Some(prompt), Some(own)] = places {
                assert!(prompt < own, "{dialect:?}");
            }
            let dropped = out.lost(LossCode::SystemDropped);
            let expected: &[(Option<u32>, u64)] = if has_own { &[] } else { &[(Some(0), 1)] };
            assert_eq!(dropped, expected, "{dialect:?} {existing:?}");
        }
    }
}

#[test]
fn instructions_of_the_roster_count_as_existing_system_text() {
    let mut chat = chat(None);
    let bot = &mut chat.linked.conversation.participants[1];
    bot.extra
        .0
        .push(("instructions".to_owned(), RawJson("\"Hum.\"".to_owned())));
    let policy = Policy {
        system: System::Agent,
        ..Policy::default()
    };
    for (existing, expected) in [
        (Existing::Keep, "Hum."),
        (Existing::Replace, "Now Hum."),
        (Existing::Precede, "Now Hum.\n\nHum."),
    ] {
        let prompt = Prompt::parse("Now {agent.instructions}", existing).unwrap();
        let additions = Additions {
            prompt: Some(&prompt),
            ..Additions::default()
        };
        let out = render_one(&chat, "anthropic-messages", &policy, additions);
        let value: serde_json::Value = serde_json::from_str(&out.text).unwrap();
        let system = value["system"].as_array().unwrap().iter();
        let texts: Vec<&str> = system.map(|block| block["text"].as_str().unwrap()).collect();
        assert_eq!(texts.join("\n\n"), expected, "{existing:?}");
    }
}

#[test]
fn a_conversation_that_does_not_know_a_field_has_no_prompt() {
    let mut chat = chat(Some("Be brief."));
    chat.linked.conversation.title = None;
    for existing in [Existing::Keep, Existing::Replace, Existing::Precede] {
        let out = prompted(&chat, "openai-chat", existing);
        assert_eq!(out.text, chat.only("openai-chat").text);
        assert!(out.lost(LossCode::SystemDropped).is_empty());
    }
}

/// A bot that calls two tools, one of which the source defines.
fn caller() -> TestChat {
    let mut chat = chat(None);
    let ann = 0;
    chat.write(ann, "and the tide?");
    chat.call(
        1,
        "",
        &[("c1", "tide", "{\"day\":\"Monday\"}"), ("c2", "berth", "{}")],
    );
    let source =
        r#"{"type":"function","function":{"name":"berth","parameters":{"type":"object","properties":{}}}}"#;
    chat.linked.conversation.tools.push(RawJson(source.to_owned()));
    chat
}

#[test]
fn tools_that_are_called_elsewhere_are_defined_in_a_conversation_without_a_call() {
    let called = CalledTools::of(caller().linked.conversation.messages.iter());
    let tools = called.definitions();
    let additions = Additions {
        called_tools: &tools,
        ..Additions::default()
    };
    let out = render_one(&chat(None), "openai-chat", &Policy::default(), additions);
    let value: serde_json::Value = serde_json::from_str(&out.text).unwrap();
    let tools = value["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["berth", "tide"], "{}", out.text);
}

#[test]
fn tools_are_defined_by_the_record_then_by_the_pipeline_then_by_their_calls() {
    let chat = caller();
    let given = [
        r#"{"name":"berth","description":"not this one","input_schema":{"type":"object"}}"#,
        r#"{"name":"ferry","description":"When it goes","input_schema":{"type":"object","properties":{}}}"#,
    ];
    let given = given.map(|raw| RawJson(raw.to_owned()));
    let additions = Additions {
        tools: &given,
        infers_tools: true,
        ..Additions::default()
    };
    let out = render_one(&chat, "openai-chat", &Policy::default(), additions);
    let value: serde_json::Value = serde_json::from_str(&out.text).unwrap();
    let tools = value["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["berth", "ferry", "tide"]);
    assert_eq!(
        tools[2]["function"]["parameters"],
        serde_json::json!({"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]})
    );
    assert_eq!(out.lost(LossCode::ToolDefinitionAdded), [(None, 1)]);
    assert_eq!(out.lost(LossCode::ToolDefinitionSynthesised), [(None, 1)]);
    // A dialect without a place for tools has none for those of the pipeline either.
    let out = render_one(&chat, "chatml", &Policy::default(), additions);
    assert_eq!(out.lost(LossCode::ToolDefinitionDropped), [(None, 3)]);
    // Without additions only the definitions of the record are written.
    let out = render_one(&chat, "openai-chat", &Policy::default(), Additions::default());
    assert!(!out.text.contains("\"tide\",\"parameters\""), "{}", out.text);
}
