//! Chat Completions: calls and results, whoever speaks in between.

use chatmill_dialect::policy::{Orphans, Reasoning};
use chatmill_dialect::{History, LossCode, Policy};
use chatmill_model::{ArgumentForm, Arguments, CallStatus, Part, RawJson};

use crate::room::{Out, Room};

fn orphans(orphans: Orphans) -> Policy {
    Policy {
        orphans,
        ..Policy::default()
    }
}

/// The roles of the messages, with the ids that calls and results carry.
fn shape(out: &Out) -> Vec<String> {
    let value: serde_json::Value = serde_json::from_str(&out.text).unwrap();
    let messages = value["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|message| {
            let mut shape = message["role"].as_str().unwrap().to_owned();
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                shape.push_str(" calls ");
                shape.push_str(call["id"].as_str().unwrap());
            }
            if let Some(id) = message["tool_call_id"].as_str() {
                shape.push_str(" answers ");
                shape.push_str(id);
            }
            shape
        })
        .collect()
}

#[test]
fn a_call_and_its_result() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(bot, "Looking.", &[("c1", "web.search", "{ \"q\": \"näh\" }")]);
    room.result("c1", "3 \"hits\"");
    room.pair(Some((0, 1)), Some((1, 0)), CallStatus::Paired);
    let out = room.only("openai-chat");
    assert_eq!(
        out.text,
        concat!(
            r#"{"messages":[{"role":"assistant","content":"Looking.","tool_calls":[{"id":"c1","type":"function","#,
            r#""function":{"name":"web_search","arguments":"{ \"q\": \"näh\" }"}}]},"#,
            r#"{"role":"tool","tool_call_id":"c1","content":"3 \"hits\""}]}"#
        )
    );
    assert_eq!(out.lost(LossCode::ToolNameRewritten), [(Some(0), 1)]);
    assert_eq!((out.last_role, out.messages), (Some("tool"), 2));
}

#[test]
fn arguments_keep_their_text_or_lose_white_space_where_the_source_had_json() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(bot, "", &[("1", "a", "{}"), ("2", "b", "{}")]);
    let written = [
        (
            Arguments::Object(RawJson("{ \"a\": 1.0 }".to_owned())),
            ArgumentForm::Embedded,
        ),
        (Arguments::Malformed("{oops".to_owned()), ArgumentForm::Text),
    ];
    for (part, (arguments, form)) in room.message(0).parts.iter_mut().zip(written) {
        if let Part::ToolCall(call) = part {
            call.arguments = arguments;
            call.form = form;
        }
    }
    let out = room.only("openai-chat");
    assert!(out.text.contains(r#""arguments":"{\"a\":1.0}"}"#));
    assert!(out.text.contains(r#""arguments":"{oops"}"#));
}

#[test]
fn an_interloper_stands_behind_the_result() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "weather?");
    room.call(bot, "", &[("c1", "weather", "{}")]);
    room.say(ann, "hello?");
    room.say(bot, "wait");
    room.result("c1", "sun");
    room.pair(Some((1, 0)), Some((4, 0)), CallStatus::Late);
    room.say(bot, "sunny");
    let out = room.only("openai-chat");
    assert_eq!(
        shape(&out),
        [
            "user",
            "assistant calls c1",
            "tool answers c1",
            "user",
            "assistant",
            "assistant"
        ]
    );
    assert_eq!(out.lost(LossCode::ResultLateMoved), [(Some(4), 1)]);
    assert_eq!(out.violations, Vec::<String>::new());
    assert_eq!((out.messages, out.assistant), (6, 3));
}

#[test]
fn early_and_swapped_results_stand_in_the_order_of_their_calls() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.result("c3", "three");
    room.call(
        bot,
        "",
        &[("c1", "a", "{}"), ("c2", "b", "{}"), ("c3", "c", "{}")],
    );
    room.result("c2", "two");
    room.result("c1", "one");
    room.pair(Some((1, 0)), Some((3, 0)), CallStatus::Paired);
    room.pair(Some((1, 1)), Some((2, 0)), CallStatus::Paired);
    room.pair(Some((1, 2)), Some((0, 0)), CallStatus::Early);
    let out = room.only("openai-chat");
    assert_eq!(
        shape(&out),
        [
            "assistant calls c1 calls c2 calls c3",
            "tool answers c1",
            "tool answers c2",
            "tool answers c3"
        ]
    );
    assert_eq!(out.codes_at(0), ["result-early-moved"]);
    assert_eq!(out.codes_at(2), ["turn-moved"]);
    assert_eq!(out.codes_at(3), Vec::<&str>::new());
}

/// A call without a result, a result without a call, a result too many.
fn broken() -> Room {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.call(bot, "", &[("c1", "a", "{}"), ("c2", "b", "{}")]);
    room.result("c1", "one");
    room.result("c1", "one again");
    room.result("zz", "whose?");
    room.pair(Some((0, 0)), Some((1, 0)), CallStatus::Paired);
    room.pair(Some((0, 1)), None, CallStatus::Unanswered);
    room.pair(Some((0, 0)), Some((2, 0)), CallStatus::Duplicate);
    room.pair(None, Some((3, 0)), CallStatus::Orphaned);
    room.say(ann, "ok");
    room
}

#[test]
fn orphans_are_repaired() {
    let out = broken().only("openai-chat");
    assert_eq!(
        shape(&out),
        [
            "assistant calls c1 calls c2",
            "tool answers c1",
            "tool answers c2",
            "user",
            "user"
        ]
    );
    assert!(
        out.text
            .contains(r#""tool_call_id":"c2","content":"no result was recorded""#)
    );
    assert!(
        out.text
            .contains(r#"{"role":"user","content":"[result whose?]"}"#)
    );
    assert_eq!(out.lost(LossCode::MissingResultSynthesised), [(Some(0), 1)]);
    assert_eq!(out.lost(LossCode::DuplicateResult), [(Some(2), 1)]);
    assert_eq!(out.lost(LossCode::OrphanResultInlined), [(Some(3), 1)]);
    assert_eq!(out.violations, Vec::<String>::new());
    assert_eq!(out.messages, 4);
}

#[test]
fn orphans_are_dropped() {
    let out = broken().only_with("openai-chat", &orphans(Orphans::Drop));
    assert_eq!(shape(&out), ["assistant calls c1", "tool answers c1", "user"]);
    assert_eq!(out.lost(LossCode::ToolCallDropped), [(Some(0), 1)]);
    assert_eq!(out.lost(LossCode::DuplicateResult), [(Some(2), 1)]);
    assert_eq!(out.lost(LossCode::OrphanResultDropped), [(Some(3), 1)]);
    assert_eq!(out.violations, Vec::<String>::new());
}

#[test]
fn orphans_make_the_rendering_invalid() {
    let out = broken().only_with("openai-chat", &orphans(Orphans::Reject));
    assert_eq!(
        shape(&out),
        [
            "assistant calls c1 calls c2",
            "tool answers c1",
            "tool answers c1",
            "tool answers zz",
            "user"
        ]
    );
    assert_eq!(
        out.violations,
        [
            "OAC-06: the call in message 0 has no result",
            "OAC-06: the result in message 2 answers a call that is answered already",
            "OAC-06: the result in message 3 has no call"
        ]
    );
}

#[test]
fn a_turn_that_loses_its_only_call_is_gone() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(bot, "", &[("c1", "a", "{}")]);
    room.call(bot, "so", &[("c2", "a", "{}")]);
    room.say(bot, "no");
    let out = room.only_with("openai-chat", &orphans(Orphans::Drop));
    assert_eq!(
        out.text,
        r#"{"messages":[{"role":"assistant","content":"so"},{"role":"assistant","content":"no"}]}"#
    );
}

#[test]
fn missing_and_repeated_ids_are_made_up() {
    let mut room = Room::new();
    let bot = room.agent("b1", "Bot");
    room.call(bot, "", &[("", "a", "{}"), ("call_0", "b", "{}")]);
    room.call(bot, "", &[("call_0", "c", "{}")]);
    let out = room.only("openai-chat");
    assert_eq!(
        shape(&out),
        [
            "assistant calls call_1 calls call_0",
            "tool answers call_1",
            "tool answers call_0",
            "assistant calls call_2"
        ]
    );
    let rewritten = [(Some(0), 1), (Some(1), 1)];
    assert_eq!(out.lost(LossCode::ToolIdRewritten), rewritten);
}

#[test]
fn tools_of_another_agent_are_text_in_its_name() {
    let mut room = Room::new();
    let (bot, other) = (room.agent("b1", "Bot"), room.agent("b2", "Scribe"));
    room.say(bot, "a");
    room.say(bot, "b");
    room.call(other, "Digging.", &[("c1", "dig", "{\"deep\":1}")]);
    room.result("c1", "gold");
    room.pair(Some((2, 1)), Some((3, 0)), CallStatus::Paired);
    let out = room.only("openai-chat");
    assert!(out.text.ends_with(concat!(
        r#"{"role":"user","name":"Scribe","content":"Digging.\n[tool dig {\"deep\":1}]"},"#,
        r#"{"role":"user","name":"Scribe","content":"[result gold]"}]}"#
    )));
    assert_eq!(
        out.lost(LossCode::RoleMapped),
        [(Some(2), 1), (Some(2), 1), (Some(3), 1)]
    );
}

#[test]
fn a_window_does_not_part_a_result_from_its_call() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "look");
    room.call(bot, "", &[("c1", "a", "{}")]);
    room.result("c1", "one");
    room.say(ann, "ok");
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    let outs = room.render_with("openai-chat", &Policy::default(), History::Messages(2));
    assert_eq!(shape(&outs[0]), ["assistant calls c1", "tool answers c1", "user"]);
    assert_eq!(outs[0].lost(LossCode::Truncated), [(None, 1)]);
    assert_eq!(outs[0].lost(LossCode::OrphanResultInlined), []);
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
            if dialect.about().neutral || !room.only_with(id, &orphans(policy)).text.contains("tide") {
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

#[test]
fn calls_that_a_turn_or_a_result_of_one_of_them_follows_miss_their_results() {
    let mut room = asking();
    room.result("c1", "2.1 m");
    room.linked.pairings.remove(0);
    room.pair(Some((1, 1)), Some((2, 0)), CallStatus::Paired);
    assert_eq!(
        room.only("openai-chat").lost(LossCode::MissingResultSynthesised),
        [(Some(1), 1)]
    );
    let mut room = asking();
    room.say(0, "Never mind.");
    assert_eq!(
        room.only("openai-chat").lost(LossCode::MissingResultSynthesised),
        [(Some(1), 2)]
    );
}

#[test]
fn several_last_calls_of_a_sharegpt_record_are_a_list_without_the_text_beside_them() {
    let out = asking().only("sharegpt");
    let end = r#"{"from":"function_call","value":"[{\"name\":\"tide\",\"arguments\":{\"port\":\"Porto\"}},{\"name\":\"tide\",\"arguments\":{\"port\":\"Lisbon\"}}]"}]}"#;
    assert!(out.text.ends_with(end), "{}", out.text);
    assert_eq!(out.lost(LossCode::TextDropped), [(Some(1), 1)]);
    assert_eq!(out.lost(LossCode::PartMoved), []);
    let mut room = asking();
    room.message(1).parts[0] = Part::Reasoning("Two ports.".to_owned());
    let policy = Policy {
        reasoning: Reasoning::Keep,
        ..Policy::default()
    };
    let out = room.only_with("sharegpt", &policy);
    let start = r#"{"from":"function_call","value":"<think>\nTwo ports.\n</think>\n[{\"name\":"#;
    assert!(out.text.contains(start), "{}", out.text);
    assert_eq!(out.lost(LossCode::ReasoningDropped), []);
}
