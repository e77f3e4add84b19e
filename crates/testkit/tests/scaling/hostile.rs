//! Inputs of an attacker who tries to make the program hang: useless elements in every list, openings without an end,
//! and many references to one another.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::amplify::junk_of;
use crate::shapes::{Files, Shape, one, planned, request, shape};

/// Pipeline settings with one dialect, for shapes that do not concern dialects.
const ONE_DIALECT: &str = "[render]\ndialects = [\"openai-chat\"]\n";

/// A shape for reading, with one dialect.
pub(crate) const fn read(name: &'static str, files: fn(usize) -> Files) -> Shape {
    planned(shape(name, 400, files), ONE_DIALECT)
}

/// Pipeline settings that replace personal data in texts.
const REDACTED: &str =
    "[render]\ndialects = [\"openai-chat\"]\n[redact]\nmode = \"replace\"\nkey_file = \"key\"\n";

/// Such a shape, with useless elements in every list of a sample.
const fn junk(name: &'static str, files: fn(usize) -> Files) -> Shape {
    planned(shape(name, 100, files), ONE_DIALECT)
}

/// All shapes.
pub(crate) const SHAPES: &[Shape] = &[
    read("rejected messages of a request", |n| {
        let said = [json!({"role": "user", "content": "when?"})].into_iter();
        request(said.chain(std::iter::repeat_n(json!(5), n)))
    }),
    read("rejected lines of a session", |n| {
        let line = |number: usize| json!({"type": "user", "sessionId": "s", "uuid": format!("u{number}"), "parentUuid": null, "message": false});
        lines([turn("a", None)].into_iter().chain((0..n).map(line)))
    }),
    junk("rejected, ai-sdk", |n| junk_of("ai-sdk", n)),
    junk("rejected, anthropic-batch", |n| junk_of("anthropic-batch", n)),
    junk("rejected, bedrock-converse", |n| junk_of("bedrock-converse", n)),
    junk("rejected, chatgpt-export", |n| junk_of("chatgpt-export", n)),
    junk("rejected, claude-code", |n| junk_of("claude-code", n)),
    junk("rejected, claude-export", |n| junk_of("claude-export", n)),
    junk("rejected, codex", |n| junk_of("codex", n)),
    junk("rejected, discord-export", |n| junk_of("discord-export", n)),
    junk("rejected, gemini-contents", |n| junk_of("gemini-contents", n)),
    junk("rejected, group-chat", |n| junk_of("group-chat", n)),
    junk("rejected, gryag-db", |n| junk_of("gryag-db", n)),
    junk("rejected, jaibber-events", |n| junk_of("jaibber-events", n)),
    junk("rejected, langfuse", |n| junk_of("langfuse", n)),
    junk("rejected, oasst", |n| junk_of("oasst", n)),
    junk("rejected, openai-batch", |n| junk_of("openai-batch", n)),
    junk("rejected, openai-responses", |n| junk_of("openai-responses", n)),
    junk("rejected, otel-genai", |n| junk_of("otel-genai", n)),
    junk("rejected, request-log", |n| junk_of("request-log", n)),
    junk("rejected, sharegpt", |n| junk_of("sharegpt", n)),
    junk("rejected, slack-export", |n| junk_of("slack-export", n)),
    junk("rejected, suna-rows", |n| junk_of("suna-rows", n)),
    junk("rejected, table-rows", |n| junk_of("table-rows", n)),
    junk("rejected, telegram-export", |n| junk_of("telegram-export", n)),
    junk("rejected, tzurot-requests", |n| junk_of("tzurot-requests", n)),
    planned(
        shape("beginnings of mentions to redact", 400, |n| {
            said("@ann:<@!tg://user?id=t.me/matrix:u/".repeat(n))
        }),
        REDACTED,
    ),
    planned(
        shape("beginnings of paths to redact", 400, |n| {
            said("~/home/\\Users\\\\files\\home\\".repeat(n))
        }),
        REDACTED,
    ),
    shape("markers of pictures that do not end", 400, |n| {
        said("[Image:".repeat(n))
    }),
    read("turns written out in one text", |n| {
        let prompt = "\n\nHuman: when?\n\nAssistant: at six".repeat(n);
        let answers =
            json!([{"answer": "a", "model": "m", "rank": 1.0}, {"answer": "b", "model": "k", "rank": 2.0}]);
        lines([json!({"prompt": prompt, "answers": answers, "turns": n, "num_responses": 2, "source": ["tides"], "good_natured": true})].into_iter())
    }),
    read("contexts of a pair", |n| {
        let turn = |number: usize| json!({"role": if number.is_multiple_of(2) { "user" } else { "assistant" }, "content": "when?"});
        let context: Vec<Value> = (0..n).map(turn).collect();
        lines([json!({"domain": "general", "language": "english", "context": context, "response1": "at six", "response2": "at seven",
            "overall_preference": -2, "individual_preference": []})].into_iter())
    }),
    read("messages far inside others", |n| {
        let message = |number: usize, children: Vec<Value>| json!({"messageId": format!("m{number}"), "sender": "User", "isCreatedByUser": number.is_multiple_of(2), "text": "when?", "children": children});
        let leaves = (0..n).map(|number| message(30 + number, Vec::new())).collect();
        let nested = (0..30)
            .rev()
            .fold(leaves, |below, number| vec![message(number, below)]);
        one("a.json", json!({"conversationId": "c", "title": "Tides", "recursive": true, "options": {}, "messages": nested}).to_string())
    }),
    read("openings of Slack markup", |n| slack("<".repeat(n))),
    read("people whom Slack names", |n| {
        let names: Vec<String> = (0..n).map(|person| format!("<@U{person}>")).collect();
        slack(names.join(" "))
    }),
    read("pictures and attachments of a ChatGPT message", attached),
    read("requests of one custom_id", |n| {
        let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "when?"}]});
        lines((0..n).map(
            |_| json!({"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body}),
        ))
    }),
    read("generations of a trace that share nothing", generations),
    read("summaries and answers of a session", |n| {
        let asked = [turn("a0", None)].into_iter();
        let answers = (1..n).map(|number| turn(&format!("a{number}"), Some(&format!("a{}", number - 1))));
        let summaries = (0..n)
            .map(|number| json!({"type": "summary", "summary": "tides", "leafUuid": format!("a{number}")}));
        lines(asked.chain(answers).chain(summaries))
    }),
    planned(
        shape("forks of a session", 8_000, |n| {
            let asked = [turn("a", None)].into_iter();
            lines(asked.chain((0..n).map(|number| {
                let mut turn = turn(&format!("b{number}"), Some("a"));
                turn["sessionId"] = json!(format!("s{number}"));
                turn
            })))
        }),
        ONE_DIALECT,
    ),
    read("turns of ChatML on one line", |n| {
        one(
            "a.txt",
            "<|im_start|>user\n".to_owned() + &"<|im_start|>".repeat(n) + "\n",
        )
    }),
    read("turns of ChatML that do not end", |n| {
        one("a.txt", "<|im_start|>user\n".repeat(n))
    }),
    shape("calls of as many tools that nobody defined", 200, |n| {
        let calls: Vec<Value> = (0..n)
            .map(|number| json!({"toolUse": {"toolUseId": format!("t{number}"), "name": format!("tide_{number}"), "input": {}}}))
            .collect();
        let messages = json!([{"role": "user", "content": [{"text": "when?"}]}, {"role": "assistant", "content": calls}]);
        one("a.jsonl", json!({"messages": messages}).to_string() + "\n")
    }),
    shape("results of a message of suna-rows", 200, answered_in_one_row),
    shape("answers of as many models", 200, |n| {
        let answered = (0..n).map(|number| {
            json!({"type": "assistant", "sessionId": "s", "uuid": format!("a{number}"), "parentUuid": null,
                "message": {"id": format!("m{number}"), "role": "assistant", "model": format!("tide-{number}"),
                    "content": [{"type": "text", "text": "high"}], "usage": {"input_tokens": 3, "output_tokens": 1}}})
        });
        lines([turn("a", None)].into_iter().chain(answered))
    }),
];

pub(crate) fn lines(lines: impl Iterator<Item = Value>) -> Files {
    let mut text = String::new();
    for line in lines {
        writeln!(text, "{line}").unwrap();
    }
    one("a.jsonl", text)
}

fn said(text: String) -> Files {
    request([json!({"role": "user", "content": text})].into_iter())
}

/// A turn of a session.
fn turn(uuid: &str, parent: Option<&str>) -> Value {
    json!({"type": "user", "sessionId": "s", "uuid": uuid, "parentUuid": parent, "cwd": "/pier", "version": "2.0.14",
        "timestamp": "2026-04-02T07:00:01.000Z", "message": {"role": "user", "content": "when?"}})
}

pub(crate) fn slack(text: String) -> Files {
    let day = json!([{"type": "message", "user": "U1", "text": text, "ts": "1767600300.000100"}]);
    one("pier/2026-01-05.json", day.to_string())
}

fn attached(n: usize) -> Files {
    let pictures: Vec<Value> = (0..n)
        .map(|number| {
            json!({"content_type": "image_asset_pointer", "asset_pointer": format!("file-service://file-{number}"), "size_bytes": 9, "width": 2, "height": 2})
        })
        .collect();
    let attachments: Vec<Value> = (0..n)
        .map(|number| json!({"id": format!("file-{number}"), "name": format!("{number}.png"), "mime_type": "image/png", "size": 9}))
        .collect();
    let message = json!({"id": "q", "author": {"role": "user", "name": null, "metadata": {}}, "create_time": 1_767_225_600.5,
        "content": {"content_type": "multimodal_text", "parts": pictures}, "status": "finished_successfully", "weight": 1.0,
        "metadata": {"attachments": attachments}, "recipient": "all"});
    let mapping = json!({
        "root": {"id": "root", "message": null, "parent": null, "children": ["q"]},
        "q": {"id": "q", "message": message, "parent": "root", "children": []},
    });
    let conversation = json!({"title": "Tides", "create_time": 1_767_225_600.5, "update_time": 1_767_225_690.25, "mapping": mapping,
        "current_node": "q", "conversation_id": "c", "id": "c"});
    one("conversations.json", json!([conversation]).to_string())
}

fn generations(n: usize) -> Files {
    let observations: Vec<Value> = (0..n)
        .map(|number| {
            json!({"id": format!("o{number}"), "traceId": "t", "type": "GENERATION", "name": "generation", "parentObservationId": null,
                "startTime": format!("2026-02-01T{:02}:{:02}:{:02}.000Z", number / 3600 % 24, number / 60 % 60, number % 60),
                "input": [{"role": "user", "content": format!("tide {number}?")}],
                "output": {"role": "assistant", "content": format!("high {number}")}, "model": "gpt-4o"})
        })
        .collect();
    one(
        "a.json",
        json!({"trace": {"id": "t", "name": "tides"}, "observations": observations}).to_string(),
    )
}

/// A row with all calls in its message, and a row with all results.
fn answered_in_one_row(n: usize) -> Files {
    let calls: Vec<Value> = (0..n)
        .map(|number| json!({"id": format!("c{number}"), "type": "function", "function": {"name": "tide", "arguments": "{}"}}))
        .collect();
    let results: Vec<Value> = (0..n)
        .map(|number| json!({"type": "tool_result", "tool_use_id": format!("c{number}"), "content": "high"}))
        .collect();
    let row = |number: usize, kind: &str, content: Value| {
        json!({"message_id": format!("m{number}"), "thread_id": "t", "type": kind, "is_llm_message": true, "content": content,
            "created_at": format!("2026-01-01T00:00:{number:02}Z")})
    };
    lines(
        [
            row(0, "user", json!({"role": "user", "content": "when?"})),
            row(
                1,
                "assistant",
                json!({"role": "assistant", "content": "", "tool_calls": calls}),
            ),
            row(2, "user", json!({"role": "user", "content": results})),
        ]
        .into_iter(),
    )
}
