//! Records that belong together, and the conversations that their rows become. For which are grouped, and by which key, see the cases of
//! `tests/golden/rows`.

use chatmill_diag::Limits;

use crate::tests::frame::read_at;
use crate::{Reading, Source, find};

fn read(source: &dyn Source, text: &str, key: Option<&str>, limits: &Limits) -> Reading {
    read_at(source, text.as_bytes(), 1_000, key, limits)
}

#[test]
fn a_rejected_message_of_a_list_has_its_place_in_it() {
    let text = r#"[{"role":"user","content":"x"},7]"#;
    let reading = read(
        find("openai-messages").unwrap(),
        text,
        Some("k"),
        &Limits::default(),
    );
    let conversation = reading.conversation.unwrap();
    assert_eq!(conversation.source_id.as_deref(), Some("k"));
    assert_eq!(conversation.messages.len(), 1);
    let span = reading.rejects[0].span;
    assert_eq!((span.start, span.end), (1_031, 1_032));
    assert_eq!(
        reading.rejects[0].finding.path,
        chatmill_diag::Path::Absolute("$[1]".to_owned())
    );
}

#[test]
fn an_empty_list_is_nothing_where_another_list_has_the_turns() {
    let said = r#"[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]"#;
    let tagged = r#"[{"from":"human","value":"x"},{"from":"gpt","value":"y"}]"#;
    for (source, column, turns) in [
        ("hf-messages", "messages", said),
        ("hf-messages", "conversation", said),
        ("hf-messages", "data", said),
        ("hf-messages", "prompt", said),
        ("sharegpt", "conversations", tagged),
        ("anthropic-messages", "messages", said),
    ] {
        let source = find(source).unwrap();
        for nothing in ["[]", "[{}]", "null"] {
            let row = format!(r#"{{"{column}":{nothing},"other":{turns}}}"#);
            let reading = read(source, &row, None, &Limits::default());
            assert_eq!(reading.findings, [], "{row}");
            assert_eq!(reading.conversation.unwrap().messages.len(), 2, "{row}");
        }
        let row = format!(r#"{{"{column}":[]}}"#);
        let reading = read(source, &row, None, &Limits::default());
        assert_eq!(reading.conversation.unwrap().messages.len(), 0, "{row}");
        if matches!(column, "messages" | "conversations") {
            let row = format!(r#"{{"{column}":{{"note":1}},"other":{turns}}}"#);
            let reading = read(source, &row, None, &Limits::default());
            assert_eq!(reading.error.unwrap().code.name, "wrong-type", "{row}");
        }
    }
}

#[test]
fn an_empty_input_beside_tools_or_an_answer_is_no_reason_to_read_these_as_turns() {
    let source = find("openai-responses").unwrap();
    let turns = |row: &str| read(source, row, None, &Limits::default()).conversation.unwrap();
    let tools = r#""tools":[{"type":"function","name":"clock","parameters":{}}]"#;
    let output = r#""output":[{"type":"message","role":"assistant","content":"Hello"}]"#;
    let with_tools = turns(&format!(r#"{{"input":[],{tools}}}"#));
    assert_eq!((with_tools.messages.len(), with_tools.tools.len()), (0, 1));
    for row in [
        format!(r#"{{"input":[],{output}}}"#),
        format!("{{{output}}}"),
        format!(r#"{{"input":[],{tools},{output}}}"#),
    ] {
        assert_eq!(turns(&row).messages.len(), 1, "{row}");
    }
    let items = r#"{"input":[],"items":[{"type":"message","role":"user","content":"Hi"}]}"#;
    assert_eq!(turns(items).messages.len(), 1);
}

#[test]
fn an_empty_thought_is_none() {
    let row = r#"{"messages":[{"role":"assistant","content":"y","reasoning_content":""}]}"#;
    let reading = read(find("openai-messages").unwrap(), row, None, &Limits::default());
    assert_eq!(reading.conversation.unwrap().messages[0].parts.len(), 1);
}

#[test]
fn a_whole_conversation_in_the_column_of_an_answer_is_read_once() {
    let row = r#"{"completion":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}"#;
    let reading = read(find("hf-messages").unwrap(), row, None, &Limits::default());
    assert_eq!(reading.conversation.unwrap().messages.len(), 2);
}

#[test]
fn a_list_beyond_the_limit_is_rejected_whole_and_one_at_the_limit_is_not() {
    let limits = Limits {
        messages_per_conversation: 2,
        ..Limits::default()
    };
    for (source, row) in [
        ("openai-messages", r#"{"role":"user","content":"x"}"#),
        ("tzurot-requests", r#"{"messageContent":"x","channelId":"1"}"#),
        (
            "tzurot-requests",
            r#"{"id":"1","role":"user","content":"x","channelId":"1","personalityId":"p"}"#,
        ),
        ("gemini-contents", r#"{"role":"user","parts":[{"text":"a"}]}"#),
        (
            "gryag-db",
            r#"{"id":1,"chat_id":-1,"user_id":9,"role":"user","text":"x","media":{"media":[],"meta":{}},"ts":1760000000}"#,
        ),
    ] {
        let source = find(source).unwrap();
        let list = |count: usize| format!("[{}]", vec![row; count].join(","));
        assert!(read(source, &list(2), None, &limits).conversation.is_some());
        let reading = read(source, &list(3), None, &limits);
        assert_eq!(reading.error.unwrap().code.name, "conversation-too-large");
    }
}

#[test]
fn a_thousand_equal_names_get_ids_in_linear_time() {
    let requests: Vec<String> = (0..20_000)
        .map(|number| {
            format!(r#"{{"messageContent":"x","userName":"Ann","userId":"{number}","channelId":"1"}}"#)
        })
        .collect();
    let text = format!("[{}]", requests.join(","));
    let reading = read(
        find("tzurot-requests").unwrap(),
        &text,
        Some("1"),
        &Limits::default(),
    );
    let participants = reading.conversation.unwrap().participants;
    assert_eq!(participants.len(), 20_000);
    assert_eq!(
        (participants[0].id.as_str(), participants[19_999].id.as_str()),
        ("Ann", "Ann~20000")
    );
}
