//! Files with a vendor's messages, for each format that has them: the fields that a program writes around the messages, and nothing else.
//!
//! The functions take the messages of one conversation in order; the last one is the assistant's, which is the answer in logs and batches. Formats
//! with a row for each message return the rows of the conversation, as a reading receives them.

use serde_json::{Value, json};

/// A format with a vendor's messages.
pub(crate) struct Container {
    /// The id of the source that reads it.
    pub source: &'static str,
    /// The record, or the list of its rows.
    pub file: fn(&[Value]) -> Value,
}

const fn of(source: &'static str, file: fn(&[Value]) -> Value) -> Container {
    Container { source, file }
}

/// The containers of a vendor's messages, by the name of its file in `grammars/`. The first is the vendor's own.
pub(crate) static CONTAINERS: &[(&str, &[Container])] = &[
    (
        "anthropic",
        &[
            of(
                "anthropic-messages",
                |all| json!({"model": "claude-x", "anthropic_version": "2023-06-01", "messages": all}),
            ),
            of("request-log", |all| log("messages", all, anthropic_answer)),
            of("anthropic-batch", |all| {
                let (asked, last) = divided(all);
                json!([
                    {"custom_id": "a", "params": {"model": "claude-x", "max_tokens": 64, "messages": asked}},
                    {"custom_id": "a", "result": {"type": "succeeded", "message": anthropic_answer(last)}},
                ])
            }),
            of("claude-code", claude_code),
            of("cursor-agent", |all| {
                rows(
                    all,
                    |_, one| json!({"role": one["role"], "message": {"content": one["content"]}}),
                )
            }),
            of("factory-droid", factory_droid),
            of("cline", |all| {
                rows(all, |at, one| {
                    with(one, json!({"ts": 1_767_600_001_000_u64 + at as u64}))
                })
            }),
            of("amp", |all| {
                json!({"v": 41, "id": "T-1", "created": 1_767_865_803_494_u64, "title": "beds", "agentMode": "smart",
                    "nextMessageId": all.len(),
                    "messages": rows(all, |at, one| with(one, json!({"messageId": at})))})
            }),
            of("claude-export", claude_export),
            of("openai-messages", |all| json!({"messages": all})),
            of("hf-messages", prompt_and_completion),
            of("langfuse", langfuse),
            of("table-rows", |all| table_rows(all, "content")),
            of("mapped", |all| mapped(all, "role", "content")),
        ],
    ),
    (
        "openai-chat",
        &[
            of("openai-messages", |all| json!({"model": "m", "messages": all})),
            of("request-log", |all| log("messages", all, choices)),
            of("openai-batch", openai_batch),
            of("hf-messages", prompt_and_completion),
            of(
                "tau-bench",
                |all| json!({"task_id": 3, "reward": 1.0, "trial": 0, "info": {"user_cost": 0.1}, "traj": all}),
            ),
            of("hermes-agent", |all| {
                json!({"session_id": "h1", "model": "m", "platform": "cli", "session_start": time(0),
                    "last_updated": time(9), "message_count": all.len(), "messages": all})
            }),
            of("langfuse", langfuse),
            of("otel-genai", otel_genai),
            of(
                "mistral-chat",
                |all| json!({"model": "mistral-large-latest", "safe_prompt": false, "messages": all}),
            ),
            of("suna-rows", suna_rows),
            of("table-rows", message_cells),
            of("mapped", |all| mapped(all, "role", "content")),
            of("swe-agent", swe_agent),
            of("arena-battles", |all| {
                json!({"question_id": "q1", "model_a": "m", "model_b": "n", "winner": "model_a",
                    "conversation_a": all, "conversation_b": []})
            }),
        ],
    ),
    (
        "openai-responses",
        &[
            of(
                "openai-responses",
                |all| json!({"model": "m", "store": false, "input": all}),
            ),
            of("request-log", |all| {
                log("input", all, |last| json!({"output": [last]}))
            }),
            of("openai-batch", |all| {
                let (asked, last) = divided(all);
                batch(
                    "/v1/responses",
                    &json!({"model": "m", "input": asked}),
                    &json!({"output": [last]}),
                )
            }),
            of("codex", codex),
            of("langfuse", langfuse),
        ],
    ),
    (
        "converse",
        &[
            of(
                "bedrock-converse",
                |all| json!({"inferenceConfig": {"maxTokens": 64}, "messages": all}),
            ),
            of("request-log", |all| {
                log(
                    "messages",
                    all,
                    |last| json!({"output": {"message": last}, "stopReason": "end_turn"}),
                )
            }),
            of("langfuse", langfuse),
        ],
    ),
    (
        "gemini",
        &[
            of("gemini-contents", |all| json!({"contents": all})),
            of("request-log", |all| {
                log(
                    "contents",
                    all,
                    |last| json!({"candidates": [{"content": last, "index": 0}]}),
                )
            }),
            of("gemini-cli", gemini_cli),
            of("qwen-code", qwen_code),
            of("langfuse", langfuse),
        ],
    ),
    (
        "mistral",
        &[
            of(
                "mistral-chat",
                |all| json!({"model": "mistral-large-latest", "safe_prompt": false, "messages": all}),
            ),
            of("request-log", |all| log("messages", all, choices)),
            of("openai-batch", openai_batch),
            of("openai-messages", |all| json!({"messages": all})),
            of("hf-messages", prompt_and_completion),
            of("langfuse", langfuse),
            of("table-rows", message_cells),
        ],
    ),
    (
        "ai-sdk-ui",
        &[
            of("ai-sdk", |all| json!({"id": "chat-1", "messages": all})),
            of("request-log", |all| log("messages", all, messages)),
            of("langfuse", langfuse),
            of("table-rows", |all| table_rows(all, "parts")),
        ],
    ),
    (
        "ai-sdk-model",
        &[
            of("ai-sdk", |all| json!({"messages": all})),
            of("request-log", |all| log("messages", all, messages)),
            of("langfuse", langfuse),
            of("otel-genai", otel_genai),
        ],
    ),
    (
        "otel",
        &[
            of("otel-genai", otel_genai),
            of("request-log", |all| log("messages", all, messages)),
            of("langfuse", langfuse),
        ],
    ),
    (
        "langchain",
        &[
            of("langchain-messages", |all| json!({"messages": all})),
            of("request-log", |all| {
                log(
                    "messages",
                    all,
                    |last| json!({"generations": [[{"message": last}]]}),
                )
            }),
            of("langfuse", langfuse),
        ],
    ),
    (
        "sharegpt",
        &[
            of("sharegpt", |all| json!({"conversations": all})),
            of("mapped", |all| mapped(all, "from", "value")),
        ],
    ),
];

/// Splits the messages into the request and the answer.
fn divided(all: &[Value]) -> (&[Value], &Value) {
    let (last, asked) = all.split_last().unwrap();
    (asked, last)
}

/// A row for each message, made from its index.
fn rows(all: &[Value], row: impl Fn(usize, &Value) -> Value) -> Value {
    all.iter().enumerate().map(|(at, one)| row(at, one)).collect()
}

/// An object with further fields after its own.
fn with(object: &Value, more: Value) -> Value {
    let (Value::Object(mut fields), Value::Object(more)) = (object.clone(), more) else {
        panic!("no object: {object}")
    };
    fields.extend(more);
    Value::Object(fields)
}

/// The time of the message at this index.
fn time(at: usize) -> String {
    format!("2026-03-02T{:02}:{:02}:00Z", 9 + at / 60, at % 60)
}

/// The id of the message before this index.
fn above(at: usize) -> Value {
    at.checked_sub(1)
        .map_or(Value::Null, |above| json!(format!("u{above}")))
}

/// A request with the last message as its answer.
fn log(list: &str, messages: &[Value], answer: fn(&Value) -> Value) -> Value {
    let (asked, closing) = divided(messages);
    json!({"timestamp": time(0), "id": "r1", "request": {"model": "m", list: asked}, "response": answer(closing)})
}

fn anthropic_answer(last: &Value) -> Value {
    let usage = json!({"input_tokens": 9, "output_tokens": 4});
    with(
        last,
        json!({"id": "msg_1", "type": "message", "model": "claude-x", "usage": usage}),
    )
}

fn choices(last: &Value) -> Value {
    json!({"model": "m", "choices": [{"index": 0, "message": last, "finish_reason": "stop"}]})
}

fn messages(last: &Value) -> Value {
    json!({"messages": [last]})
}

fn batch(url: &str, body: &Value, answer: &Value) -> Value {
    json!([
        {"custom_id": "a", "method": "POST", "url": url, "body": body},
        {"custom_id": "a", "response": {"status_code": 200, "body": answer}, "error": null},
    ])
}

fn openai_batch(all: &[Value]) -> Value {
    let (asked, last) = divided(all);
    batch(
        "/v1/chat/completions",
        &json!({"model": "m", "messages": asked}),
        &choices(last),
    )
}

fn prompt_and_completion(all: &[Value]) -> Value {
    let (asked, last) = divided(all);
    json!({"prompt": asked, "completion": [last]})
}

/// A trace of one generation, with its input and output as JSON in strings.
fn langfuse(all: &[Value]) -> Value {
    let (asked, last) = divided(all);
    json!({"trace": {"id": "t1", "name": "a"}, "observations": [{"id": "o1", "traceId": "t1", "type": "GENERATION",
        "name": "generation", "startTime": time(0), "endTime": time(1), "parentObservationId": null, "model": "m",
        "input": json!(asked).to_string(), "output": last.to_string()}]})
}

fn otel_genai(all: &[Value]) -> Value {
    let (asked, last) = divided(all);
    let attribute =
        |key: &str, value: Value| json!({"key": key, "value": {"stringValue": value.to_string()}});
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t1", "spanId": "s1", "name": "chat m",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        attribute("gen_ai.input.messages", json!(asked)),
        attribute("gen_ai.output.messages", json!([last])),
    ]}]}]}]})
}

/// Rows with the content of a message as JSON, as in a column of JSON.
fn table_rows(all: &[Value], content: &str) -> Value {
    rows(all, |at, one| {
        let content = one.get(content).unwrap_or(&one["content"]);
        json!({"id": at, "conversation": "c1", "role": one["role"], "content": content, "created_at": time(at)})
    })
}

/// Rows with a whole message as JSON.
fn message_cells(all: &[Value]) -> Value {
    rows(
        all,
        |at, one| json!({"id": at, "conversation": "c1", "role": one["role"], "content": one, "created_at": time(at)}),
    )
}

/// A record for a field map of a pipeline file, with the map's own names.
fn mapped(all: &[Value], role: &str, text: &str) -> Value {
    let message = |_, one: &Value| {
        let mut fields = one.as_object().unwrap().clone();
        for (own, name) in [(role, "role"), (text, "text")] {
            let found = fields.shift_remove(own);
            fields.extend(found.map(|value| (name.to_owned(), value)));
        }
        Value::Object(fields)
    };
    json!({"id": "c1", "messages": rows(all, message)})
}

fn claude_code(all: &[Value]) -> Value {
    rows(all, |at, one| {
        let own = if one["role"] == "assistant" {
            json!({"id": format!("msg_{at}"), "model": "claude-x"})
        } else {
            json!({})
        };
        json!({"parentUuid": above(at), "isSidechain": false, "userType": "external", "cwd": "/x", "sessionId": "5e551011",
            "version": "2.0.14", "gitBranch": "main", "type": one["role"], "message": with(one, own),
            "uuid": format!("u{at}"), "timestamp": time(at)})
    })
}

fn factory_droid(all: &[Value]) -> Value {
    let start =
        json!({"type": "session_start", "id": "d1", "title": "beds", "version": "0.81.0", "cwd": "/x"});
    let line = |at: usize, one: &Value| json!({"type": "message", "id": format!("u{at}"), "timestamp": time(at), "parentId": above(at), "message": one});
    let lines = all.iter().enumerate().map(|(at, one)| line(at, one));
    std::iter::once(start).chain(lines).collect()
}

fn claude_export(all: &[Value]) -> Value {
    let message = |at, one: &Value| {
        let sender = if one["role"] == "user" {
            json!("human")
        } else {
            one["role"].clone()
        };
        json!({"uuid": format!("u{at}"), "text": "", "content": blocks(&one["content"]), "sender": sender,
            "created_at": time(at), "updated_at": time(at), "attachments": [], "files": []})
    };
    json!({"uuid": "c1", "name": "beds", "created_at": time(0), "updated_at": time(0),
        "chat_messages": rows(all, message)})
}

/// Content as a list of blocks.
fn blocks(content: &Value) -> Value {
    match content {
        Value::String(text) => json!([{"type": "text", "text": text}]),
        other => other.clone(),
    }
}

fn suna_rows(all: &[Value]) -> Value {
    rows(all, |at, one| {
        let kind = match one["role"].as_str() {
            Some("developer") => "system",
            Some("function") => "tool",
            role => role.unwrap(),
        };
        json!({"message_id": format!("u{at}"), "thread_id": "c1", "type": kind, "is_llm_message": true, "content": one,
            "metadata": {}, "created_at": time(at), "updated_at": time(at)})
    })
}

fn swe_agent(all: &[Value]) -> Value {
    let message = |_, one: &Value| {
        let mut fields = one.as_object().unwrap().clone();
        if let Some(id) = fields.shift_remove("tool_call_id") {
            fields.insert("tool_call_ids".to_owned(), json!([id]));
        }
        with(&Value::Object(fields), json!({"agent": "main"}))
    };
    json!({"environment": "main", "trajectory": [], "history": rows(all, message), "info": {}})
}

fn codex(all: &[Value]) -> Value {
    let line =
        |kind: &str, at, payload: &Value| json!({"timestamp": time(at), "type": kind, "payload": payload});
    let start = json!({"id": "c1", "timestamp": time(0), "cwd": "/x", "originator": "codex_cli_rs", "cli_version": "0.1"});
    let items = all.iter().enumerate();
    let items = items.map(|(at, item)| line("response_item", at, item));
    std::iter::once(line("session_meta", 0, &start))
        .chain(items)
        .collect()
}

fn gemini_cli(all: &[Value]) -> Value {
    let message = |at, one: &Value| {
        let kind = if one["role"] == "model" { "gemini" } else { "user" };
        json!({"id": format!("u{at}"), "timestamp": time(at), "type": kind, "content": one["parts"]})
    };
    json!({"sessionId": "c1", "projectHash": "0b7d", "startTime": time(0), "lastUpdated": time(9),
        "messages": rows(all, message)})
}

fn qwen_code(all: &[Value]) -> Value {
    rows(all, |at, one| {
        let parts = one["parts"].as_array().unwrap();
        let is_answer = |part: &Value| {
            part.get("functionResponse")
                .or(part.get("function_response"))
                .is_some()
        };
        let kind = match one["role"].as_str() {
            Some("model") => "assistant",
            _ if parts.iter().all(is_answer) => "tool_result",
            _ => "user",
        };
        json!({"uuid": format!("u{at}"), "parentUuid": above(at), "sessionId": "c1", "timestamp": time(at), "type": kind,
            "cwd": "/x", "version": "0.21.13", "gitBranch": "main", "message": one})
    })
}
