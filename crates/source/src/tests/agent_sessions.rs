//! Lines of coding agents: whose a line is, what is said twice, what is seen after somebody went back.

use crate::{ClaudeCode, Codex, FrameView, OtelGenai, Reading, Source};
use chatmill_diag::Limits;
use chatmill_intake::json;
use chatmill_model::{MessageKind, Part, Role};

fn keys(source: &dyn Source, line: &str) -> Option<Vec<Vec<String>>> {
    let document = json::scan(line.as_bytes(), 64).unwrap();
    let rows = source.rows(&document)?;
    Some(rows.into_iter().map(|row| row.keys).collect())
}

fn read(source: &dyn Source, lines: &[&str]) -> Reading {
    let bytes = format!("[{}]", lines.join(","));
    let document = json::scan(bytes.as_bytes(), 64).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: bytes.as_bytes(),
        start: 0,
        key: None,
    };
    source.read(&frame, &Limits::default())
}

/// The words of each message, and `-` before those of notices.
fn said(reading: &Reading) -> Vec<String> {
    let messages = &reading.conversation.as_ref().unwrap().messages;
    let words = |message: &chatmill_model::Message| {
        let parts = message.parts.iter().map(|part| match part {
            Part::Text(text) | Part::Reasoning(text) => text.clone(),
            Part::Notice(text) => format!("-{text}"),
            Part::ToolCall(call) => format!("call {}", call.id.as_deref().unwrap_or("?")),
            Part::ToolResult(result) => format!("result {}", result.call_id.as_deref().unwrap_or("?")),
            other => format!("{other:?}"),
        });
        assert_eq!(
            message.kind == MessageKind::Notice,
            matches!(message.parts.first(), Some(Part::Notice(_)))
        );
        parts.collect::<Vec<_>>().join("+")
    };
    messages.iter().map(words).collect()
}

#[test]
fn a_line_is_its_sessions_or_its_agents_or_everybodys() {
    let key = |line: &str| keys(&ClaudeCode, line).map(|rows| rows.concat());
    let owned = |key: &str| Some(vec![key.to_owned()]);
    assert_eq!(key(r#"{"type":"user","sessionId":"s","message":{}}"#), owned("s"));
    assert_eq!(
        key(r#"{"type":"user","sessionId":"s","isSidechain":true,"agentId":"a"}"#),
        owned("s/a")
    );
    assert_eq!(
        key(r#"{"type":"user","sessionId":"s","isSidechain":true}"#),
        owned("s/sidechain")
    );
    assert_eq!(key(r#"{"type":"user","message":{}}"#), owned(""));
    assert_eq!(key(r#"{"type":"summary","leafUuid":"u"}"#), Some(Vec::new()));
    for line in ["42", "\"massive error\"", "[1]", "null"] {
        assert_eq!(keys(&ClaudeCode, line), None, "{line}");
        assert_eq!(keys(&Codex, line), None, "{line}");
    }
}

#[test]
fn branches_that_were_left_are_notices_and_side_by_side_results_are_not() {
    let line = |kind: &str, uuid: &str, parent: &str, content: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"message":{{"id":"m-{uuid}","content":{content}}}}}"#
        )
    };
    let lines = [
        line("user", "u1", "null", "\"one\""),
        line(
            "assistant",
            "a1",
            "\"u1\"",
            r#"[{"type":"tool_use","id":"c1","name":"x","input":{}}]"#,
        ),
        line(
            "assistant",
            "a2",
            "\"a1\"",
            r#"[{"type":"tool_use","id":"c2","name":"x","input":{}}]"#,
        ),
        line(
            "user",
            "r1",
            "\"a1\"",
            r#"[{"type":"tool_result","tool_use_id":"c1","content":"1"}]"#,
        ),
        line(
            "user",
            "r2",
            "\"a2\"",
            r#"[{"type":"tool_result","tool_use_id":"c2","content":"2"}]"#,
        ),
        line("user", "u2", "\"r2\"", "\"left\""),
        line("user", "u3", "\"r2\"", "\"taken\""),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let reading = read(&ClaudeCode, &lines);
    let expected = [
        "one",
        "call c1",
        "call c2",
        "result c1",
        "result c2",
        "-rewound",
        "taken",
    ];
    assert_eq!(said(&reading), expected);
    assert!(reading.rows.balances());
    let codes: Vec<&str> = reading.findings.iter().map(|finding| finding.code.name).collect();
    assert_eq!(codes, ["other-branches"]);
}

#[test]
fn a_parent_that_is_lost_does_not_hide_what_stands_before() {
    let lines = [
        r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"content":"one"}}"#,
        r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"content":"two"}}"#,
        r#"{"type":"user","uuid":"u2","parentUuid":"lost","message":{"content":"three"}}"#,
    ];
    assert_eq!(said(&read(&ClaudeCode, &lines)), ["one", "two", "three"]);
}

#[test]
fn an_event_and_an_item_of_the_same_words_are_one() {
    let event = |kind: &str, words: &str| {
        format!(r#"{{"type":"event_msg","payload":{{"type":"{kind}","message":"{words}"}}}}"#)
    };
    let item = |role: &str, words: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{words}"}}]}}}}"#
        )
    };
    let texts = |lines: &[String]| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let reading = read(&Codex, &lines);
        assert!(reading.rows.balances());
        said(&reading)
    };
    let both = [
        item("user", "hi"),
        event("user_message", " hi\\n"),
        event("agent_message", "ho"),
        item("assistant", "ho"),
    ];
    assert_eq!(texts(&both), ["hi", "ho"]);
    let twice = [
        event("user_message", "hi"),
        event("agent_message", "ho"),
        event("user_message", "hi"),
        item("user", "hi"),
    ];
    assert_eq!(texts(&twice), ["hi", "ho", "hi"]);
    let by_others = [item("assistant", "hi"), event("user_message", "hi")];
    assert_eq!(texts(&by_others), ["hi", "hi"]);
}

#[test]
fn encrypted_thoughts_are_told_once_and_never_said() {
    let line = r#"{"type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"SECRET"}}"#;
    let reading = read(&Codex, &[line, line]);
    let finding = &reading.findings[0];
    assert_eq!((finding.code.name, finding.count), ("encrypted-reasoning", 2));
    assert_eq!(reading.findings.len(), 1);
    assert!(said(&reading).iter().all(|words| !words.contains("SECRET")));
}

#[test]
fn spans_without_a_model_make_no_conversation_and_say_so() {
    let line = r#"{"traceId":"t","spanId":"s","name":"GET /","attributes":[{"key":"http.method","value":{"stringValue":"GET"}}]}"#;
    let reading = read(&OtelGenai, &[line]);
    assert!(reading.conversation.is_none() && reading.fault.is_none());
    assert!(reading.rows.balances());
    assert_eq!(reading.findings[0].code.name, "empty-conversation");
    assert_eq!(keys(&OtelGenai, line), Some(vec![vec!["t".to_owned()]]));
}

/// What each message or notice of a conversation cost: tokens sent and written.
fn costs(conversation: &chatmill_model::Conversation) -> Vec<Option<(u64, u64)>> {
    let usage = |message: &chatmill_model::Message| {
        let usage = message.usage?;
        Some((usage.input?, usage.output?))
    };
    conversation.messages.iter().map(usage).collect()
}

#[test]
fn what_was_taken_back_was_paid_and_its_pieces_cost_once() {
    let line = |kind: &str, uuid: &str, parent: &str, session: &str, answer: &str, output: u32| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{session}","message":{{"id":"{answer}","model":"large","content":"{uuid}","usage":{{"input_tokens":3,"output_tokens":{output}}}}}}}"#
        )
    };
    let asked = |uuid: &str, parent: &str, session: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{session}","message":{{"content":"{uuid}"}}}}"#
        )
    };
    let lines = [
        asked("u1", "null", "s"),
        line("assistant", "a1", "\"u1\"", "s", "m1", 1),
        line("assistant", "a2", "\"a1\"", "s", "m1", 5),
        asked("u2", "null", "s"),
        line("assistant", "a3", "\"u2\"", "s", "m2", 7),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let reading = read(&ClaudeCode, &lines);
    let conversation = reading.conversation.unwrap();
    assert_eq!(
        costs(&conversation),
        [None, Some((3, 5)), None, None, Some((3, 7))]
    );
    assert_eq!(conversation.messages[1].kind, MessageKind::Notice);
    assert_eq!(conversation.messages[1].model.as_deref(), Some("large"));

    // Two forks that share an answer which the session itself does not show.
    let lines = [
        asked("u1", "null", "s"),
        asked("u2", "\"u1\"", "f"),
        line("assistant", "a2", "\"u2\"", "f", "m2", 5),
        asked("u3", "\"a2\"", "f"),
        asked("u4", "\"a2\"", "g"),
        line("assistant", "a1", "\"u1\"", "s", "m1", 7),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let reading = read(&ClaudeCode, &lines);
    let forks: Vec<_> = reading
        .also
        .iter()
        .map(|fork| costs(fork.conversation.as_ref().unwrap()))
        .collect();
    assert_eq!(
        forks,
        [vec![None, None, Some((3, 5)), None], vec![None, None, None, None]]
    );
    assert_eq!(costs(&reading.conversation.unwrap()), [None, Some((3, 7))]);
}

#[test]
fn a_request_without_an_answer_was_paid_and_the_same_sum_again_was_not() {
    let item = |role: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"output_text","text":"{role}"}}]}}}}"#
        )
    };
    let spent = |last: &str, total: u32| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"model":"large",{last}"total_token_usage":{{"input_tokens":{total},"output_tokens":{total}}}}}}}}}"#
        )
    };
    let of =
        |count: u32| format!(r#""last_token_usage":{{"input_tokens":{count},"output_tokens":{count}}},"#);
    let lines = [
        item("user"),
        spent(&of(4), 4),
        item("assistant"),
        spent("", 9),
        spent(&of(5), 9),
        spent("", 9),
        spent(&of(0), 9),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let reading = read(&Codex, &lines);
    assert!(reading.rows.balances());
    assert_eq!(said(&reading), ["user", "-token_count", "assistant"]);
    let conversation = reading.conversation.unwrap();
    assert_eq!(costs(&conversation), [None, Some((4, 4)), Some((5, 5))]);
    assert_eq!(conversation.messages[1].model.as_deref(), Some("large"));
}

#[test]
fn lines_without_a_type_or_a_session_and_items_without_a_type_are_read() {
    let detected = |text: &str| {
        let head = chatmill_intake::Head {
            framing: chatmill_intake::Framing::Lines,
            complete: true,
            bytes: text.as_bytes().to_vec(),
        };
        crate::detect(&head.sketch()).map(|evidence| evidence.source)
    };
    let lines = [
        r#"{"sessionId":"s","message":{"role":"user","content":"one"}}"#,
        r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"two"}]}}"#,
        r#"{"sessionId":"s","message":{"role":"assistant","id":"m2","usage":{"input_tokens":1,"output_tokens":2}}}"#,
    ];
    for line in lines {
        assert_eq!(detected(&format!("{line}\n")), Some("claude-code"), "{line}");
    }
    let reading = read(&ClaudeCode, &lines);
    assert_eq!(said(&reading), ["one", "two", ""]);
    assert_eq!(costs(&reading.conversation.unwrap())[2], Some((1, 2)));
    let qwen = r#"{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"one"}]}}"#;
    assert_eq!(detected(&format!("{qwen}\n")), None);
    let item = r#"{"type":"response_item","payload":{"role":"user","content":[{"type":"input_text","text":"one"}]}}"#;
    let reading = read(&Codex, &[item]);
    assert_eq!(said(&reading), ["one"]);
    assert_eq!(reading.findings, []);
}

#[test]
fn a_turn_that_lost_its_message_begins_a_session_as_others_do() {
    let begins = |line: &str| {
        let document = json::scan(line.as_bytes(), 64).unwrap();
        ClaudeCode.rows(&document).unwrap()[0].begins.clone()
    };
    let turn = |message: &str| {
        begins(&format!(
            r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s"{message}}}"#
        ))
    };
    let lost = turn("");
    assert!(lost.is_some());
    assert_eq!(turn(r#","message":null"#), lost);
    assert_ne!(turn(r#","message":{"content":"one"}"#), lost);
    let event = r#"{"type":"system","uuid":"u1","parentUuid":null,"sessionId":"s"}"#;
    assert_eq!(begins(event), None);
}

#[test]
fn what_was_taken_back_and_names_no_model_was_paid_unless_the_program_said_it() {
    let answer = |model: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{{{model}"content":"one","usage":{{"input_tokens":3,"output_tokens":5}}}}}}"#
        )
    };
    let asked = |uuid: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":null,"sessionId":"s","message":{{"content":"{uuid}"}}}}"#
        )
    };
    let cost = |model: &str| {
        let lines = [asked("u1"), answer(model), asked("u2")];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        costs(&read(&ClaudeCode, &lines).conversation.unwrap())[1]
    };
    assert_eq!(cost(""), Some((3, 5)));
    assert_eq!(cost(r#""model":"large","#), Some((3, 5)));
    assert_eq!(cost(r#""model":"<synthetic>","#), None);
}

#[test]
fn what_chains_of_a_trace_begin_with_is_paid_and_learned_once() {
    let step = |id: &str, second: u32, input: &[&str], output: &str, system: &str| {
        let roles = ["user", "assistant"].into_iter().cycle();
        let said = input.iter().zip(roles);
        let said = said.map(|(text, role)| format!(r#"{{"role":"{role}","content":"{text}"}}"#));
        let told = (!system.is_empty()).then(|| format!(r#"{{"role":"system","content":"{system}"}}"#));
        let input: Vec<String> = told.into_iter().chain(said).collect();
        format!(
            r#"{{"id":"{id}","type":"GENERATION","model":"m","startTime":"2026-01-01T00:00:0{second}Z","input":[{}],"output":{{"role":"assistant","content":"{output}"}},"usage":{{"input":1,"output":{second}}}}}"#,
            input.join(",")
        )
    };
    let learned = |steps: &[String]| {
        let record = format!(r#"{{"trace":{{"id":"t"}},"observations":[{}]}}"#, steps.join(","));
        let document = json::scan(record.as_bytes(), 64).unwrap();
        let frame = FrameView {
            document: &document,
            bytes: record.as_bytes(),
            start: 0,
            key: None,
        };
        let reading = crate::Langfuse.read(&frame, &Limits::default());
        let all = std::iter::once(&reading).chain(&reading.also);
        let all = all.filter_map(|reading| reading.conversation.as_ref());
        let messages = all.flat_map(|conversation| &conversation.messages);
        let answers = messages.filter(|message| message.role == Role::Assistant);
        let paid = answers.clone().filter_map(|answer| answer.usage?.output);
        let learned = answers.clone().filter(|answer| answer.weight.is_none());
        (paid.sum::<u64>(), learned.count(), answers.count())
    };
    let steps = |system: &str| {
        [
            step("g1", 1, &["one"], "two", ""),
            step("g2", 2, &["one", "two", "three"], "four", ""),
            step("g3", 4, &["one", "two", "five"], "six", system),
        ]
    };
    assert_eq!(learned(&steps("")), (7, 3, 4));
    // What was told before is part of what is learned.
    assert_eq!(learned(&steps("Be short.")), (7, 4, 4));
}
