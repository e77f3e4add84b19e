//! The events of each vendor's streams, and where their pieces belong in an answer that is no stream.

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind, Value};

use super::tree::Tree;
use crate::base::{items, present, text, words};

/// Fields of an event of the Responses API with a piece of an item.
struct ItemPiece {
    /// The type of the event, without `response.` before it and `.delta` or `.done` after it.
    event: &'static str,
    /// The type of the item.
    item: &'static str,
    /// The list in the item, the field of the event with the index in it, and the type of its elements.
    list: Option<(&'static str, &'static str, &'static str)>,
    /// The field with the text.
    field: &'static str,
}

const fn of_item(event: &'static str, item: &'static str, field: &'static str) -> ItemPiece {
    ItemPiece {
        event,
        item,
        list: None,
        field,
    }
}

const fn of_part(
    event: &'static str,
    item: &'static str,
    list: (&'static str, &'static str, &'static str),
    field: &'static str,
) -> ItemPiece {
    ItemPiece {
        event,
        item,
        list: Some(list),
        field,
    }
}

const ITEM_PIECES: [ItemPiece; 8] = [
    of_part(
        "output_text",
        "message",
        ("content", "content_index", "output_text"),
        "text",
    ),
    of_part(
        "refusal",
        "message",
        ("content", "content_index", "refusal"),
        "refusal",
    ),
    of_part(
        "reasoning_text",
        "reasoning",
        ("content", "content_index", "reasoning_text"),
        "text",
    ),
    of_part(
        "reasoning_summary_text",
        "reasoning",
        ("summary", "summary_index", "summary_text"),
        "text",
    ),
    of_item("function_call_arguments", "function_call", "arguments"),
    of_item("mcp_call_arguments", "mcp_call", "arguments"),
    of_item("custom_tool_call_input", "custom_tool_call", "input"),
    of_item("code_interpreter_call_code", "code_interpreter_call", "code"),
];

/// The maximum number of keys and indices in the path of an argument that arrives in pieces.
const DEEPEST: usize = 64;

/// Fields of the events of Bedrock's Converse API.
const CONVERSE: [&str; 6] =
    words!(messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop metadata);

/// Fields of an event with the tokens of the answer, and nothing of the answer itself.
const USAGES: [&str; 3] = words!(usage usageMetadata usage_metadata);

/// Fields of events without content: their place in the stream and in the answer, and fill bytes.
const NO_CONTENT: [&str; 11] = words!(
    type index role contentBlockIndex item_id output_index content_index summary_index sequence_number obfuscation p
);

/// The types of the Responses API's events with a whole item or part.
const WHOLE_ITEMS: [&str; 6] = [
    "output_item.added",
    "output_item",
    "content_part.added",
    "content_part",
    "reasoning_summary_part.added",
    "reasoning_summary_part",
];

/// An answer while the events of its stream are read.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// The answer as the vendor would send it at once.
    answer: Tree,
    /// The items of an answer of the Responses API.
    items: Tree,
    /// Events without a place in the answer.
    others: Tree,
}

impl Assembly {
    /// Adds the pieces of an event.
    pub(super) fn add(&mut self, event: Value<'_>) {
        let kind = text(event.get("type")).unwrap_or_default();
        let has_list = |key: &str| event.get(key).is_some_and(|list| list.kind() == Kind::Array);
        if has_list("choices") {
            self.beside(event, &["choices"]);
            items(event, "choices").for_each(|choice| self.choice(choice));
        } else if has_list("candidates") {
            self.beside(event, &["candidates"]);
            items(event, "candidates").for_each(|candidate| self.candidate(candidate));
        } else if let Some(name) = kind.strip_prefix("response.") {
            self.item(name, event);
        } else if ["message_", "content_block_"]
            .iter()
            .any(|start| kind.starts_with(start))
        {
            self.anthropic(&kind, event);
        } else if CONVERSE.iter().any(|key| event.get(key).is_some()) {
            self.converse(event);
        } else if is_ollamas(event) {
            self.beside(event, &["message", "response"]);
            let message = self.answer.field("message");
            message.field("role").or_words("assistant");
            present(event, "message").inspect(|piece| message.grow("message", *piece));
            present(event, "response").inspect(|piece| message.field("content").grow("content", *piece));
        } else if USAGES.iter().any(|key| event.get(key).is_some()) {
            self.beside(event, &[]);
        } else if kind != "ping" {
            *self.others.next() = Tree::of(event);
        }
    }

    /// The answer as JSON; `None` if no event had a piece of one.
    pub(super) fn finish(mut self, limits: &Limits) -> Option<String> {
        let is_open = self.answer.get("output").is_none_or(Tree::is_empty);
        if !self.items.is_empty() && is_open {
            *self.answer.field("output") = self.items;
        }
        if self.answer.is_null() {
            return None;
        }
        for blocks in [&["content"][..], &["output", "message", "content"]] {
            let list = blocks.iter().try_fold(&mut self.answer, |at, key| at.known(key));
            list.into_iter()
                .flat_map(Tree::inside)
                .for_each(|block| close_input(block, limits));
        }
        if !self.others.is_empty() {
            *self.answer.field("events") = self.others;
        }
        let mut answer = String::new();
        self.answer.write(&mut answer);
        Some(answer)
    }

    /// Takes over the fields of an event, except the answers in it.
    fn beside(&mut self, event: Value<'_>, answers: &[&str]) {
        for (key, field) in event.fields().filter(|(key, _)| !answers.contains(&&**key)) {
            self.answer.field(&key).replace(field);
        }
    }

    /// Keeps the fields that have no place, except those that are known to have no meaning.
    fn rest(&mut self, holder: Value<'_>, known: &[&str]) {
        let is_other = |key: &str| !known.contains(&key) && !NO_CONTENT.contains(&key);
        let mut rest = holder.fields().filter(|(key, _)| is_other(key)).peekable();
        if rest.peek().is_some() {
            let other = self.others.next();
            rest.for_each(|(key, field)| *other.field(&key) = Tree::of(field));
        }
    }

    fn choice(&mut self, choice: Value<'_>) {
        let own = self.answer.field("choices").element(&index_in(choice, "index"));
        let message = own.field("message");
        message.field("role").or_words("assistant");
        present(choice, "delta").inspect(|piece| message.grow("message", *piece));
        present(choice, "text").inspect(|piece| message.field("content").grow("content", *piece));
        for (key, field) in choice.fields() {
            match &*key {
                "delta" | "text" => {}
                "logprobs" => own.field("logprobs").grow("logprobs", field),
                _ => own.field(&key).replace(field),
            }
        }
    }

    fn candidate(&mut self, candidate: Value<'_>) {
        let own = self
            .answer
            .field("candidates")
            .element(&index_in(candidate, "index"));
        for (key, field) in candidate.fields() {
            if key != "content" {
                own.field(&key).replace(field);
                continue;
            }
            let content = own.field("content");
            content.field("role").or_words("model");
            items(field, "parts").for_each(|part| gemini_part(content.field("parts"), part));
            let others = field.fields().filter(|(key, _)| key != "parts");
            others.for_each(|(key, other)| content.field(&key).replace(other));
        }
    }

    fn anthropic(&mut self, kind: &str, event: Value<'_>) {
        self.answer.field("role").or_words("assistant");
        match kind {
            "message_start" => {
                present(event, "message").inspect(|message| self.answer.replace(*message));
            }
            "message_delta" => {
                present(event, "delta").inspect(|delta| self.answer.replace(*delta));
                return self.beside(event, &["type", "delta"]);
            }
            "content_block_start" => {
                let block = self.answer.field("content").element(&index_in(event, "index"));
                present(event, "content_block").inspect(|start| block.replace(*start));
            }
            "content_block_delta" => {
                let block = self.answer.field("content").element(&index_in(event, "index"));
                let delta = present(event, "delta").into_iter().flat_map(Value::fields);
                for (key, piece) in delta.filter(|(key, _)| key != "type") {
                    match &*key {
                        "partial_json" => input(block, piece),
                        "citation" => *block.field("citations").next() = Tree::of(piece),
                        _ => block.field(&key).grow(&key, piece),
                    }
                }
                if let Some(kind) = ["thinking", "text"].iter().find(|key| block.get(key).is_some()) {
                    block.field("type").or_words(kind);
                }
            }
            _ => {}
        }
        self.rest(event, &["message", "content_block", "delta"]);
    }

    fn converse(&mut self, event: Value<'_>) {
        for key in ["messageStop", "metadata"] {
            present(event, key).inspect(|fields| self.answer.replace(*fields));
        }
        self.rest(event, &CONVERSE);
        for key in [
            "messageStart",
            "contentBlockStart",
            "contentBlockDelta",
            "contentBlockStop",
        ] {
            present(event, key).inspect(|holder| self.rest(*holder, &["start", "delta"]));
        }
        let message = self.answer.field("output").field("message");
        message.field("role").or_words("assistant");
        for (key, inner) in [("contentBlockStart", "start"), ("contentBlockDelta", "delta")] {
            let Some(piece) = present(event, key) else {
                continue;
            };
            let block = message
                .field("content")
                .element(&index_in(piece, "contentBlockIndex"));
            let fields = present(piece, inner).into_iter().flat_map(Value::fields);
            fields.for_each(|(key, field)| converse_piece(block, &key, field));
        }
    }

    /// Adds a piece of an item of the Responses API; `name` is the type of the event.
    fn item(&mut self, name: &str, event: Value<'_>) {
        if let Some(response) = present(event, "response") {
            self.answer.replace(response);
            return self.rest(event, &["response"]);
        }
        let done = name.strip_suffix(".done");
        let stem = done.or(name.strip_suffix(".delta")).unwrap_or(name);
        let form = ITEM_PIECES.iter().find(|form| form.event == stem);
        if form.is_none() && !WHOLE_ITEMS.contains(&stem) {
            return self.rest(event, &[]);
        }
        let field = form.map_or("item", |form| form.field);
        self.rest(event, &["item", "part", "delta", "logprobs", field]);
        let own = self.items.element(&index_in(event, "output_index"));
        let Some(form) = form else {
            present(event, "item").inspect(|item| *own = Tree::of(*item));
            if let Some(part) = present(event, "part") {
                let is_summary = present(event, "summary_index").is_some();
                let (list, index) = if is_summary {
                    ("summary", "summary_index")
                } else {
                    ("content", "content_index")
                };
                *own.field(list).element(&index_in(event, index)) = Tree::of(part);
            }
            return;
        };
        own.field("type").or_words(form.item);
        if form.item == "message" {
            own.field("role").or_words("assistant");
        }
        let holder = match form.list {
            Some((list, index, kind)) => {
                let part = own.field(list).element(&index_in(event, index));
                part.field("type").or_words(kind);
                part
            }
            None => own,
        };
        let known = holder.field(form.field);
        match present(event, form.field) {
            Some(whole) if done.is_some() => *known = Tree::of(whole),
            _ => _ = present(event, "delta").inspect(|piece| known.grow(form.field, *piece)),
        }
    }
}

/// The index in an event, as it is written; 0 if there is none.
fn index_in(event: Value<'_>, key: &str) -> String {
    event.get(key).map_or("0", Value::written).to_owned()
}

/// Whether an event is one of Ollama's: a piece of a message or of a text, and whether it is the last.
pub(super) fn is_ollamas(event: Value<'_>) -> bool {
    let has = |key: &str, kind| event.get(key).is_some_and(|value| value.kind() == kind);
    let is_piece = has("message", Kind::Object) || has("response", Kind::String);
    is_piece
        && event
            .get("done")
            .is_some_and(|done| matches!(done.kind(), Kind::Bool(_)))
}

/// Adds a piece of the JSON text of a call's input.
fn input(call: &mut Tree, piece: Value<'_>) {
    let known = call.field("input");
    let is_text = known.as_text().is_some() || piece.kind() != Kind::String && !known.is_empty();
    let begun = (!is_text).then(|| std::mem::replace(known, Tree::words(String::new())));
    known.grow("input", piece);
    // A value that pieces of text follow is no part of them, and is kept.
    let holds_some = |begun: &Tree| match begun.as_raw() {
        Some(raw) => raw.contains(['"', ',', ':']),
        None => !begun.is_empty(),
    };
    if let Some(begun) = begun.filter(holds_some) {
        *call.field("input_at_start") = begun;
    }
}

/// Ends the input of a call: its pieces are JSON, and none are an empty object.
fn close_input(block: &mut Tree, limits: &Limits) {
    let block = match block.get("toolUse") {
        Some(_) => block.field("toolUse"),
        None => block,
    };
    let Some(text) = block.get("input").and_then(Tree::as_text) else {
        return;
    };
    let text = if text.is_empty() { "{}" } else { text };
    if json::scan(text.as_bytes(), limits.depth).is_ok() {
        *block.field("input") = Tree::raw(text.to_owned());
    }
}

/// Adds a piece of a block of Bedrock's Converse API.
fn converse_piece(block: &mut Tree, key: &str, piece: Value<'_>) {
    match (key, piece.kind()) {
        ("toolUse", _) => {
            let call = block.field("toolUse");
            for (key, field) in piece.fields() {
                match &*key {
                    "input" => input(call, field),
                    _ => call.field(&key).replace(field),
                }
            }
        }
        ("reasoningContent", _) => {
            let thought = block.field("reasoningContent");
            for (key, field) in piece.fields() {
                let holder = match &*key {
                    "text" | "signature" => thought.field("reasoningText"),
                    _ => &mut *thought,
                };
                holder.field(&key).grow(&key, field);
            }
        }
        ("citation", _) => *block.field("citations").next() = Tree::of(piece),
        // The pieces of a result are its content.
        ("toolResult", Kind::Array) => block.field("toolResult").field("content").grow("content", piece),
        _ => block.field(key).grow(key, piece),
    }
}

/// Adds a part of Gemini's answer: to the part before, if it continues that.
fn gemini_part(parts: &mut Tree, part: Value<'_>) {
    let is_thought = |thought: Option<&str>| thought == Some("true");
    let thought = is_thought(part.get("thought").map(Value::written));
    let is_more = |last: &mut Tree| {
        last.known("text").is_some()
            && last.text_in("thoughtSignature").is_none()
            && is_thought(last.get("thought").and_then(Tree::as_raw)) == thought
    };
    if let Some(text) = present(part, "text")
        && let Some(last) = parts.last()
        && is_more(last)
    {
        last.field("text").grow("text", text);
        let others = part.fields().filter(|(key, _)| key != "text");
        others.for_each(|(key, other)| last.field(&key).replace(other));
        return;
    }
    let calls = ["functionCall", "function_call"];
    let Some((key, call)) = calls.iter().find_map(|key| Some((*key, present(part, key)?))) else {
        return *parts.next() = Tree::of(part);
    };
    let pieces = || {
        ["partialArgs", "partial_args"]
            .iter()
            .flat_map(|key| items(call, key))
    };
    let path_of = |piece: Value<'_>| {
        ["jsonPath", "json_path"]
            .iter()
            .find_map(|key| text(piece.get(key)))
    };
    let is_deep = |piece| path_of(piece).is_some_and(|path| steps(&path).count() > DEEPEST);
    let is_more =
        present(call, "name").is_none() && parts.last().is_some_and(|last| last.known(key).is_some());
    if !is_more {
        *parts.next() = Tree::of(part);
    }
    let Some(known) = parts
        .last()
        .filter(|_| !pieces().any(is_deep))
        .map(|last| last.field(key))
    else {
        return;
    };
    for key in ["partialArgs", "partial_args", "willContinue", "will_continue"] {
        known.take(key);
    }
    for piece in pieces() {
        let path = path_of(piece);
        let argument = path.iter().flat_map(|path| steps(path));
        let argument = argument.fold(known.field("args"), |at, step| match step.parse::<u32>() {
            Ok(_) => at.element(step),
            Err(_) => at.field(step),
        });
        for (key, value) in piece.fields() {
            match &*key {
                "stringValue" | "string_value" => argument.grow("", value),
                "numberValue" | "number_value" | "boolValue" | "bool_value" => argument.replace(value),
                _ => {}
            }
        }
    }
}

/// The keys and indices in a path, such as `$.ports[0].name`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    let steps = path.trim_start_matches('$').split(['.', '[']);
    let steps = steps.map(|step| step.trim_end_matches(']').trim_matches(['\'', '"']));
    steps.filter(|step| !step.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(events: &str) -> String {
        let limits = Limits::default();
        let document = json::scan(events.as_bytes(), limits.depth).unwrap();
        let mut assembly = Assembly::default();
        document.root().items().for_each(|event| assembly.add(event));
        assembly.finish(&limits).unwrap_or_default()
    }

    #[test]
    fn calls_with_one_index_are_told_apart_by_their_ids() {
        let call = |id: &str, name: &str| {
            format!(
                r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"{id}","function":{{"name":"{name}","arguments":"{{}}"}}}}]}}}}]}}"#
            )
        };
        let two = assembled(&format!("[{},{}]", call("a", "f"), call("b", "g")));
        assert_eq!(two.matches("\"arguments\":\"{}\"").count(), 2, "{two}");
        // A name that is repeated with the id is no other call, and neither is a new id without a name.
        let one = assembled(&format!("[{},{}]", call("a", "f"), call("a", "f")));
        assert_eq!(one.matches("\"arguments\":\"{}{}\"").count(), 1, "{one}");
        let one = assembled(&format!("[{},{}]", call("a", "f"), call("b", "")));
        assert_eq!(one.matches("\"arguments\":\"{}{}\"").count(), 1, "{one}");
    }

    #[test]
    fn pieces_of_thoughts_and_texts_without_an_index_join_their_kind() {
        let of = |delta: &str| format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#);
        let thought = |thinking: &str, signature: &str| {
            of(&format!(
                r#"{{"thinking_blocks":[{{"type":"thinking","thinking":"{thinking}","signature":"{signature}"}}]}}"#
            ))
        };
        let events = [
            thought("I d", ""),
            thought("ivide", ""),
            thought("", "s"),
            thought("And", ""),
        ]
        .join(",");
        let answer = assembled(&format!("[{events}]"));
        assert!(
            answer.contains(r#""thinking":"I divide","signature":"s"}"#),
            "{answer}"
        );
        assert!(answer.contains(r#""thinking":"And""#), "{answer}");
        // A text becomes a block where blocks follow it.
        let events = [
            of(r#"{"content":"a"}"#),
            of(r#"{"content":[{"type":"image_url"}]}"#),
            of(r#"{"content":"b"}"#),
        ];
        let answer = assembled(&format!("[{}]", events.join(",")));
        let blocks =
            r#""content":[{"type":"text","text":"a"},{"type":"image_url"},{"type":"text","text":"b"}]"#;
        assert!(answer.contains(blocks), "{answer}");
    }

    #[test]
    fn parts_of_a_summary_are_beside_one_another_in_an_unfinished_item() {
        let part = |index: u32, text: &str| {
            format!(
                r#"{{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":{index},"part":{{"type":"summary_text","text":""}}}},
                {{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":{index},"delta":"{text}"}},
                {{"type":"response.reasoning_summary_part.done","output_index":0,"summary_index":{index},"part":{{"type":"summary_text","text":"{text}"}}}}"#
            )
        };
        let added = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"r","summary":[]}}"#;
        let answer = assembled(&format!("[{added},{},{}]", part(0, "One."), part(1, "Two.")));
        let summary =
            r#""summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}]"#;
        assert!(answer.contains(summary) && !answer.contains("events"), "{answer}");
    }

    #[test]
    fn later_counts_replace_earlier_ones_and_zero_replaces_none() {
        let events = r#"[{"type":"message_start","message":{"usage":{"input_tokens":9,"cache":{"a":1.50},"output_tokens":1}}},
            {"type":"message_delta","delta":{},"usage":{"input_tokens":0,"output_tokens":7}}]"#;
        let answer = assembled(events);
        assert!(
            answer.contains(r#""usage":{"input_tokens":9,"cache":{"a":1.50},"output_tokens":7}"#),
            "{answer}"
        );
    }

    #[test]
    fn arguments_are_put_at_paths_up_to_the_deepest() {
        let events = |path: &str| {
            format!(
                r#"[{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"f","willContinue":true}}}}]}}}}]}},
                {{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"partialArgs":[{{"jsonPath":"{path}","stringValue":"x"}}]}}}}]}}}}]}}]"#
            )
        };
        let answer = assembled(&events("$.ports[0].name"));
        assert!(answer.contains(r#""args":{"ports":[{"name":"x"}]}"#), "{answer}");
        let deepest = format!("${}", ".a".repeat(DEEPEST));
        assert!(assembled(&events(&deepest)).contains("\"args\""));
        assert!(!assembled(&events(&format!("{deepest}.a"))).contains("\"args\""));
    }
}
