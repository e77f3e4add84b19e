//! Writes a session in five wire formats: the messages of a history, a request with them, and the response.

use chatmill_drawn::Random;
use serde_json::{Value, json};

use super::sessions::{Cut, Piece, Returned, Round, Session};

/// The first words of a summary.
const SUMMARY: &str = "Summary of";

/// A wire format: the requests of the clients of one API.
pub(super) struct Wire {
    /// The dialect of the same format.
    pub dialect: &'static str,
    /// The field of a request with the messages.
    pub list: &'static str,
    /// Writes the messages before an answer: the results of the calls before it, and the questions.
    before: fn(&[Returned], &[Piece], &mut Random) -> Vec<Value>,
    /// Writes an answer, with its thought if the flag is true.
    answer: fn(&Round, bool, &mut Random) -> Vec<Value>,
    /// Writes the fields of a request other than the messages, and the messages with which all requests begin.
    beside: fn(&Session, &mut Random) -> Value,
    /// Writes the response with an answer.
    response: fn(Vec<Value>) -> Value,
}

/// The five wire formats.
pub(super) static WIRES: [Wire; 5] = [
    Wire {
        dialect: "openai-chat",
        list: "messages",
        before: chat_before,
        answer: chat_answer,
        beside: chat_beside,
        response: |mut answer| json!({"choices": [{"index": 0, "finish_reason": "stop", "message": answer.remove(0)}]}),
    },
    Wire {
        dialect: "openai-responses",
        list: "input",
        before: responses_before,
        answer: responses_answer,
        beside: responses_beside,
        response: |answer| json!({"object": "response", "output": answer}),
    },
    Wire {
        dialect: "anthropic-messages",
        list: "messages",
        before: anthropic_before,
        answer: anthropic_answer,
        beside: anthropic_beside,
        response: |mut answer| {
            let mut answer = answer.remove(0);
            answer["type"] = json!("message");
            answer["stop_reason"] = json!("end_turn");
            answer
        },
    },
    Wire {
        dialect: "gemini-contents",
        list: "contents",
        before: gemini_before,
        answer: gemini_answer,
        beside: gemini_beside,
        response: |mut answer| json!({"candidates": [{"content": answer.remove(0), "finishReason": "STOP"}]}),
    },
    Wire {
        dialect: "bedrock-converse",
        list: "messages",
        before: converse_before,
        answer: converse_answer,
        beside: converse_beside,
        response: |mut answer| json!({"output": {"message": answer.remove(0)}, "stopReason": "end_turn"}),
    },
];

impl Wire {
    /// The requests of a session with their responses, as a gateway logs them.
    pub(super) fn log(&self, session: &Session, draw: &mut Random) -> Vec<(Value, Value)> {
        let beside = (self.beside)(session, draw);
        let head = beside[self.list].as_array().cloned().unwrap_or_default();
        let mut history = head.clone();
        let mut results: &[Returned] = &[];
        let mut log = Vec::new();
        for (number, round) in session.rounds.iter().enumerate() {
            if let Some((_, cut)) = session.cut.filter(|(place, _)| *place == number) {
                history.clone_from(&head);
                if cut == Cut::Summary {
                    let words = [Piece::Text(format!("{SUMMARY} {number} answers."))];
                    history.extend((self.before)(&[], &words, draw));
                }
            }
            history.extend((self.before)(results, &round.asked, draw));
            let mut request = beside.clone();
            request[self.list] = json!(history);
            log.push((request, (self.response)((self.answer)(round, true, draw))));
            history.extend((self.answer)(round, session.repeats_thoughts, draw));
            results = &round.results;
        }
        log
    }
}

fn address(picture: &str) -> String {
    format!("data:image/png;base64,{picture}")
}

/// A single text as a string, anything else as a list.
fn short(pieces: &[Piece], list: Vec<Value>, draw: &mut Random) -> Value {
    match pieces {
        [Piece::Text(text)] if draw.once_in(2) => json!(text),
        _ => Value::Array(list),
    }
}

fn each(pieces: &[Piece], text: impl Fn(&str) -> Value, picture: impl Fn(&str) -> Value) -> Vec<Value> {
    let each = pieces.iter().map(|piece| match piece {
        Piece::Text(words) => text(words),
        Piece::Picture(bytes) => picture(bytes),
    });
    each.collect()
}

/// Messages with results and questions: together in one message, or in two.
fn in_user_turns(results: Vec<Value>, asked: Vec<Value>, draw: &mut Random) -> Vec<Vec<Value>> {
    let mut turns = vec![results, asked];
    turns.retain(|turn| !turn.is_empty());
    if turns.len() == 2 && draw.once_in(2) {
        turns = vec![turns.concat()];
    }
    turns
}

/// Inserts a step that runs at the vendor after some of the texts, which begin at `first`.
fn insert_hosted(
    blocks: &mut Vec<Value>,
    first: usize,
    asked: Option<&(String, usize)>,
    step: impl Fn(&str) -> [Value; 2],
) {
    if let Some((words, behind)) = asked {
        let place = blocks.len().min(first + behind);
        blocks.splice(place..place, step(words));
    }
}

/// The number with which the words of a round begin.
fn number_of(words: &str) -> &str {
    words.split(':').next().unwrap_or_default()
}

fn chat_before(results: &[Returned], asked: &[Piece], draw: &mut Random) -> Vec<Value> {
    let part = |words: &str| json!({"type": "text", "text": words});
    let picture = |bytes: &str| json!({"type": "image_url", "image_url": {"url": address(bytes)}});
    let mut messages: Vec<Value> = Vec::new();
    for result in results {
        let content = short(&result.pieces, each(&result.pieces, part, picture), draw);
        messages.push(json!({"role": "tool", "tool_call_id": result.id, "content": content}));
    }
    if !asked.is_empty() {
        messages.push(json!({"role": "user", "content": short(asked, each(asked, part, picture), draw)}));
    }
    messages
}

fn chat_answer(round: &Round, has_thought: bool, draw: &mut Random) -> Vec<Value> {
    let content = round.texts.concat();
    let mut message = json!({"role": "assistant", "content": if content.is_empty() && draw.once_in(2) { Value::Null } else { json!(content) }});
    if has_thought && let Some(thought) = &round.thought {
        message["reasoning_content"] = json!(thought);
    }
    if !round.calls.is_empty() {
        let calls = round.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.input.to_string()});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    vec![message]
}

fn chat_beside(session: &Session, draw: &mut Random) -> Value {
    let mut request = json!({"model": "m"});
    if let Some(system) = &session.system {
        let role = if draw.once_in(4) { "developer" } else { "system" };
        request["messages"] = json!([{"role": role, "content": system}]);
    }
    if !session.tools.is_empty() {
        let tools = session.tools.iter().map(|tool| {
            let mut function = json!({"name": tool.name, "parameters": tool.schema});
            tool.description
                .inspect(|words| function["description"] = json!(words));
            json!({"type": "function", "function": function})
        });
        request["tools"] = tools.collect();
    }
    request
}

fn responses_before(results: &[Returned], asked: &[Piece], draw: &mut Random) -> Vec<Value> {
    let part = |words: &str| json!({"type": "input_text", "text": words});
    let picture = |bytes: &str| json!({"type": "input_image", "detail": "auto", "image_url": address(bytes)});
    let mut items: Vec<Value> = Vec::new();
    for result in results {
        if result.is_client {
            let output =
                json!({"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}});
            items.push(json!({"type": "shell_call_output", "call_id": result.id, "output": [output]}));
            continue;
        }
        let output = short(&result.pieces, each(&result.pieces, part, picture), draw);
        items.push(json!({"type": "function_call_output", "call_id": result.id, "output": output}));
    }
    if !asked.is_empty() {
        let mut item = json!({"role": "user", "content": short(asked, each(asked, part, picture), draw)});
        if draw.once_in(2) {
            item["type"] = json!("message");
        }
        items.push(item);
    }
    items
}

fn responses_answer(round: &Round, has_thought: bool, draw: &mut Random) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    if has_thought && let Some(thought) = &round.thought {
        items.push(json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": thought}]}));
    }
    let calls = round.calls.iter().map(|call| {
        if call.is_client {
            let action = json!({"commands": ["ls", call.input.to_string()], "timeout_ms": 9});
            return json!({"type": "shell_call", "id": "sh_1", "call_id": call.id, "status": "completed", "action": action});
        }
        json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.input.to_string(), "status": "completed"})
    });
    let calls: Vec<Value> = calls.collect();
    let hosted = round.hosted.iter().map(|(words, _)| {
        let action = json!({"type": "search", "query": words});
        json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action})
    });
    items.extend(hosted);
    items.extend(round.on_server.iter().map(|(words, _)| {
        let given = json!({"say": words}).to_string();
        json!({"type": "mcp_call", "id": format!("mcp_{}", number_of(words)), "server_label": "s", "name": "echo", "arguments": given, "output": words})
    }));
    if !round.texts.is_empty() {
        let parts = round
            .texts
            .iter()
            .map(|text| json!({"type": "output_text", "text": text, "annotations": []}));
        let parts: Vec<Value> = parts.collect();
        items.push(json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": parts}));
    }
    // The model may write between its calls.
    let place = if draw.once_in(3) { 0 } else { items.len() };
    items.splice(place..place, calls);
    items
}

fn responses_beside(session: &Session, _: &mut Random) -> Value {
    let mut request = json!({"model": "m"});
    session
        .system
        .iter()
        .for_each(|system| request["instructions"] = json!(system));
    if !session.tools.is_empty() {
        let tools = session.tools.iter().map(|tool| {
            let mut tool_json =
                json!({"type": "function", "name": tool.name, "parameters": tool.schema, "strict": false});
            tool.description
                .inspect(|words| tool_json["description"] = json!(words));
            tool_json
        });
        request["tools"] = tools.collect();
    }
    request
}

fn anthropic_before(results: &[Returned], asked: &[Piece], draw: &mut Random) -> Vec<Value> {
    let part = |words: &str| json!({"type": "text", "text": words});
    let picture = |bytes: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": bytes}});
    let mut blocks: Vec<Value> = Vec::new();
    for result in results {
        let content = short(&result.pieces, each(&result.pieces, part, picture), draw);
        let mut block = json!({"type": "tool_result", "tool_use_id": result.id, "content": content});
        if result.failed || draw.once_in(3) {
            block["is_error"] = json!(result.failed);
        }
        blocks.push(block);
    }
    let asked_blocks = each(asked, part, picture);
    let is_alone = blocks.is_empty();
    let turns = in_user_turns(blocks, asked_blocks, draw).into_iter();
    turns
        .map(|turn| {
            let content = if is_alone {
                short(asked, turn, draw)
            } else {
                json!(turn)
            };
            json!({"role": "user", "content": content})
        })
        .collect()
}

fn anthropic_answer(round: &Round, has_thought: bool, draw: &mut Random) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    if has_thought && let Some(thought) = &round.thought {
        blocks.push(json!({"type": "thinking", "thinking": thought, "signature": "c2ln"}));
    }
    let first = blocks.len();
    for text in &round.texts {
        let mut block = json!({"type": "text", "text": text});
        if draw.once_in(4) {
            let citation = json!({"type": "char_location", "cited_text": "it", "document_index": 0, "start_char_index": 0, "end_char_index": 2});
            block["citations"] = json!([citation]);
        }
        blocks.push(block);
    }
    insert_hosted(&mut blocks, first, round.on_server.as_ref(), |words| {
        let id = format!("mcptoolu_{}", number_of(words));
        [
            json!({"type": "mcp_tool_use", "id": id, "name": "echo", "server_name": "s", "input": {"say": words}}),
            json!({"type": "mcp_tool_result", "tool_use_id": id, "is_error": false, "content": [{"type": "text", "text": words}]}),
        ]
    });
    insert_hosted(&mut blocks, first, round.hosted.as_ref(), |words| {
        let found = json!({"type": "web_search_result", "url": "https://e.com", "title": words, "encrypted_content": "ZW5j"});
        [
            json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": words}}),
            json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [found]}),
        ]
    });
    blocks.extend(
        round
            .calls
            .iter()
            .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})),
    );
    let content = match &round.texts[..] {
        [text] if blocks.len() == 1 && draw.once_in(2) => json!(text),
        _ => json!(blocks),
    };
    vec![json!({"role": "assistant", "content": content})]
}

fn anthropic_beside(session: &Session, draw: &mut Random) -> Value {
    let mut request = json!({"model": "m", "max_tokens": 9});
    if let Some(system) = &session.system {
        let block = json!({"type": "text", "text": system, "cache_control": {"type": "ephemeral"}});
        request["system"] = if draw.once_in(2) {
            json!(system)
        } else {
            json!([block])
        };
    }
    if !session.tools.is_empty() {
        let tools = session.tools.iter().map(|tool| {
            let mut tool_json = json!({"name": tool.name, "input_schema": tool.schema});
            tool.description
                .inspect(|words| tool_json["description"] = json!(words));
            tool_json
        });
        request["tools"] = tools.collect();
    }
    request
}

fn gemini_before(results: &[Returned], asked: &[Piece], draw: &mut Random) -> Vec<Value> {
    let picture = |bytes: &str| json!({"inlineData": {"mimeType": "image/png", "data": bytes}});
    let has_ids = draw.once_in(2);
    let responses = results.iter().map(|result| {
        let texts: Vec<&str> = result
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Text(words) => Some(words.as_str()),
                Piece::Picture(_) => None,
            })
            .collect();
        let object = serde_json::from_str::<Value>(texts[0])
            .ok()
            .filter(Value::is_object);
        let response = match object {
            Some(object) if !result.failed && texts.len() == 1 => object,
            _ if result.failed => json!({"error": texts.join("\n")}),
            _ => json!({"output": texts.join("\n")}),
        };
        let mut response = json!({"name": result.name, "response": response});
        if has_ids {
            response["id"] = json!(result.id);
        }
        let pictures = result.pieces.iter().filter_map(|piece| match piece {
            Piece::Picture(bytes) => Some(picture(bytes)),
            Piece::Text(_) => None,
        });
        let pictures: Vec<Value> = pictures.collect();
        if !pictures.is_empty() {
            response["parts"] = json!(pictures);
        }
        json!({"functionResponse": response})
    });
    let asked = each(asked, |words| json!({"text": words}), picture);
    let turns = in_user_turns(responses.collect(), asked, draw).into_iter();
    turns
        .map(|parts| json!({"role": "user", "parts": parts}))
        .collect()
}

fn gemini_answer(round: &Round, has_thought: bool, _: &mut Random) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    if has_thought && let Some(thought) = &round.thought {
        parts.push(json!({"text": thought, "thought": true}));
    }
    let first = parts.len();
    parts.extend(round.texts.iter().map(|text| json!({"text": text})));
    insert_hosted(&mut parts, first, round.hosted.as_ref(), |words| {
        [
            json!({"executableCode": {"language": "PYTHON", "code": words}, "thoughtSignature": "c2ln"}),
            json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": words}}),
        ]
    });
    parts.extend(round.calls.iter().enumerate().map(|(index, call)| {
        let mut part = json!({"functionCall": {"id": call.id, "name": call.name, "args": call.input}});
        if index == 0 {
            part["thoughtSignature"] = json!("c2ln");
        }
        part
    }));
    vec![json!({"role": "model", "parts": parts})]
}

fn gemini_beside(session: &Session, draw: &mut Random) -> Value {
    let mut request = json!({"generationConfig": {"temperature": 1}});
    session
        .system
        .iter()
        .for_each(|system| request["systemInstruction"] = json!({"parts": [{"text": system}]}));
    if !session.tools.is_empty() {
        let key = if draw.once_in(2) {
            "parameters"
        } else {
            "parametersJsonSchema"
        };
        let tools = session.tools.iter().map(|tool| {
            let mut tool_json = json!({"name": tool.name});
            tool_json[key] = tool.schema.clone();
            tool.description
                .inspect(|words| tool_json["description"] = json!(words));
            tool_json
        });
        request["tools"] = json!([{"functionDeclarations": tools.collect::<Vec<_>>()}]);
    }
    request
}

fn converse_before(results: &[Returned], asked: &[Piece], draw: &mut Random) -> Vec<Value> {
    let part = |words: &str| json!({"text": words});
    let picture = |bytes: &str| json!({"image": {"format": "png", "source": {"bytes": bytes}}});
    let results = results.iter().map(|result| {
        let mut content = each(&result.pieces, part, picture);
        if let [Piece::Text(words)] = &result.pieces[..]
            && let Ok(object) = serde_json::from_str::<Value>(words)
        {
            content = vec![json!({"json": object})];
        }
        let mut block = json!({"toolUseId": result.id, "content": content});
        if result.failed || draw.once_in(2) {
            block["status"] = json!(if result.failed { "error" } else { "success" });
        }
        json!({"toolResult": block})
    });
    let results: Vec<Value> = results.collect();
    let turns = in_user_turns(results, each(asked, part, picture), draw).into_iter();
    turns
        .map(|content| json!({"role": "user", "content": content}))
        .collect()
}

fn converse_answer(round: &Round, has_thought: bool, _: &mut Random) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    if has_thought && let Some(thought) = &round.thought {
        blocks.push(json!({"reasoningContent": {"reasoningText": {"text": thought, "signature": "c2ln"}}}));
    }
    blocks.extend(round.texts.iter().map(|text| json!({"text": text})));
    blocks.extend(
        round
            .calls
            .iter()
            .map(|call| json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.input}})),
    );
    vec![json!({"role": "assistant", "content": blocks})]
}

fn converse_beside(session: &Session, draw: &mut Random) -> Value {
    let mut request = json!({"inferenceConfig": {"maxTokens": 9}});
    if let Some(system) = &session.system {
        let mut blocks = vec![json!({"text": system})];
        if draw.once_in(2) {
            blocks.push(json!({"cachePoint": {"type": "default"}}));
        }
        request["system"] = json!(blocks);
    }
    if !session.tools.is_empty() {
        let tools = session.tools.iter().map(|tool| {
            let mut spec = json!({"name": tool.name, "inputSchema": {"json": tool.schema}});
            tool.description
                .inspect(|words| spec["description"] = json!(words));
            json!({"toolSpec": spec})
        });
        request["toolConfig"] = json!({"tools": tools.collect::<Vec<_>>()});
    }
    request
}
