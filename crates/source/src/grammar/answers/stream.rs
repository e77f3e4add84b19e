//! Answers that were logged as streams: a list of events, each with a piece.

mod tree;
mod wires;

use std::rc::Rc;

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Document, Kind, Value};

use self::wires::{Assembly, is_ollamas};
use crate::base::{items, present, repeats};

/// Opens the events of a text that is a raw event stream, or has an event on each line; or of a list of such texts.
pub(crate) fn open(logged: Value<'_>, limits: &Limits) -> Option<Rc<Document<'static>>> {
    let mut text = logged.string();
    if logged.kind() == Kind::Array {
        let lines: Option<Vec<_>> = logged.items().map(Value::string).collect();
        text = lines.map(|lines| lines.join("\n").into());
    }
    let text = text?;
    let text = text.trim();
    if text.starts_with('{') {
        let list = format!(
            "[{}]",
            text.lines()
                .filter(|line| !line.trim().is_empty())
                .collect::<Vec<_>>()
                .join(",")
        );
        // A model may write lines of JSON as well.
        let is_stream = json::scan(list.as_bytes(), limits.depth).is_ok_and(|known| is_one(known.root()));
        return is_stream.then(|| logged.open(&list, limits.depth).ok())?;
    }
    logged.open(&sent_events(text)?, limits.depth).ok()
}

/// The events of a text that is a raw event stream, as a list; `None` for any other text.
fn sent_events(text: &str) -> Option<String> {
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
        || is_ollamas(event)
        || event.get("object").and_then(Value::string).as_deref() == Some("text_completion")
        || ["messageStart", "contentBlockStart", "contentBlockDelta"]
            .iter()
            .any(|key| event.get(key).is_some())
        || kind.is_some_and(|kind| starts.iter().any(|start| kind.starts_with(start)))
}

/// The whole answer, if the stream ends with it; some servers leave out its items there.
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
        .and_then(|event| present(event, "response"))
        .filter(|whole| items(*whole, "output").next().is_some())?;
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

/// The answer that the events of a stream form, as JSON of the same vendor: what the API would have sent at once. `None` if no event has a
/// piece of one.
pub(crate) fn assembled(list: Value<'_>, limits: &Limits) -> Option<String> {
    let mut assembly = Assembly::default();
    list.items().for_each(|event| assembly.add(event));
    assembly.finish(limits)
}
