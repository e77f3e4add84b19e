//! Requests of all vendors as turns of one kind.

use serde_json::Value;

/// Who a turn speaks as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Model,
    Tool,
}

/// How arguments are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arguments {
    Text,
    Object,
    Other,
}

/// A piece of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Media,
    Call(String, String, Arguments),
    Result(String, String),
}

/// A turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub role: Role,
    pub pieces: Vec<Piece>,
    /// The name that it bears.
    pub name: Option<String>,
    /// Keys that a vendor of this kind does not know.
    pub unknown: Vec<String>,
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn arguments(value: &Value) -> Arguments {
    match value {
        Value::String(_) => Arguments::Text,
        Value::Object(_) => Arguments::Object,
        _ => Arguments::Other,
    }
}

fn unknown(value: &Value, known: &[&str]) -> Vec<String> {
    let keys = value.as_object().unwrap().keys();
    keys.filter(|key| !known.contains(&key.as_str()))
        .cloned()
        .collect()
}

fn role(word: &str) -> Role {
    match word {
        "system" => Role::System,
        "user" | "human" => Role::User,
        "assistant" | "model" | "gpt" => Role::Model,
        "tool" => Role::Tool,
        other => panic!("{other}"),
    }
}

/// Lists of messages in the shape of Chat Completions.
pub(crate) fn list(messages: &Value, known: &[&str]) -> Vec<Turn> {
    let messages = messages.as_array().unwrap().iter();
    messages
        .map(|message| {
            let role = role(message["role"].as_str().unwrap());
            let mut pieces = Vec::new();
            match &message["content"] {
                _ if role == Role::Tool => {
                    let content = match &message["content"] {
                        Value::Array(blocks) => blocks.iter().map(|block| string(&block["text"])).collect(),
                        content => string(content),
                    };
                    pieces.push(Piece::Result(string(&message["tool_call_id"]), content));
                }
                Value::String(text) => pieces.push(Piece::Text(text.clone())),
                Value::Array(parts) => pieces.extend(parts.iter().map(|part| match part["type"].as_str() {
                    Some("text") => Piece::Text(string(&part["text"])),
                    _ => Piece::Media,
                })),
                _ => {}
            }
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                pieces.push(Piece::Call(
                    string(&call["id"]),
                    string(&function["name"]),
                    arguments(&function["arguments"]),
                ));
            }
            Turn {
                role,
                pieces,
                name: message["name"].as_str().map(str::to_owned),
                unknown: unknown(message, known),
            }
        })
        .collect()
}

/// Items of Responses; each is a turn.
pub(crate) fn items(items: &Value) -> Vec<Turn> {
    let items = items.as_array().unwrap().iter();
    items
        .map(|item| {
            let (role, pieces, known): (_, _, &[&str]) = match item["type"].as_str() {
                Some("function_call") => {
                    let form = arguments(&item["arguments"]);
                    let call = Piece::Call(string(&item["call_id"]), string(&item["name"]), form);
                    (Role::Model, vec![call], &["type", "call_id", "name", "arguments"])
                }
                Some("function_call_output") => {
                    let result = Piece::Result(string(&item["call_id"]), string(&item["output"]));
                    (Role::Tool, vec![result], &["type", "call_id", "output"])
                }
                _ => {
                    let pieces = match &item["content"] {
                        Value::String(text) => vec![Piece::Text(text.clone())],
                        Value::Array(parts) => parts
                            .iter()
                            .map(|part| match part["type"].as_str() {
                                Some("input_text") => Piece::Text(string(&part["text"])),
                                _ => Piece::Media,
                            })
                            .collect(),
                        _ => Vec::new(),
                    };
                    (role(item["role"].as_str().unwrap()), pieces, &["role", "content"])
                }
            };
            Turn {
                role,
                pieces,
                name: None,
                unknown: unknown(item, known),
            }
        })
        .collect()
}

/// Messages of blocks, as Anthropic and Bedrock have them.
pub(crate) fn blocks(messages: &Value) -> Vec<Turn> {
    let messages = messages.as_array().unwrap().iter();
    messages
        .map(|message| {
            let blocks = message["content"].as_array().unwrap().iter();
            let pieces = blocks
                .filter(|block| block.get("cachePoint").is_none())
                .map(|block| {
                    if let Some(text) = block["text"].as_str() {
                        return Piece::Text(text.to_owned());
                    }
                    match (
                        block["type"].as_str(),
                        block.get("toolUse"),
                        block.get("toolResult"),
                    ) {
                        (Some("tool_use"), _, _) => {
                            let form = arguments(&block["input"]);
                            Piece::Call(string(&block["id"]), string(&block["name"]), form)
                        }
                        (Some("tool_result"), _, _) => {
                            Piece::Result(string(&block["tool_use_id"]), string(&block["content"]))
                        }
                        (_, Some(call), _) => Piece::Call(
                            string(&call["toolUseId"]),
                            string(&call["name"]),
                            arguments(&call["input"]),
                        ),
                        (_, _, Some(result)) => {
                            let text = string(&result["content"][0]["text"]);
                            Piece::Result(string(&result["toolUseId"]), text)
                        }
                        _ => Piece::Media,
                    }
                })
                .collect();
            Turn {
                role: role(message["role"].as_str().unwrap()),
                pieces,
                name: None,
                unknown: unknown(message, &["role", "content"]),
            }
        })
        .collect()
}

/// Contents of parts, as Gemini and gryag have them; a call without an id goes by its name.
pub(crate) fn contents(contents: &Value) -> Vec<Turn> {
    let contents = contents.as_array().unwrap().iter();
    contents
        .map(|content| {
            let parts = content["parts"].as_array().unwrap().iter();
            let of = |part: &Value, keys: [&str; 2]| keys.iter().find_map(|key| part.get(*key)).cloned();
            let pieces = parts
                .map(|part| {
                    if let Some(text) = part["text"].as_str() {
                        return Piece::Text(text.to_owned());
                    }
                    let id = |inner: &Value| string(inner.get("id").unwrap_or(&inner["name"]));
                    if let Some(call) = of(part, ["functionCall", "function_call"]) {
                        return Piece::Call(id(&call), string(&call["name"]), arguments(&call["args"]));
                    }
                    if let Some(result) = of(part, ["functionResponse", "function_response"]) {
                        assert!(result["response"].is_object(), "{result}");
                        return Piece::Result(id(&result), result["response"].to_string());
                    }
                    Piece::Media
                })
                .collect();
            Turn {
                role: role(content["role"].as_str().unwrap()),
                pieces,
                name: None,
                unknown: unknown(content, &["role", "parts"]),
            }
        })
        .collect()
}
