//! The content of a request without its wire format, and the differences that the losses of a rendering allow.
//!
//! Each wire format is read here separately from the readers that the law tests. Spellings that a vendor's page calls
//! equivalent are equal: a text as a string or as a list of one part, a failure that is false or absent. Anything that
//! is not interpreted is compared unchanged, except cache marks, signatures, ids and states of answers, and the model
//! with its settings.

use std::collections::BTreeMap;

use chatmill_dialect::{Loss, LossCode};
use serde_json::{Map, Value, json};

/// A part of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Text(String),
    Thought(String),
    /// A call: its id, its name, and its arguments as written.
    Call(String, String, Value),
    /// A result: the id of its call, its blocks, and whether it is a failure.
    Result(String, Vec<Block>, bool),
    /// A medium, or anything else in the wire format.
    Other(Value),
}

/// The content of a request: the turns with their roles, and the tool definitions by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RequestContent {
    pub turns: Vec<(String, Vec<Block>)>,
    pub tools: BTreeMap<String, Value>,
}

fn words(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// An object without the fields that are never compared.
fn bare(value: &Value, also: &[&str]) -> Value {
    let marks = ["cache_control", "thoughtSignature", "status"];
    let fields = value.as_object().into_iter().flatten();
    let fields = fields.filter(|(key, _)| !marks.contains(&key.as_str()) && !also.contains(&key.as_str()));
    Value::Object(fields.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// The blocks of a list, or of a string that abbreviates one.
fn blocks(content: &Value, one: &dyn Fn(&Value) -> Vec<Block>) -> Vec<Block> {
    match content {
        Value::String(text) => vec![Block::Text(text.clone())],
        Value::Array(list) => list.iter().flat_map(one).collect(),
        Value::Null => Vec::new(),
        other => vec![Block::Other(other.clone())],
    }
}

/// A text; its further fields are a separate block.
fn text(block: &Value, also: &[&str]) -> Vec<Block> {
    let rest = bare(block, &[&["type", "text"], also].concat());
    let mut read = vec![Block::Text(words(&block["text"]))];
    if rest != json!({}) {
        read.push(Block::Other(rest));
    }
    read
}

fn openai_part(part: &Value) -> Vec<Block> {
    match part["type"].as_str() {
        Some("text" | "input_text" | "output_text") => {
            let is_empty = items(&part["annotations"]).is_empty();
            text(
                part,
                if is_empty {
                    &["annotations", "logprobs"]
                } else {
                    &[]
                },
            )
        }
        _ => vec![Block::Other(bare(part, &[]))],
    }
}

fn anthropic_block(block: &Value) -> Vec<Block> {
    match block["type"].as_str() {
        Some("text") => text(block, &[]),
        Some("thinking") => vec![Block::Thought(words(&block["thinking"]))],
        Some("tool_use") => vec![Block::Call(
            words(&block["id"]),
            words(&block["name"]),
            block["input"].clone(),
        )],
        Some("tool_result") => {
            let content = blocks(&block["content"], &anthropic_block);
            let failed = block["is_error"].as_bool().unwrap_or_default();
            vec![Block::Result(words(&block["tool_use_id"]), content, failed)]
        }
        _ => vec![Block::Other(bare(block, &[]))],
    }
}

fn gemini_part(part: &Value) -> Vec<Block> {
    let (call, response) = (&part["functionCall"], &part["functionResponse"]);
    if part["thought"] == json!(true) {
        vec![Block::Thought(words(&part["text"]))]
    } else if part["text"].is_string() {
        text(part, &[])
    } else if call.is_object() {
        vec![Block::Call(
            words(&call["id"]),
            words(&call["name"]),
            call["args"].clone(),
        )]
    } else if response.is_object() {
        let object = &response["response"];
        let own = |key: &str| {
            object
                .as_object()
                .filter(|object| object.len() == 1)
                .and_then(|object| object.get(key)?.as_str())
        };
        let failed = own("error");
        let mut content = match own("output").or(failed) {
            Some(text) => vec![Block::Text(text.to_owned())],
            None => vec![Block::Other(object.clone())],
        };
        content.extend(blocks(&response["parts"], &gemini_part));
        vec![Block::Result(words(&response["id"]), content, failed.is_some())]
    } else {
        vec![Block::Other(bare(part, &[]))]
    }
}

fn converse_block(block: &Value) -> Vec<Block> {
    let (call, result, thought) = (
        &block["toolUse"],
        &block["toolResult"],
        &block["reasoningContent"]["reasoningText"],
    );
    if block["text"].is_string() {
        text(block, &[])
    } else if thought.is_object() {
        vec![Block::Thought(words(&thought["text"]))]
    } else if call.is_object() {
        vec![Block::Call(
            words(&call["toolUseId"]),
            words(&call["name"]),
            call["input"].clone(),
        )]
    } else if result.is_object() {
        let content = blocks(&result["content"], &converse_block);
        vec![Block::Result(
            words(&result["toolUseId"]),
            content,
            result["status"] == json!("error"),
        )]
    } else if block["cachePoint"].is_object() {
        Vec::new()
    } else {
        vec![Block::Other(bare(block, &[]))]
    }
}

fn chat_turn(message: &Value) -> (String, Vec<Block>) {
    let mut content = blocks(&message["content"], &openai_part);
    if message["role"] == json!("tool") {
        content = vec![Block::Result(words(&message["tool_call_id"]), content, false)];
    }
    if let Some(thought) = message["reasoning_content"].as_str() {
        content.insert(0, Block::Thought(thought.to_owned()));
    }
    content.extend(items(&message["tool_calls"]).iter().map(|call| {
        let function = &call["function"];
        Block::Call(
            words(&call["id"]),
            words(&function["name"]),
            function["arguments"].clone(),
        )
    }));
    let rest = bare(
        message,
        &[
            "role",
            "content",
            "tool_calls",
            "tool_call_id",
            "reasoning_content",
        ],
    );
    if rest != json!({}) {
        content.push(Block::Other(rest));
    }
    (words(&message["role"]), content)
}

fn responses_item(item: &Value) -> (String, Vec<Block>) {
    let call_id = words(&item["call_id"]);
    let (role, read) = match item["type"].as_str() {
        None | Some("message") => return (words(&item["role"]), blocks(&item["content"], &openai_part)),
        Some("reasoning") => {
            let summary = items(&item["summary"]).iter();
            (
                "assistant",
                summary.map(|part| Block::Thought(words(&part["text"]))).collect(),
            )
        }
        Some("function_call") => (
            "assistant",
            vec![Block::Call(
                call_id,
                words(&item["name"]),
                item["arguments"].clone(),
            )],
        ),
        Some("function_call_output") => (
            "tool",
            vec![Block::Result(
                call_id,
                blocks(&item["output"], &openai_part),
                false,
            )],
        ),
        Some(kind) => {
            let role = if kind.ends_with("_output") {
                "tool"
            } else {
                "assistant"
            };
            (role, vec![Block::Other(bare(item, &["id"]))])
        }
    };
    (role.to_owned(), read)
}

impl RequestContent {
    /// The content of a request in the wire format of a dialect.
    pub(super) fn of(dialect: &str, request: &Value) -> Self {
        let in_blocks = |list: &str, content: &str, block: &dyn Fn(&Value) -> Vec<Block>| {
            let messages = items(&request[list]).iter();
            messages
                .map(|message| (words(&message["role"]), blocks(&message[content], block)))
                .collect()
        };
        let (system, mut turns): (Vec<Block>, Vec<(String, Vec<Block>)>) = match dialect {
            "openai-chat" => (
                Vec::new(),
                items(&request["messages"]).iter().map(chat_turn).collect(),
            ),
            "openai-responses" => {
                let turns = items(&request["input"]).iter().map(responses_item).collect();
                (blocks(&request["instructions"], &openai_part), turns)
            }
            "anthropic-messages" => (
                blocks(&request["system"], &anthropic_block),
                in_blocks("messages", "content", &anthropic_block),
            ),
            "gemini-contents" => {
                let system = &request["systemInstruction"];
                (
                    blocks(&system["parts"], &gemini_part),
                    in_blocks("contents", "parts", &gemini_part),
                )
            }
            _ => (
                blocks(&request["system"], &converse_block),
                in_blocks("messages", "content", &converse_block),
            ),
        };
        // OpenAI's models treat `system` and `developer` alike.
        for (role, _) in turns.iter_mut().filter(|(role, _)| role == "developer") {
            "system".clone_into(role);
        }
        if !system.is_empty() {
            turns.insert(0, ("system".to_owned(), system));
        }
        for (_, blocks) in &mut turns {
            blocks.retain(|block| *block != Block::Text(String::new()));
        }
        if dialect == "openai-responses" {
            // The items of an answer are one turn.
            join_turns(&mut turns, |role| role == "assistant");
        }
        if dialect != "openai-chat" {
            // Adjacent parts of an answer are one text.
            for (role, blocks) in turns.iter_mut().filter(|(role, _)| is_models(role)) {
                join_texts(blocks, role);
            }
        }
        Self {
            turns,
            tools: tools(request),
        }
    }

    /// The number of its answers.
    pub(super) fn answers(&self) -> usize {
        self.turns.iter().filter(|(role, _)| is_models(role)).count()
    }

    /// Removes from both what the losses of the second, a rendering, allow; returns the names of the remaining differences.
    pub(super) fn differences(mut self, mut rendered: Self, losses: &[Loss]) -> Vec<String> {
        let mut found = Vec::new();
        let amount = |code: LossCode| {
            losses
                .iter()
                .filter(|loss| loss.code == code)
                .map(|loss| loss.amount)
                .sum::<u64>()
        };
        let thoughts = self.thoughts() - rendered.thoughts();
        let dropped = amount(LossCode::ReasoningDropped);
        if thoughts > dropped {
            found.push(format!("{thoughts} thoughts are missing, not {dropped}"));
        }
        // After a text is joined with another, it is no longer an object.
        let (wrapped, others): (Vec<&Loss>, Vec<&Loss>) = losses
            .iter()
            .partition(|loss| loss.code == LossCode::ResultWrapped);
        for loss in others.into_iter().chain(wrapped) {
            self.allow(loss.code);
            rendered.allow(loss.code);
        }
        // The order in which adjacent texts are joined must not matter.
        for content in [&mut self, &mut rendered] {
            content.turns.retain(|(_, blocks)| !blocks.is_empty());
        }
        if losses
            .iter()
            .any(|loss| loss.code == LossCode::ToolDefinitionSynthesised)
        {
            rendered.tools.retain(|name, _| self.tools.contains_key(name));
        }
        if self.tools != rendered.tools {
            found.push(format!("tools\n{:?}\n{:?}", self.tools, rendered.tools));
        }
        if self.turns.len() != rendered.turns.len() {
            found.push(format!(
                "{} turns, not {}",
                rendered.turns.len(),
                self.turns.len()
            ));
        }
        let pairs = self.turns.iter().zip(&rendered.turns).enumerate();
        found.extend(
            pairs
                .filter(|(_, (own, other))| own != other)
                .map(|(at, (own, other))| format!("turn {at}\n{own:?}\n{other:?}")),
        );
        found
    }

    fn thoughts(&self) -> u64 {
        let blocks = self.turns.iter().flat_map(|(_, blocks)| blocks);
        blocks.filter(|block| matches!(block, Block::Thought(_))).count() as u64
    }

    fn allow(&mut self, code: LossCode) {
        match code {
            LossCode::ReasoningDropped => {
                self.each(|blocks, _| blocks.retain(|block| !matches!(block, Block::Thought(_))));
            }
            LossCode::ExtraDropped => self.each(|blocks, role| {
                blocks.retain(|block| !is_fields(block));
                if is_models(role) {
                    join_texts(blocks, role);
                }
            }),
            LossCode::TurnSplit => self.split_turns(),
            LossCode::ResultWrapped => self.each(|blocks, _| {
                for block in blocks {
                    if let Block::Text(text) = block
                        && let Ok(object @ Value::Object(_)) = serde_json::from_str(text)
                    {
                        *block = Block::Other(json!({"json": object}));
                    }
                }
            }),
            LossCode::PartFlattened => self.each(join_texts),
            // The words that replace a medium are a line of the surrounding text.
            LossCode::MediaPlaceholder => self.each(|blocks, role| {
                for block in blocks
                    .iter_mut()
                    .filter(|block| role == "tool" && matches!(block, Block::Other(_)))
                {
                    *block = Block::Text("[Image]".to_owned());
                }
                join_texts(blocks, role);
            }),
            LossCode::ToolIdRewritten => self.number_calls(),
            LossCode::TurnMerged => join_turns(&mut self.turns, |_| true),
            _ => {}
        }
    }

    /// Moves the blocks after results into a separate turn.
    fn split_turns(&mut self) {
        let mut split = Vec::new();
        for (role, mut blocks) in std::mem::take(&mut self.turns) {
            let is_result = |block: &Block| matches!(block, Block::Result(..));
            let results = blocks.iter().take_while(|block| is_result(block)).count();
            let rest = blocks.split_off(results);
            split.extend([blocks, rest].map(|blocks| (role.clone(), blocks)));
        }
        self.turns = split;
    }

    /// Replaces ids by numbers: those of calls, and in results those of their calls.
    fn number_calls(&mut self) {
        let (mut known, mut results) = (Vec::new(), 0);
        for block in self.turns.iter_mut().flat_map(|(_, blocks)| blocks) {
            match block {
                Block::Call(id, ..) => {
                    let number = known.len().to_string();
                    known.push(std::mem::replace(id, number));
                }
                Block::Result(id, ..) => {
                    let number = known.iter().position(|known| known == id);
                    *id = number.filter(|_| !id.is_empty()).unwrap_or(results).to_string();
                    results += 1;
                }
                _ => {}
            }
        }
    }

    fn each(&mut self, act: impl Fn(&mut Vec<Block>, &str)) {
        for (role, blocks) in &mut self.turns {
            act(blocks, role);
            for block in blocks {
                if let Block::Result(_, inside, _) = block {
                    act(inside, "tool");
                }
            }
        }
    }
}

fn is_models(role: &str) -> bool {
    matches!(role, "assistant" | "model")
}

/// Whether a block has only further fields of a text or message.
fn is_fields(block: &Block) -> bool {
    matches!(block, Block::Other(value) if value.get("type").is_none() && (value.get("citations").is_some() || value.get("annotations").is_some()))
}

fn join_turns(turns: &mut Vec<(String, Vec<Block>)>, joins: impl Fn(&str) -> bool) {
    turns.dedup_by(|next, last| {
        let is_one = next.0 == last.0 && joins(&last.0);
        if is_one {
            last.1.append(&mut next.1);
        }
        is_one
    });
}

/// Joins adjacent texts: those of an answer directly, others with a line break.
fn join_texts(blocks: &mut Vec<Block>, role: &str) {
    blocks.dedup_by(|next, last| {
        let (Block::Text(next), Block::Text(last)) = (next, last) else {
            return false;
        };
        if !is_models(role) {
            last.push('\n');
        }
        last.push_str(next);
        true
    });
}

/// The tool definitions by name. Types in Gemini's schemas may be in upper or lower case.
fn tools(request: &Value) -> BTreeMap<String, Value> {
    let config = items(&request["toolConfig"]["tools"])
        .iter()
        .map(|tool| &tool["toolSpec"]);
    let lists = items(&request["tools"])
        .iter()
        .flat_map(|tool| match tool.get("functionDeclarations") {
            Some(list) => items(list).iter().collect(),
            None => vec![tool.get("function").unwrap_or(tool)],
        });
    let all = config.chain(lists).map(|tool| {
        let mut fields = Map::new();
        for (key, value) in bare(tool, &["type"]).as_object().into_iter().flatten() {
            match key.as_str() {
                "inputSchema" => fields.insert("schema".to_owned(), value["json"].clone()),
                "parameters" | "input_schema" | "parametersJsonSchema" => {
                    fields.insert("schema".to_owned(), small_types(value))
                }
                _ => fields.insert(key.clone(), value.clone()),
            };
        }
        (words(&tool["name"]), Value::Object(fields))
    });
    all.collect()
}

fn small_types(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let small = |(key, value): (&String, &Value)| match value.as_str().filter(|_| key == "type") {
                Some(word) => (key.clone(), json!(word.to_lowercase())),
                None => (key.clone(), small_types(value)),
            };
            fields.iter().map(small).collect()
        }
        Value::Array(list) => list.iter().map(small_types).collect(),
        other => other.clone(),
    }
}
