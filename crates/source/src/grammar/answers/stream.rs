//! Answers that were logged as streams: a list of events, each with a piece.

use std::collections::HashMap;

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{ArgumentForm, Arguments, Part, Role, ToolCall};

use crate::base::{Turn, embedded, filled, items, present, repeats, text};

/// The kind of block that a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Block {
    Text,
    Reasoning,
    Call,
}

/// A piece of an answer.
struct Piece {
    /// The choice among several answers that the piece belongs to.
    choice: String,
    /// The block of the answer that the piece belongs to.
    place: String,
    block: Block,
    text_so_far: String,
    id: Option<String>,
    name: Option<String>,
}

/// The events of a text that is a raw event stream, as a list; `None` for any other text.
pub(crate) fn events(text: &str) -> Option<String> {
    let fields = ["data:", "event:", "id:", "retry:", ":"];
    let (mut list, mut data) = (Vec::new(), String::new());
    for line in text.lines().chain([""]) {
        let more = line.strip_prefix("data:").map(str::trim);
        // Some logs leave out the empty lines between the events.
        let ends = line.is_empty() || more.is_some_and(|more| more.starts_with('{') || more == "[DONE]");
        if ends && !data.is_empty() {
            list.push(std::mem::take(&mut data));
        }
        match more {
            Some("[DONE]") => {}
            Some(more) => data.push_str(more),
            None if line.is_empty() || fields.iter().any(|field| line.starts_with(field)) => {}
            None => return None,
        }
    }
    let are_objects = list.iter().all(|event| event.starts_with('{'));
    (are_objects && !list.is_empty()).then(|| format!("[{}]", list.join(",")))
}

/// Whether a list is a stream, by its first events.
pub(crate) fn is_one(list: Value<'_>) -> bool {
    list.kind() == Kind::Array && list.items().take(3).any(is_event)
}

fn is_event(event: Value<'_>) -> bool {
    let is_delta = |choice: Value<'_>| choice.get("delta").is_some();
    let kind = event.get("type").and_then(Value::string);
    let starts = ["message_start", "content_block_", "response."];
    event
        .get("choices")
        .is_some_and(|list| list.items().any(is_delta))
        || event.get("candidates").is_some()
        || ["messageStart", "contentBlockStart", "contentBlockDelta"]
            .iter()
            .any(|key| event.get(key).is_some())
        || kind.is_some_and(|kind| starts.iter().any(|start| kind.starts_with(start)))
}

/// The whole answer, if the stream ends with it.
pub(crate) fn whole(list: Value<'_>) -> Option<Value<'_>> {
    let ends = |event: &Value<'_>| {
        let kind = event.get("type").and_then(Value::string);
        matches!(
            kind.as_deref(),
            Some("response.completed" | "response.incomplete" | "response.failed")
        )
    };
    let whole = list
        .items()
        .find(ends)
        .and_then(|event| present(event, "response"))?;
    // The earlier events repeat it, in pieces and as wholes.
    let contents = |item| (item, items(item, "content").collect());
    let items: Vec<(Value<'_>, Vec<Value<'_>>)> = items(whole, "output").map(contents).collect();
    for event in list.items().filter(|event| !ends(event)) {
        let index = |key: &str| event.get(key).and_then(Value::number_text)?.parse::<usize>().ok();
        let item = index("output_index").and_then(|index| items.get(index));
        let part = item.and_then(|(_, contents)| contents.get(index("content_index")?).copied());
        let item = item.map(|(item, _)| *item);
        for (key, original) in [("response", Some(whole)), ("item", item), ("part", part)] {
            present(event, key)
                .zip(original)
                .inspect(|(copy, original)| repeats(*copy, *original));
        }
        for key in ["delta", "text", "arguments"] {
            event.get(key).and_then(Value::as_str);
        }
    }
    Some(whole)
}

/// The answers that the pieces form, in the order of their beginnings.
pub(crate) fn answers(list: Value<'_>, limits: &Limits) -> Vec<Turn> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut places: HashMap<(String, String, Block), usize> = HashMap::new();
    for piece in list.items().flat_map(pieces_of) {
        let key = (piece.choice.clone(), piece.place.clone(), piece.block);
        let place = *places.entry(key).or_insert(pieces.len());
        match pieces.get_mut(place) {
            Some(known) => {
                known.text_so_far.push_str(&piece.text_so_far);
                known.id = known.id.take().or(piece.id);
                known.name = known.name.take().or(piece.name);
            }
            None => pieces.push(piece),
        }
    }
    let mut answers: Vec<Turn> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut last_text: Option<u64> = None;
    for piece in pieces {
        let number: Option<u64> = piece.place.parse().ok();
        // One text may be divided into neighbouring blocks.
        let is_neighbour =
            piece.block == Block::Text && last_text.is_some_and(|last| number == last.checked_add(1));
        last_text = number.filter(|_| piece.block == Block::Text);
        let part = match piece.block {
            Block::Text => Part::Text(piece.text_so_far),
            Block::Reasoning => Part::Reasoning(piece.text_so_far),
            Block::Call => Part::ToolCall(ToolCall::new(
                piece.id,
                piece.name,
                given(piece.text_so_far, limits),
            )),
        };
        let place = *places.entry(piece.choice).or_insert(answers.len());
        if let Some(turn) = answers.get_mut(place) {
            match (turn.parts.last_mut().filter(|_| is_neighbour), part) {
                (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
                (_, part) => turn.parts.push(part),
            }
            continue;
        }
        answers.push(Turn::of(Role::Assistant, part));
    }
    answers
}

/// The arguments of a call; a call without pieces of arguments has none.
fn given(text: String, limits: &Limits) -> (Arguments, ArgumentForm) {
    let text = if text.is_empty() { "{}".to_owned() } else { text };
    let scanned = json::scan(text.as_bytes(), limits.depth).map(|document| embedded(document.root()));
    let given = scanned.unwrap_or_else(|_| Arguments::Malformed(text.clone()));
    (given, ArgumentForm::Text)
}

/// The values that may contain the model and the usage: the events, and objects inside them.
pub(crate) fn usage_holders(list: Value<'_>) -> Vec<Value<'_>> {
    let inside = |event| {
        ["message", "metadata", "response"]
            .into_iter()
            .filter_map(move |key| present(event, key))
    };
    let events: Vec<Value<'_>> = list.items().collect();
    // The last count includes the earlier ones.
    let events = events.into_iter().rev();
    events
        .flat_map(|event| std::iter::once(event).chain(inside(event)))
        .collect()
}

/// The pieces of one event.
fn pieces_of(event: Value<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let raw = |value: Value<'_>| value.raw().to_owned();
    let number = |value: Value<'_>, key: &str| value.get(key).map(raw).unwrap_or_default();
    for choice in items(event, "choices") {
        let Some(delta) = present(choice, "delta") else {
            continue;
        };
        let index = number(choice, "index");
        for (key, block) in [
            ("reasoning_content", Block::Reasoning),
            ("reasoning", Block::Reasoning),
            ("content", Block::Text),
            ("refusal", Block::Text),
        ] {
            pieces.extend(words(&index, "", block, delta, key));
        }
        for call in items(delta, "tool_calls") {
            let function = present(call, "function").unwrap_or(call);
            pieces.push(Piece {
                choice: index.clone(),
                place: number(call, "index"),
                block: Block::Call,
                text_so_far: text(function.get("arguments")).unwrap_or_default(),
                id: text(call.get("id")),
                name: text(function.get("name")),
            });
        }
    }
    for candidate in items(event, "candidates") {
        let index = number(candidate, "index");
        let parts = present(candidate, "content").and_then(|content| present(content, "parts"));
        for part in parts.into_iter().flat_map(Value::items) {
            let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
            let block = if is_thought { Block::Reasoning } else { Block::Text };
            pieces.extend(words(&index, "", block, part, "text"));
            if let Some(call) = present(part, "functionCall") {
                let given = present(call, "args").map_or_else(String::new, crate::base::text_of);
                let place = call.span().start.to_string();
                pieces.push(began(&place, text(call.get("id")), text(call.get("name")), given));
            }
        }
    }
    // Anthropic's events, and Bedrock's, which are the same under other names.
    let (place, start) = match present(event, "contentBlockStart") {
        Some(start) => {
            let call = present(start, "start").and_then(|start| present(start, "toolUse"));
            (number(start, "contentBlockIndex"), call)
        }
        None => (number(event, "index"), present(event, "content_block")),
    };
    if let Some(start) = start {
        let id = text(start.get("toolUseId")).or_else(|| text(start.get("id")));
        if start.get("name").is_some() {
            pieces.push(began(&place, id, text(start.get("name")), String::new()));
        }
        pieces.extend(words("", &place, Block::Text, start, "text"));
    }
    let inside = present(event, "contentBlockDelta");
    let place = inside.map_or(place, |inside| number(inside, "contentBlockIndex"));
    if let Some(delta) = inside.or(Some(event)).and_then(|event| present(event, "delta")) {
        pieces.extend(words("", &place, Block::Text, delta, "text"));
        pieces.extend(words("", &place, Block::Reasoning, delta, "thinking"));
        pieces.extend(words("", &place, Block::Call, delta, "partial_json"));
        for (key, inner, block) in [
            ("toolUse", "input", Block::Call),
            ("reasoningContent", "text", Block::Reasoning),
        ] {
            let piece = present(delta, key).and_then(|holder| words("", &place, block, holder, inner));
            pieces.extend(piece);
        }
    }
    if text(event.get("type")).as_deref() == Some("response.output_text.delta") {
        let place = number(event, "output_index");
        pieces.extend(words("", &place, Block::Text, event, "delta"));
    }
    pieces
}

/// The first piece of a call.
fn began(place: &str, id: Option<String>, name: Option<String>, text_so_far: String) -> Piece {
    Piece {
        choice: String::new(),
        place: place.to_owned(),
        block: Block::Call,
        text_so_far,
        id,
        name,
    }
}

/// The text in a field, as a piece.
fn words(choice: &str, place: &str, block: Block, holder: Value<'_>, key: &str) -> Option<Piece> {
    let text_so_far = filled(holder.get(key))?;
    Some(Piece {
        choice: choice.to_owned(),
        place: place.to_owned(),
        block,
        text_so_far,
        id: None,
        name: None,
    })
}
