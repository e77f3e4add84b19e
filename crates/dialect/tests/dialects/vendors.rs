//! Vendor dialects in exact bytes: what each rule makes of one small room.

use chatmill_dialect::LossCode;
use chatmill_model::{CallStatus, Part};

use crate::room::{Out, Room};

/// A user asks, somebody interrupts a call, its result comes late.
fn interrupted() -> Room {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.system("Be kind.");
    room.say(ann, "Weather?");
    room.call(bot, "Looking.", &[("c.1", "sky.look", "{ \"at\": 1 }")]);
    room.say(ann, "Hello?");
    room.result("c.1", "sun");
    room.pair(Some((2, 1)), Some((4, 0)), CallStatus::Late);
    room.say(bot, "Sunny. ");
    room
}

fn valid(out: &Out) -> &str {
    assert_eq!(out.violations, Vec::<String>::new());
    &out.text
}

#[test]
fn anthropic_messages() {
    let out = interrupted().only("anthropic-messages");
    assert_eq!(
        valid(&out),
        concat!(
            r#"{"system":[{"type":"text","text":"Be kind."}],"messages":["#,
            r#"{"role":"user","content":[{"type":"text","text":"Weather?"}]},"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"Looking."},"#,
            r#"{"type":"tool_use","id":"c_1","name":"sky_look","input":{"at":1}}]},"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1","content":"sun"},"#,
            r#"{"type":"text","text":"Hello?"}]},"#,
            r#"{"role":"assistant","content":[{"type":"text","text":"Sunny."}]}]}"#
        )
    );
    assert_eq!(out.codes_at(0), ["system-hoisted"]);
    assert_eq!(
        out.codes_at(2),
        ["tool-id-rewritten", "tool-name-rewritten", "args-reserialised"]
    );
    assert_eq!(out.codes_at(3), ["turn-merged"]);
    assert_eq!(out.codes_at(4), ["result-late-moved"]);
    assert_eq!(out.codes_at(5), ["whitespace-trimmed"]);
    assert_eq!(
        (out.messages, out.assistant, out.last_role),
        (6, 2, Some("assistant"))
    );
    assert_eq!(out.lost(LossCode::NameDropped), [(None, 2), (None, 2)]);
}

#[test]
fn gemini_contents() {
    let out = interrupted().only("gemini-contents");
    assert_eq!(
        valid(&out),
        concat!(
            r#"{"systemInstruction":{"parts":[{"text":"Be kind."}]},"contents":["#,
            r#"{"role":"user","parts":[{"text":"Weather?"}]},"#,
            r#"{"role":"model","parts":[{"text":"Looking."},"#,
            r#"{"functionCall":{"id":"c.1","name":"sky_look","args":{"at":1}}}]},"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"c.1","name":"sky_look","response":{"output":"sun"}}}]},"#,
            r#"{"role":"user","parts":[{"text":"Hello?"}]},"#,
            r#"{"role":"model","parts":[{"text":"Sunny. "}]}]}"#
        )
    );
    assert_eq!(out.codes_at(4), ["result-late-moved", "result-wrapped"]);
    let out = interrupted().only("gemini-contents@no-ids");
    assert!(!valid(&out).contains("c.1"));
    assert_eq!(out.lost(LossCode::ToolIdDropped), [(Some(2), 1)]);
}

#[test]
fn bedrock_converse() {
    let out = interrupted().only("bedrock-converse");
    assert_eq!(
        valid(&out),
        concat!(
            r#"{"system":[{"text":"Be kind."}],"messages":["#,
            r#"{"role":"user","content":[{"text":"Weather?"}]},"#,
            r#"{"role":"assistant","content":[{"text":"Looking."},"#,
            r#"{"toolUse":{"toolUseId":"c_1","name":"sky_look","input":{"at":1}}}]},"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"c_1","content":[{"text":"sun"}]}},"#,
            r#"{"text":"Hello?"}]},"#,
            r#"{"role":"assistant","content":[{"text":"Sunny. "}]}],"#,
            r#""toolConfig":{"tools":[{"toolSpec":{"name":"sky_look","inputSchema":{"json":"#,
            r#"{"type":"object","properties":{}}}}}]}}"#
        )
    );
    assert_eq!(out.lost(LossCode::ToolDefinitionSynthesised), [(None, 1)]);
}

#[test]
fn openai_responses() {
    let out = interrupted().only("openai-responses");
    assert_eq!(
        valid(&out),
        concat!(
            r#"{"input":[{"role":"system","content":"Be kind."},{"role":"user","content":"Weather?"},"#,
            r#"{"role":"assistant","content":"Looking."},"#,
            r#"{"type":"function_call","call_id":"c.1","name":"sky_look","arguments":"{ \"at\": 1 }"},"#,
            r#"{"type":"function_call_output","call_id":"c.1","output":"sun"},"#,
            r#"{"role":"user","content":"Hello?"},{"role":"assistant","content":"Sunny. "}]}"#
        )
    );
}

#[test]
fn mistral_chat_by_version() {
    let out = interrupted().only("mistral-chat");
    assert_eq!(
        valid(&out),
        concat!(
            r#"{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Weather?"},"#,
            r#"{"role":"assistant","content":"Looking.","tool_calls":[{"id":"call00000","type":"function","#,
            r#""function":{"name":"sky_look","arguments":"{ \"at\": 1 }"}}]},"#,
            r#"{"role":"tool","tool_call_id":"call00000","name":"sky_look","content":"sun"},"#,
            r#"{"role":"user","content":"Hello?"},{"role":"assistant","content":"Sunny. "}]}"#
        )
    );
    let out = interrupted().only("mistral-chat@v3");
    assert!(
        valid(&out).contains(r#"{"role":"assistant","content":"Looking."},{"role":"assistant","tool_calls""#)
    );
    assert_eq!(out.lost(LossCode::TurnSplit), [(Some(2), 1)]);
    assert_eq!(out.assistant, 2);
    let out = interrupted().only("mistral-chat@v13");
    assert!(valid(&out).contains(r#""tool_call_id":"c.1""#));
}

#[test]
fn hf_messages() {
    let out = interrupted().only("hf-messages");
    assert_eq!(
        valid(&out),
        concat!(
            r#"{"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Weather?"},"#,
            r#"{"role":"assistant","content":"Looking.","tool_calls":[{"id":"c.1","type":"function","#,
            r#""function":{"name":"sky.look","arguments":{"at":1}}}]},"#,
            r#"{"role":"tool","tool_call_id":"c.1","name":"sky.look","content":"sun"},"#,
            r#"{"role":"user","content":"Hello?"},{"role":"assistant","content":"Sunny. "}]}"#
        )
    );
    let out = interrupted().only("hf-messages@string-arguments");
    assert!(valid(&out).contains(r#""arguments":"{ \"at\": 1 }""#));
}

#[test]
fn sharegpt() {
    let out = interrupted().only("sharegpt");
    assert_eq!(
        valid(&out),
        concat!(
            r#"{"conversations":[{"from":"human","value":"Weather?"},"#,
            r#"{"from":"function_call","value":"{\"name\":\"sky.look\",\"arguments\":{\"at\":1}}"},"#,
            r#"{"from":"observation","value":"sun"},{"from":"gpt","value":"Looking."},"#,
            r#"{"from":"human","value":"Hello?"},{"from":"gpt","value":"Sunny. "}],"system":"Be kind."}"#
        )
    );
    assert_eq!(out.lost(LossCode::PartMoved), [(Some(2), 1)]);
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(bot, "Hi");
    room.call(bot, "", &[("1", "a", "{}"), ("2", "b", "{}")]);
    room.result("1", "one");
    room.result("2", "two");
    room.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    room.pair(Some((1, 1)), Some((3, 0)), CallStatus::Paired);
    room.say(ann, "Bye");
    let out = room.only("sharegpt");
    let from: Vec<_> = out.text.split("\"from\":\"").skip(1).collect();
    let from: Vec<_> = from.iter().map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(
        from,
        [
            "human",
            "function_call",
            "observation",
            "function_call",
            "observation",
            "gpt",
            "human"
        ]
    );
    assert_eq!(out.violations, ["SGP-03: the last turn is not the assistant's"]);
    assert_eq!(out.lost(LossCode::TurnSplit), [(Some(1), 1)]);
    assert_eq!(out.lost(LossCode::EmptyFilled), [(None, 1)]);
    assert_eq!(out.last_role, Some("user"));
}

#[test]
fn suna_lists() {
    let out = interrupted().only("suna-llm");
    assert_eq!(
        valid(&out),
        concat!(
            r#"[{"role":"system","content":"Be kind.","message_id":"msg0"},"#,
            r#"{"role":"user","content":"Weather?","message_id":"msg1"},"#,
            r#"{"role":"assistant","content":"Looking.","tool_calls":[{"id":"c.1","type":"function","#,
            r#""function":{"name":"sky.look","arguments":"{ \"at\": 1 }"}}],"message_id":"msg2"},"#,
            r#"{"role":"tool","tool_call_id":"c.1","name":"sky.look","content":"sun","message_id":"msg4"},"#,
            r#"{"role":"user","content":"Hello?","message_id":"msg3"},"#,
            r#"{"role":"assistant","content":"Sunny. ","message_id":"msg5"}]"#
        )
    );
    let mut room = interrupted();
    room.message(1).parts.push(Part::CacheMark);
    let out = room.only("suna-list");
    assert!(valid(&out).contains(
        r#""content":[{"type":"text","text":"Weather?","cache_control":{"type":"ephemeral"}}],"message_id":"msg1""#
    ));
    let out = interrupted().only("suna-cached");
    assert_eq!(
        valid(&out),
        concat!(
            r#"[{"role":"system","content":"Be kind.","message_id":"msg0"},"#,
            r#"{"role":"user","content":[{"type":"text","text":"User: Weather?\n\nAssistant: Looking.\n\nTool: sun","#,
            r#""cache_control":{"type":"ephemeral"}}]},"#,
            r#"{"role":"user","content":"Hello?","message_id":"msg3"},"#,
            r#"{"role":"assistant","content":"Sunny. ","message_id":"msg5"}]"#
        )
    );
    assert_eq!(out.codes_at(2), ["tool-call-dropped"]);
    for code in [LossCode::TurnMerged, LossCode::MessageIdDropped] {
        assert_eq!(out.lost(code), [(None, 3)], "once for each message in the block");
    }
}
