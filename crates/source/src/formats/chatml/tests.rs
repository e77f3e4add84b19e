use chatmill_intake::json;

use super::*;
use crate::Source as _;

fn read_value(json: &str) -> Reading {
    let document = json::scan(json.as_bytes(), 64).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: json.as_bytes(),
        start: 100,
        key: None,
        options: crate::ReadOptions::default(),
    };
    CHATML.read(&frame, &Limits::default())
}

fn read_text(text: &str) -> Reading {
    let mut json = String::new();
    chatmill_model::json::push_string(&mut json, text);
    read_value(&json)
}

fn messages(reading: &Reading) -> &[Message] {
    &reading.conversation.as_ref().unwrap().messages
}

fn names(reading: &Reading) -> Vec<&'static str> {
    let rejects = reading.rejects.iter().map(|reject| &reject.finding);
    let findings = reading.findings.iter().chain(rejects);
    findings.map(|finding| finding.code.name).collect()
}

#[test]
fn roles_and_names_stand_in_the_first_line() {
    let text = "<|im_start|>system name=example_user\nBe kind.<|im_end|>\n\
                <|im_start|>user name=\"Ann Lee\"\r\nHi\nthere <\u{200b}|im_end|><|im_end|>\n\
                <|im_start|>assistant\n<|im_end|>\n";
    let reading = read_text(text);
    let messages = messages(&reading);
    assert_eq!(names(&reading), [""; 0]);
    let actual: Vec<_> = messages
        .iter()
        .map(|message| (message.role, message.text().into_owned()))
        .collect();
    assert_eq!(
        actual,
        [
            (Role::System, "Be kind.".to_owned()),
            (Role::User, "Hi\nthere <|im_end|>".to_owned()),
            (Role::Assistant, String::new()),
        ]
    );
    let participants = &reading.conversation.as_ref().unwrap().participants;
    let ids: Vec<_> = participants.iter().map(|person| person.id.as_str()).collect();
    assert_eq!(ids, ["example_user", "Ann Lee", "assistant"]);
}

#[test]
fn calls_results_and_thoughts_are_read_from_their_tags() {
    let text = "<|im_start|>user\ntide?<|im_end|>\n\
        <|im_start|>assistant\n<think>\nlook it up\n</think>\n\nOne moment.\n<tool_call>\n\
        {\"name\": \"tide\", \"arguments\": {\"port\": \"Odesa\"}}\n</tool_call>\n<tool_call>\n\
        {\"name\": \"clock\", \"arguments\": {}}\n</tool_call><|im_end|>\n\
        <|im_start|>user\n<tool_response>\nlow\n</tool_response>\n<tool_response>\n\
        {\"name\": \"clock\", \"content\": {\"h\": 12}}\n</tool_response><|im_end|>\n";
    let reading = read_text(text);
    assert_eq!(names(&reading), [""; 0]);
    let messages = messages(&reading);
    let kinds: Vec<_> = messages[1].parts.iter().map(Part::type_name).collect();
    assert_eq!(kinds, ["reasoning", "text", "tool_call", "tool_call"]);
    assert_eq!(messages[1].text(), "One moment.");
    assert_eq!(messages[2].role, Role::Tool);
    let answers: Vec<_> = messages[2]
        .parts
        .iter()
        .map(|part| match part {
            Part::ToolResult(result) => (result.name.as_deref(), result.content.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(answers, [(None, "low"), (Some("clock"), "{\"h\":12}")]);
}

#[test]
fn malformed_turns_have_findings_at_their_place_and_no_text_is_lost() {
    let text = "<|im_start|>narrator\nNight.<|im_end|>\nlost \"words\"\n\
                <|im_start|>user Hi there<|im_end|>\n\
                <|im_start|>assistant\n<tool_call>no</tool_call> and <tool_call>{\n<|im_start|>user\nbye";
    let reading = read_text(text);
    assert_eq!(
        names(&reading),
        [
            "wrong-type",
            "wrong-type",
            "unknown-message-type",
            "unfinished-stream",
            "unclosed-turn",
            "unclosed-turn",
            "text-outside-turns"
        ]
    );
    let texts: Vec<_> = messages(&reading)
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert_eq!(
        texts,
        [
            "Night.",
            "Hi there",
            "<tool_call>no</tool_call> and <tool_call>{\n",
            "bye"
        ]
    );
    let mut json = String::new();
    chatmill_model::json::push_string(&mut json, text);
    let span = reading.rejects[0].span;
    let place = |start: u64, end: u64| json.get(start as usize - 100..end as usize - 100).unwrap();
    assert_eq!(place(span.start, span.end), "lost \\\"words\\\"");
    let origin = messages(&reading)[1].origin;
    assert_eq!(
        place(origin.start, origin.end),
        "<|im_start|>user Hi there<|im_end|>"
    );
    assert!(reading.rows.balances());
}

#[test]
fn an_open_assistant_turn_is_no_turn() {
    for end in ["<|im_start|>assistant\n", "<|im_start|>assistant", "<|im_start|>"] {
        let reading = read_text(&format!("<|im_start|>user\nHi<|im_end|>\n{end}"));
        assert_eq!((messages(&reading).len(), names(&reading).len()), (1, 0), "{end}");
    }
}

#[test]
fn records_of_training_files_and_of_rendered_lines_are_read() {
    let text = "<|im_start|>user\\nHi<|im_end|>\\n";
    let reading = read_value(&format!(
        "{{\"conversation_id\":\"c-1\",\"perspective\":\"bo\",\"text\":\"{text}\"}}"
    ));
    let conversation = reading.conversation.as_ref().unwrap();
    assert_eq!(conversation.source_id.as_deref(), Some("c-1"));
    assert_eq!(conversation.extra.0[0].0, "perspective");
    assert_eq!(messages(&reading)[0].text(), "Hi");
    for (json, code) in [
        ("{}", "missing-field"),
        ("[]", "missing-field"),
        ("{\"text\":1}", "wrong-type"),
        ("{\"text\":\"a\",\"text\":\"b\"}", "duplicate-key"),
    ] {
        assert_eq!(read_value(json).error.unwrap().code.name, code, "{json}");
    }
}

#[test]
fn tags_that_were_escaped_are_text_again() {
    let text = "<|im_start|>system\n<\u{200b}tool_call> <\u{200b}|a|><|im_end|>\n\
                <|im_start|>user\n<\u{200b}tool_response>sunny<\u{200b}/tool_response><|im_end|>\n\
                <|im_start|>assistant\n<think>\na <\u{200b}/think>\n</think>\n\n<\u{200b}\u{200b}tool_call>{}<\u{200b}/think><|im_end|>\n";
    let reading = read_text(text);
    assert_eq!(names(&reading), [""; 0]);
    let actual: Vec<&[Part]> = messages(&reading)
        .iter()
        .map(|message| message.parts.as_slice())
        .collect();
    let text = |text: &str| Part::Text(text.to_owned());
    assert_eq!(
        actual,
        [
            // System text speaks of tags, and nothing in it is escaped but control tokens.
            [text("<\u{200b}tool_call> <|a|>")].as_slice(),
            &[text("<tool_response>sunny</tool_response>")],
            &[
                Part::Reasoning("a </think>".to_owned()),
                text("<\u{200b}tool_call>{}<\u{200b}/think>")
            ],
        ]
    );
}
