//! One answer of a model is one turn: in agents' sessions with logged usage, the turns of the assistant are as many as
//! the logged answers, and each turn has the words and calls of its answer and of no other.
//!
//! Sessions are generated and written as the programs write them: the parts of an answer in any order that occurs,
//! before and between the results of its calls. `just turns` prints the numbers for the samples of all sources.

use std::collections::BTreeSet;
use std::fs;

use chatmill_diag::Limits;
use chatmill_drawn::{Random, cases, random};
use chatmill_model::{Conversation, Message, MessageKind, Part, Role};
use chatmill_testkit::conversations::reading;
use chatmill_testkit::samples::{sample_files, samples};
use serde_json::{Value, json};

/// An answer: an optional thought, an optional text, and the ids of its calls.
#[derive(Debug)]
struct Answer {
    number: usize,
    thought: Option<String>,
    text: Option<String>,
    calls: Vec<String>,
    /// Whether a user asks before it.
    is_asked: bool,
}

impl Answer {
    /// The contents of its turn.
    fn pieces(&self) -> BTreeSet<String> {
        let words = self.thought.iter().chain(&self.text);
        words.chain(&self.calls).cloned().collect()
    }

    fn usage(&self) -> (usize, usize) {
        (100 + self.number, 10 + self.number)
    }
}

/// Generates a sequence of answers; after one without calls a user asks again.
fn drawn(draw: &mut Random) -> Vec<Answer> {
    let mut is_asked = true;
    let mut answers = Vec::new();
    for number in 0..=draw.below(6) {
        let calls = draw.below(4);
        let mut text = (!draw.once_in(2)).then(|| format!("I look at {number}."));
        if calls == 0 {
            text = Some(format!("It is {number}."));
        }
        answers.push(Answer {
            number,
            thought: draw.once_in(2).then(|| format!("Think of {number}.")),
            text,
            calls: (0..calls).map(|call| format!("c{number}-{call}")).collect(),
            is_asked,
        });
        is_asked = calls == 0;
    }
    answers
}

/// A part of an answer, or a result, in the order of writing.
#[derive(Clone, Debug)]
enum Event {
    Thought(String),
    Text(String),
    Call(String),
    Result(String),
}

/// The parts of an answer and the results of its calls. Every result is after its call, and the last one is after all
/// parts, because a model is asked again once it has all results.
fn events(answer: &Answer, draw: &mut Random) -> Vec<Event> {
    let mut pieces: Vec<Event> = answer.thought.clone().map(Event::Thought).into_iter().collect();
    let mut rest: Vec<Event> = answer.text.clone().map(Event::Text).into_iter().collect();
    rest.extend(answer.calls.iter().cloned().map(Event::Call));
    while !rest.is_empty() {
        pieces.push(rest.remove(draw.below(rest.len())));
    }
    if draw.once_in(3) {
        // Codex writes the thought after the calls.
        pieces.rotate_left(usize::from(answer.thought.is_some() && !answer.calls.is_empty()));
    }
    let mut written: Vec<Event> = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    for piece in pieces {
        if let Event::Call(id) = &piece {
            waiting.push(id.clone());
        }
        written.push(piece);
        if waiting.len() > 1 && draw.once_in(3) {
            written.push(Event::Result(waiting.remove(draw.below(waiting.len()))));
        }
    }
    written.extend(waiting.into_iter().map(Event::Result));
    written
}

/// Puts the last part of an answer after the first result, as Codex does, if its end is marked.
fn codex(answers: &[Answer], draw: &mut Random) -> Value {
    let mut lines = vec![
        json!({"timestamp": time(0), "type": "session_meta", "payload": {"id": "s-1", "timestamp": time(0),
        "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.120.0"}}),
    ];
    let (mut input, mut output) = (0, 0);
    for answer in answers {
        let mut item = |payload: Value| {
            lines
                .push(json!({"timestamp": time(answer.number), "type": "response_item", "payload": payload}));
        };
        if answer.is_asked {
            item(asked(answer.number, "input_text"));
        }
        let mut events = events(answer, draw);
        if draw.once_in(2) {
            // The results of the calls arrive while the answer is still being written.
            events.sort_by_key(|event| matches!(event, Event::Text(_) | Event::Thought(_)));
        }
        for event in events {
            item(response_item(event));
        }
        let (more, written) = answer.usage();
        input += more;
        output += written;
        let count = |input: usize, output: usize| json!({"input_tokens": input, "output_tokens": output, "total_tokens": input + output});
        lines.push(
            json!({"timestamp": time(answer.number), "type": "event_msg", "payload": {"type": "token_count",
            "info": {"total_token_usage": count(input, output), "last_token_usage": count(more, written)}}}),
        );
    }
    Value::Array(lines)
}

fn responses(answers: &[Answer], draw: &mut Random) -> Value {
    let mut items = Vec::new();
    for answer in answers {
        if answer.is_asked {
            items.push(asked(answer.number, "input_text"));
        }
        items.extend(events(answer, draw).into_iter().map(response_item));
    }
    json!({"model": "m", "instructions": "Be brief.", "input": items})
}

fn asked(number: usize, kind: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": kind, "text": format!("Question {number}?")}]})
}

fn response_item(event: Event) -> Value {
    match event {
        Event::Thought(text) => {
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]})
        }
        Event::Text(text) => {
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        }
        Event::Call(id) => json!({"type": "function_call", "name": "look", "arguments": "{}", "call_id": id}),
        Event::Result(id) => json!({"type": "function_call_output", "call_id": id, "output": "seen"}),
    }
}

/// Claude Code writes a line for each block of an answer, all with the id of the answer.
fn claude_code(answers: &[Answer], draw: &mut Random) -> Value {
    let mut lines: Vec<Value> = Vec::new();
    let mut line = |kind: &str, message: Value, number: usize| {
        let parent = lines.len().checked_sub(1).map(|before| format!("u{before}"));
        lines.push(json!({"parentUuid": parent, "isSidechain": false, "cwd": "/w", "sessionId": "s-1", "version": "2.0.14",
            "type": kind, "message": message, "uuid": format!("u{}", lines.len()), "timestamp": time(number)}));
    };
    for answer in answers {
        let number = answer.number;
        if answer.is_asked {
            line(
                "user",
                json!({"role": "user", "content": format!("Question {number}?")}),
                number,
            );
        }
        let (input, output) = answer.usage();
        for event in events(answer, draw) {
            let block = match event {
                Event::Thought(text) => json!({"type": "thinking", "thinking": text, "signature": "S"}),
                Event::Text(text) => json!({"type": "text", "text": text}),
                Event::Call(id) => json!({"type": "tool_use", "id": id, "name": "Look", "input": {}}),
                Event::Result(id) => {
                    let block = json!({"type": "tool_result", "tool_use_id": id, "content": "seen"});
                    line("user", json!({"role": "user", "content": [block]}), number);
                    continue;
                }
            };
            let message = json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "m",
                "content": [block], "usage": {"input_tokens": input, "output_tokens": output}});
            line("assistant", message, number);
        }
    }
    Value::Array(lines)
}

/// `OpenCode` writes a message for each answer, with the results inside the calls.
fn opencode(answers: &[Answer], draw: &mut Random) -> Value {
    let mut messages = Vec::new();
    for answer in answers {
        let number = answer.number;
        if answer.is_asked {
            messages.push(json!({"info": {"id": format!("q{number}"), "sessionID": "s-1", "role": "user", "time": {"created": number}},
                "parts": [{"type": "text", "text": format!("Question {number}?")}]}));
        }
        let (input, output) = answer.usage();
        let mut parts = vec![json!({"type": "step-start"})];
        parts.extend(events(answer, draw).into_iter().filter_map(|event| {
            Some(match event {
                Event::Thought(text) => json!({"type": "reasoning", "text": text}),
                Event::Text(text) => json!({"type": "text", "text": text}),
                Event::Call(id) => json!({"type": "tool", "callID": id, "tool": "look",
                    "state": {"status": "completed", "input": {}, "output": "seen"}}),
                Event::Result(_) => return None,
            })
        }));
        parts.push(json!({"type": "step-finish", "tokens": {"input": input, "output": output}}));
        messages.push(json!({"info": {"id": format!("m{number}"), "sessionID": "s-1", "role": "assistant", "modelID": "m",
            "time": {"created": number}, "tokens": {"input": input, "output": output, "reasoning": 0, "cache": {"read": 0, "write": 0}}},
            "parts": parts}));
    }
    json!({"info": {"id": "s-1", "title": "t"}, "messages": messages})
}

/// The AI SDK writes all answers between two questions as one message with steps.
fn ai_sdk(answers: &[Answer], draw: &mut Random) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    for answer in answers {
        let number = answer.number;
        if answer.is_asked {
            messages.push(json!({"id": format!("q{number}"), "role": "user", "parts": [{"type": "text", "text": format!("Question {number}?")}]}));
            messages.push(json!({"id": format!("m{number}"), "role": "assistant", "parts": []}));
        }
        let parts = messages.last_mut().unwrap()["parts"].as_array_mut().unwrap();
        parts.push(json!({"type": "step-start"}));
        let mut events = events(answer, draw);
        // In the only step of a message, text is before the calls.
        events.sort_by_key(|event| matches!(event, Event::Call(_) | Event::Result(_)));
        parts.extend(events.into_iter().filter_map(|event| {
            Some(match event {
                Event::Thought(text) => json!({"type": "reasoning", "text": text}),
                Event::Text(text) => json!({"type": "text", "text": text}),
                Event::Call(id) => json!({"type": "tool-look", "toolCallId": id, "state": "output-available", "input": {}, "output": "seen"}),
                Event::Result(_) => return None,
            })
        }));
    }
    json!({"id": "chat-1", "messages": messages})
}

/// Kimi writes a line for each part, in newer versions with the id of the step, and a line with the usage after the results.
fn kimi_cli(answers: &[Answer], draw: &mut Random) -> Value {
    let has_ids = draw.once_in(2);
    let mut lines =
        vec![json!({"type": "metadata", "protocol_version": "1.4", "created_at": 1_772_874_000_000_i64})];
    for answer in answers {
        let number = answer.number;
        let mut line = |kind: &str, key: &str, value: Value| {
            let time = 1_772_874_000_000 + 1000 * number;
            lines.push(json!({"type": kind, key: value, "time": time}));
        };
        if answer.is_asked {
            let content = json!([{"type": "text", "text": format!("Question {number}?")}]);
            let message =
                json!({"role": "user", "content": content, "toolCalls": [], "origin": {"kind": "user"}});
            line("context.append_message", "message", message);
        }
        let step = has_ids.then(|| format!("step-{number}"));
        for event in events(answer, draw) {
            let event = match event {
                Event::Thought(text) => {
                    json!({"type": "content.part", "stepUuid": step, "part": {"type": "think", "think": text}})
                }
                Event::Text(text) => {
                    json!({"type": "content.part", "stepUuid": step, "part": {"type": "text", "text": text}})
                }
                Event::Call(id) => {
                    json!({"type": "tool.call", "stepUuid": step, "toolCallId": id, "name": "Look", "args": {}})
                }
                Event::Result(id) => {
                    json!({"type": "tool.result", "stepUuid": step, "toolCallId": id, "result": {"output": "seen"}})
                }
            };
            line("context.append_loop_event", "event", event);
        }
        let (input, output) = answer.usage();
        line(
            "usage.record",
            "usage",
            json!({"inputOther": input, "output": output}),
        );
    }
    Value::Array(lines)
}

/// Goose writes a message for each answer, or one for each call, before its result.
fn goose(answers: &[Answer], draw: &mut Random) -> Value {
    let is_split = draw.once_in(2);
    let mut messages: Vec<Value> = Vec::new();
    for answer in answers {
        let number = answer.number;
        let mut message = |role: &str, content: Vec<Value>| {
            messages.push(
                json!({"role": role, "created": 1_767_600_000 + number, "content": content,
                "metadata": {"userVisible": true, "agentVisible": true}}),
            );
        };
        if answer.is_asked {
            message(
                "user",
                vec![json!({"type": "text", "text": format!("Question {number}?")})],
            );
        }
        let (mut said, mut results) = (Vec::new(), Vec::new());
        for event in events(answer, draw) {
            said.push(match event {
                Event::Thought(text) => json!({"type": "thinking", "thinking": text, "signature": ""}),
                Event::Text(text) => json!({"type": "text", "text": text}),
                Event::Call(id) => json!({"type": "toolRequest", "id": id,
                    "toolCall": {"status": "success", "value": {"name": "look", "arguments": {}}}}),
                Event::Result(id) => {
                    let value = json!([{"type": "text", "text": "seen"}]);
                    results.push(
                        json!({"type": "toolResponse", "id": id, "toolResult": {"status": "success", "value": value}}),
                    );
                    if is_split && !said.is_empty() {
                        message("assistant", std::mem::take(&mut said));
                    }
                    if is_split {
                        message("user", std::mem::take(&mut results));
                    }
                    continue;
                }
            });
        }
        if !said.is_empty() {
            message("assistant", said);
        }
        if !results.is_empty() {
            message("user", results);
        }
    }
    json!({"id": "s-1", "working_dir": "/w", "session_type": "user", "conversation": messages})
}

/// `OTel` writes a span for each answer, with all messages before it.
fn otel_genai(answers: &[Answer], draw: &mut Random) -> Value {
    let mut before: Vec<Value> = Vec::new();
    let mut spans = Vec::new();
    for answer in answers {
        let number = answer.number;
        if answer.is_asked {
            let part = json!({"type": "text", "content": format!("Question {number}?")});
            before.push(json!({"role": "user", "parts": [part]}));
        }
        let (mut said, mut results) = (Vec::new(), Vec::new());
        for event in events(answer, draw) {
            match event {
                Event::Thought(text) => said.push(json!({"type": "reasoning", "content": text})),
                Event::Text(text) => said.push(json!({"type": "text", "content": text})),
                Event::Call(id) => {
                    said.push(json!({"type": "tool_call", "id": id, "name": "look", "arguments": {}}));
                }
                Event::Result(id) => {
                    results.push(json!({"type": "tool_call_response", "id": id, "response": "seen"}));
                }
            }
        }
        let said = json!({"role": "assistant", "parts": said, "finish_reason": "stop"});
        let (input, output) = answer.usage();
        spans.push(
            json!({"traceId": "t1", "spanId": format!("s{number}"), "startTimeUnixNano": format!("17953259{number:02}000000000"),
            "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": output,
                "gen_ai.input.messages": before, "gen_ai.output.messages": [said]}}),
        );
        before.push(said);
        if !results.is_empty() {
            before.push(json!({"role": "tool", "parts": results}));
        }
    }
    Value::Array(spans)
}

/// Langfuse writes an observation for each answer, with all messages before it.
fn langfuse(answers: &[Answer], draw: &mut Random) -> Value {
    let mut before: Vec<Value> = Vec::new();
    let mut observations = Vec::new();
    for answer in answers {
        let number = answer.number;
        if answer.is_asked {
            before.push(json!({"role": "user", "content": format!("Question {number}?")}));
        }
        let mut calls = Vec::new();
        let mut results = Vec::new();
        for event in events(answer, draw) {
            match event {
                Event::Call(id) => calls.push(
                    json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}}),
                ),
                Event::Result(id) => {
                    results.push(json!({"role": "tool", "tool_call_id": id, "content": "seen"}));
                }
                Event::Thought(_) | Event::Text(_) => {}
            }
        }
        let mut said = json!({"role": "assistant", "content": answer.text});
        if let Some(thought) = &answer.thought {
            said["reasoning_content"] = json!(thought);
        }
        if !calls.is_empty() {
            said["tool_calls"] = json!(calls);
        }
        let (input, output) = answer.usage();
        observations.push(
            json!({"id": format!("o{number}"), "traceId": "t1", "type": "GENERATION", "name": "generation",
            "startTime": time(number), "endTime": time(number), "input": before, "output": said, "model": "m",
            "usageDetails": {"input": input, "output": output}}),
        );
        before.push(said);
        before.extend(results);
    }
    json!({"trace": {"id": "t1"}, "observations": observations})
}

fn time(second: usize) -> String {
    format!("2026-06-01T10:00:{second:02}.000Z")
}

/// A program: its source, the function that writes answers as it does, and whether it logs usage.
type Program = (&'static str, fn(&[Answer], &mut Random) -> Value, bool);

const PROGRAMS: [Program; 9] = [
    ("codex", codex, true),
    ("openai-responses", responses, false),
    ("claude-code", claude_code, true),
    ("opencode", opencode, true),
    ("ai-sdk", ai_sdk, false),
    ("kimi-cli", kimi_cli, true),
    ("goose", goose, false),
    ("otel-genai", otel_genai, true),
    ("langfuse", langfuse, true),
];

fn turns(conversation: &Conversation) -> impl Iterator<Item = &Message> {
    let messages = conversation.messages.iter();
    messages.filter(|message| message.role == Role::Assistant && message.kind == MessageKind::Message)
}

/// The words and calls of a turn.
fn pieces(turn: &Message) -> BTreeSet<String> {
    let pieces = turn.parts.iter().filter_map(|part| match part {
        Part::Text(text) | Part::Reasoning(text) => Some(text.clone()),
        Part::ToolCall(call) => call.id.clone(),
        _ => None,
    });
    pieces.collect()
}

#[test]
fn each_answer_of_a_session_is_one_turn() {
    let mut wrong = Vec::new();
    for (salt, (source, write, logs)) in (1_u64..).zip(PROGRAMS) {
        let mut draw = random(0x7075_0000 + salt);
        for _ in 0..cases(40) {
            let answers = drawn(&mut draw);
            let record = write(&answers, &mut draw).to_string();
            let read = reading(source, &record, &Limits::default());
            let conversation = read.conversation.expect("a conversation");
            let found: Vec<BTreeSet<String>> = turns(&conversation).map(pieces).collect();
            let wanted: Vec<BTreeSet<String>> = answers.iter().map(Answer::pieces).collect();
            let logged = conversation
                .messages
                .iter()
                .filter(|message| message.usage.is_some());
            if found != wanted || logs && logged.count() != answers.len() {
                wrong.push(format!("{source}\n{found:?}\n{wanted:?}\n{record}"));
            }
        }
    }
    let shown: Vec<String> = wrong.iter().take(3).cloned().collect();
    assert!(
        wrong.is_empty(),
        "{} sessions differ\n{}",
        wrong.len(),
        shown.join("\n\n")
    );
}

#[test]
#[ignore = "prints a table: just turns"]
fn table_of_turns() {
    println!("{:<50} {:>6} {:>6}", "sample", "logged", "turns");
    let mut folders: Vec<_> = fs::read_dir(samples().join("sources"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    let mut differ = 0;
    for folder in folders {
        let source = folder.file_name().unwrap().to_string_lossy().into_owned();
        for file in sample_files(&format!("sources/{source}")) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if name.contains("expected")
                || name.starts_with("rejected")
                || name.rsplit_once('.').is_none_or(|(_, ending)| ending != "json")
            {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            let Ok(_) = serde_json::from_str::<Value>(&text) else {
                continue;
            };
            let Some(conversation) = reading(&source, &text, &Limits::default()).conversation else {
                continue;
            };
            let logged = conversation
                .messages
                .iter()
                .filter(|message| message.usage.is_some());
            let logged = logged.count();
            let learned = turns(&conversation)
                .filter(|turn| turn.usage.is_some() && !pieces(turn).is_empty())
                .count();
            if logged > 0 {
                println!("{:<50} {logged:>6} {learned:>6}", format!("{source}/{name}"));
                differ += usize::from(logged != learned);
            }
        }
    }
    println!("{differ} samples have logged answers without a turn");
}
