//! Formats are told apart by what their first records hold.

use crate::Evidence;
use chatmill_intake::{Framing, Head};

fn detect(framing: Framing, text: &str) -> Option<Evidence> {
    evidence(framing, text, true)
}

/// What is said about a head that ends in the middle of a record.
fn detect_cut(framing: Framing, text: &str) -> Option<Evidence> {
    evidence(framing, text, false)
}

fn evidence(framing: Framing, text: &str, complete: bool) -> Option<Evidence> {
    let head = Head {
        framing,
        complete,
        bytes: text.as_bytes().to_vec(),
    };
    crate::detect(&head.sketch())
}

/// The source that a record is taken for, and one thing that is said about it.
#[track_caller]
fn is(text: &str, source: &str, seen: &str) {
    for framing in [Framing::Lines, Framing::Documents] {
        let evidence = detect(framing, text).unwrap();
        assert_eq!(evidence.source, source, "{evidence:?}");
        assert!(
            evidence.why.iter().any(|why| why.contains(seen)),
            "{:?}",
            evidence.why
        );
    }
}

#[test]
fn each_format_is_known_by_its_own_fields() {
    is(
        r#"{"version":"1.0.0","conversation_meta":{"user_details":{}},"conversation_list":[{"message_id":"m"}]}"#,
        "group-chat",
        "conversation_list",
    );
    is(
        r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#,
        "openai-messages",
        "role",
    );
    is(
        r#"{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]}"#,
        "openai-messages",
        "tools",
    );
    is(
        r#"{"messages":[{"role":"user","content":"x","message_id":"1"}]}"#,
        "openai-messages",
        "Suna",
    );
    is(
        r#"{"messageContent":"x","referencedMessage":{"author":"a"}}"#,
        "tzurot-requests",
        "referencedMessage",
    );
    is(
        r#"{"content":{"messageContent":"x"},"currentPersonality":null}"#,
        "tzurot-requests",
        "content holds messageContent",
    );
    is(
        r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}],"systemInstruction":{"parts":[]}}"#,
        "gemini-contents",
        "systemInstruction",
    );
    is(
        r#"{"system_instruction":"s","contents":[{"parts":[{"text":"x"}]}]}"#,
        "gemini-contents",
        "parts",
    );
}

#[test]
fn requests_of_other_vendors_are_known_by_what_only_they_have() {
    for (text, source, seen) in [
        (
            r#"{"anthropic_version":"v","messages":[{"role":"user","content":"x"}]}"#,
            "anthropic-messages",
            "anthropic_version",
        ),
        (
            r#"{"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{}}]}"#,
            "anthropic-messages",
            "input_schema",
        ),
        (
            r#"{"system":"x","messages":[{"role":"user","content":"x"}]}"#,
            "anthropic-messages",
            "system text",
        ),
        (
            r#"{"system":[{"type":"text","text":"x"}],"messages":[{"role":"user","content":[]}]}"#,
            "anthropic-messages",
            "system text",
        ),
        (
            r#"{"system":[{"text":"x"}],"messages":[{"role":"user","content":[]}]}"#,
            "bedrock-converse",
            "without a type",
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"text":"x"}]}],"inferenceConfig":{}}"#,
            "bedrock-converse",
            "inferenceConfig",
        ),
        (
            r#"{"schemaVersion":"bedrock-conversation-2024","messages":[{"role":"user","content":[]}]}"#,
            "bedrock-converse",
            "schema version",
        ),
        (
            r#"{"input":[{"role":"user","content":"x"}]}"#,
            "openai-responses",
            "input",
        ),
        (
            r#"{"input":[{"type":"function_call_output","call_id":"c","output":"x"}],"previous_response_id":"r"}"#,
            "openai-responses",
            "function_call_output",
        ),
        (
            r#"{"model":"mistral-large-latest","messages":[{"role":"user","content":"x"}],"tools":[]}"#,
            "mistral-chat",
            "Mistral's",
        ),
        (
            r#"{"model":"x","messages":[{"role":"user","content":"x"}],"random_seed":1}"#,
            "mistral-chat",
            "random_seed",
        ),
        (
            r#"{"messages":[{"role":"user","content":"x"}],"tools":[],"chat_template_kwargs":{}}"#,
            "hf-messages",
            "chat_template_kwargs",
        ),
        (
            r#"{"prompt":[{"role":"user","content":"x"}],"completion":[{"role":"assistant","content":"y"}]}"#,
            "hf-messages",
            "prompt",
        ),
        (
            r#"{"conversations":[{"from":"human","value":"x"}],"system":"y"}"#,
            "sharegpt",
            "from and value",
        ),
        (
            r#"{"conversations":[{"role":"user","content":"x"}]}"#,
            "sharegpt",
            "role and content",
        ),
        (
            r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}"#,
            "openai-messages",
            "content",
        ),
    ] {
        is(text, source, seen);
    }
}

#[test]
fn a_block_that_only_one_vendor_has_decides_before_the_role_does() {
    for (messages, source, seen) in [
        (
            r#"{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"y"},{"type":"tool_use","id":"t","name":"f","input":{}}]}"#,
            "anthropic-messages",
            "tool_use",
        ),
        (
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"42"}]}"#,
            "anthropic-messages",
            "tool_result",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"}]}"#,
            "anthropic-messages",
            "thinking",
        ),
        (
            r#"{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://a.example/b"}}]}"#,
            "anthropic-messages",
            "source",
        ),
        (
            r#"{"role":"user","content":[{"text":"x"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"f","input":{}}}]}"#,
            "bedrock-converse",
            "toolUse",
        ),
        (
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"t","content":[{"text":"42"}]}}]}"#,
            "bedrock-converse",
            "toolResult",
        ),
        (
            r#"{"role":"user","content":[{"text":"x"}]},{"role":"assistant","content":[{"text":"y"}]}"#,
            "bedrock-converse",
            "without a type",
        ),
    ] {
        is(
            &format!(r#"{{"model":"m","messages":[{messages}]}}"#),
            source,
            seen,
        );
        if seen != "without a type" {
            is(
                &format!(r#"{{"messages":[{messages}],"tools":[]}}"#),
                source,
                seen,
            );
        }
        for (framing, list) in [
            (Framing::Array, format!("[{messages}]")),
            (Framing::Array, format!("[[{messages}],[{messages}]]")),
            (Framing::Lines, format!("[{messages}]\n[{messages}]\n")),
        ] {
            assert_eq!(detect(framing, &list).unwrap().source, source, "{list}");
        }
    }
    let items =
        r#"{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#;
    is(
        &format!(r#"{{"input":[{items}]}}"#),
        "openai-responses",
        "function_call",
    );
    assert_eq!(
        detect(Framing::Array, &format!("[{items}]")).unwrap().source,
        "openai-responses"
    );
}

#[test]
fn messages_decide_before_definitions_of_tools_and_settings_do() {
    let messages = r#"{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"f"}}]},{"role":"tool","tool_call_id":"c","content":"y"}"#;
    for beside in [
        r#""tools":[{"name":"f","input_schema":{}}]"#,
        r#""anthropic_version":"v""#,
        r#""system":"x""#,
        r#""toolConfig":{"tools":[]}"#,
    ] {
        is(
            &format!(r#"{{{beside},"messages":[{messages}]}}"#),
            "openai-messages",
            "these have a role",
        );
    }
}

#[test]
fn messages_of_the_ai_sdk_are_not_geminis() {
    for messages in [
        r#"{"id":"1","role":"user","parts":[{"type":"text","text":"x"}]}"#,
        r#"{"id":"1","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-f","toolCallId":"c"}]}"#,
        r#"{"id":"1","role":"assistant","content":"x","toolInvocations":[{"toolCallId":"c"}]}"#,
        r#"{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"f"}]}"#,
    ] {
        is(
            &format!(r#"{{"messages":[{messages}]}}"#),
            "ai-sdk",
            "messages hold",
        );
        let list = format!("[{messages},{messages}]");
        assert_eq!(detect(Framing::Array, &list).unwrap().source, "ai-sdk", "{list}");
    }
    let turns = r#"[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"text":"y"}]}]"#;
    assert_eq!(detect(Framing::Array, turns).unwrap().source, "gemini-contents");
}

#[test]
fn questions_and_answers_as_texts_are_rows_and_other_texts_are_not() {
    for (text, source) in [
        (r#"{"question":"x","answer":"y"}"#, "hf-messages"),
        (r#"{"instruction":"x","input":"","output":"y"}"#, "hf-messages"),
        (
            r#"{"system":"s","question":"x","chosen":"y","rejected":"z"}"#,
            "hf-messages",
        ),
        (
            r#"{"task":1,"traj":[{"role":"user","content":"x"}]}"#,
            "hf-messages",
        ),
        (r#"{"dialogue":[{"from":"human","value":"x"}]}"#, "sharegpt"),
        (
            r#"{"model":"m","input":"x","instructions":"y"}"#,
            "openai-responses",
        ),
        (r#"{"input":{"prompt":"x"},"output":{"text":"y"}}"#, "request-log"),
        (
            r#"{"input":"x","output":[{"type":"message","role":"assistant","content":"y"}]}"#,
            "request-log",
        ),
        (
            r#"{"input":{"inputBodyJson":{"messages":[]}},"output":{"outputBodyJson":{}}}"#,
            "request-log",
        ),
    ] {
        assert_eq!(detect(Framing::Lines, text).unwrap().source, source, "{text}");
    }
    for text in [
        r#"{"text":"x","label":1}"#,
        r#"{"url":"u","title":"t","text":"x"}"#,
        r#"{"query":"SELECT 1","response_time":12}"#,
        r#"{"question":"x","choices":["a","b"],"answer":0}"#,
        r#"{"question":"x","choices":["a","b"],"answer":"B"}"#,
        r#"{"model":"text-embedding-3","input":"x"}"#,
        r#"{"model":"tts-1","input":"x","voice":"y"}"#,
        r#"{"winner":"a","one":[{"role":"user","content":"x"}],"two":[{"role":"user","content":"x"}]}"#,
    ] {
        assert_eq!(detect(Framing::Lines, text), None, "{text}");
    }
}

#[test]
fn what_the_sixteenth_record_shows_counts_for_all() {
    let plain = r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}"#;
    let telling = r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}"#;
    let lines = format!("{}{telling}\n", format!("{plain}\n").repeat(15));
    assert_eq!(
        detect(Framing::Lines, &lines).unwrap().source,
        "anthropic-messages"
    );
}

#[test]
fn thoughts_as_lists_and_parts_with_a_type_stay_openai_messages() {
    for part in [
        r#"{"type":"thinking","thinking":[{"type":"text","text":"x"}]}"#,
        r#"{"type":"text","text":"x"}"#,
        r#"{"type":"image_url","image_url":{"url":"https://a.example/b"}}"#,
    ] {
        let record = format!(r#"{{"messages":[{{"role":"user","content":[{part}]}}]}}"#);
        assert_eq!(
            detect(Framing::Lines, &record).unwrap().source,
            "openai-messages",
            "{part}"
        );
    }
}

#[test]
fn what_another_api_or_nobody_writes_is_not_claimed() {
    for text in [
        r#"{"messages":[{"content":[{"text":"x"}]}],"inferenceConfig":{}}"#,
        r#"{"input":[{"role":"user","content":"x"}],"ideal":"y"}"#,
        r#"{"input":"a question","instructions":"x"}"#,
        r#"{"conversations":[{"speaker":"a","said":"b"}]}"#,
        r#"{"messages":[{"type":"user","content":"{}","thread_id":"t"}]}"#,
        r#"{"messages":[]}"#,
        r#"{"contents":[]}"#,
        r#"{"contents":"a table of contents"}"#,
        r#"{"content":"x"}"#,
        r#"{"role":"user","content":"x"}"#,
        r#"{"a":1}"#,
    ] {
        assert_eq!(detect(Framing::Lines, text), None, "{text}");
    }
}

#[test]
fn a_bare_list_of_messages_is_known_as_a_file_as_a_line_and_as_an_element() {
    let list = r#"[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]"#;
    let evidence = detect(Framing::Array, list).unwrap();
    assert_eq!((evidence.source, evidence.confidence), ("openai-messages", 60));
    assert!(evidence.why[0].contains("bare list of messages: one conversation"));
    for (framing, text) in [
        (Framing::Lines, format!("{list}\n{list}\n")),
        (Framing::Array, format!("[{list},{list}]")),
    ] {
        let evidence = detect(framing, &text).unwrap();
        assert_eq!((evidence.source, evidence.confidence), ("openai-messages", 60));
        assert!(evidence.why[0].contains("the record is a bare list of messages"));
    }
    let turns = r#"[{"role":"user","parts":[{"text":"x"}]}]"#;
    assert_eq!(detect(Framing::Array, turns).unwrap().source, "gemini-contents");
}

#[test]
fn rows_of_several_conversations_are_not_one_chat() {
    let rows = |key: &str| {
        format!(
            r#"[{{"{key}":"a","role":"user","content":"x"}},{{"{key}":"b","role":"user","content":"y"}}]"#
        )
    };
    assert_eq!(
        detect(Framing::Array, &rows("conversation")).unwrap().source,
        "table-rows"
    );
    assert_eq!(detect(Framing::Array, &rows("thread_id")), None);
    let one = rows("thread_id").replace("\"b\"", "\"a\"");
    assert_eq!(detect(Framing::Array, &one).unwrap().source, "openai-messages");
}

#[test]
fn the_history_of_personalities_is_known_by_its_columns() {
    for row in [
        r#"{"id":"1","channelId":"2","personalityId":"p","personaId":"q","role":"user","content":"x"}"#,
        r#"{"id":"1","channel_id":"2","personality_id":"p","persona_id":"q","role":"user","content":"x"}"#,
    ] {
        for (framing, text) in [
            (Framing::Lines, row.to_owned()),
            (Framing::Array, format!("[{row},{row}]")),
        ] {
            let evidence = detect(framing, &text).unwrap();
            assert_eq!(evidence.source, "tzurot-requests");
            assert!(evidence.why[0].contains("conversation_history"));
        }
    }
}

#[test]
fn a_lone_user_message_in_an_array_is_a_formatted_request() {
    let evidence = detect(Framing::Array, r#"[{"role":"user","content":"x"}]"#).unwrap();
    assert_eq!((evidence.source, evidence.confidence), ("tzurot-requests", 40));
    let evidence = detect(
        Framing::Array,
        r#"[{"role":"user","content":"x","message_id":"1"}]"#,
    )
    .unwrap();
    assert_eq!(evidence.source, "openai-messages");
}

#[test]
fn the_array_of_a_format_is_known_by_its_records() {
    let requests =
        r#"[{"messages":[{"role":"user","content":"x"}]},{"messages":[{"role":"user","content":"y"}]}]"#;
    assert_eq!(
        detect(Framing::Array, requests).unwrap().source,
        "openai-messages"
    );
}

#[test]
fn a_roster_that_fills_the_head_does_not_hide_a_group_chat() {
    let people: Vec<String> = (0..50)
        .map(|number| format!(r#""u{number}":{{"full_name":"Ann","role":"user"}},"#))
        .collect();
    let people = people.concat();
    let text = format!(
        r#"{{"version":"1.0.0","conversation_meta":{{"scene":"group_chat","scene_desc":{{}},"user_details":{{{people}"#
    );
    for framing in [Framing::Lines, Framing::Documents] {
        let evidence = detect_cut(framing, &text).unwrap();
        assert_eq!(evidence.source, "group-chat");
        assert!(
            evidence.confidence < 80,
            "less sure than with a list: {evidence:?}"
        );
    }
    assert_eq!(
        detect_cut(Framing::Lines, r#"{"conversation_meta":{"user_details":{"#),
        None
    );
    assert_eq!(
        detect(Framing::Lines, &text),
        None,
        "a broken line at the end of a file is not a record"
    );
}
