//! Requests that a gateway logged without their texts, as `LiteLLM` does by default: counts, model, time and cost are fields of the
//! record. Each request becomes a notice, because it was paid.

use chatmill_diag::Limits;
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Document, Value};
use chatmill_model::{Conversation, Extra, Message, MessageKind, Part, Role, Scene};

use super::{IDS, is_from_cache};
use crate::base::{Keep as _, id, present, texts::quoted_json, times};
use crate::frame::{FrameView, Reading};
use crate::grammar::usage;
use crate::layout::Turns;
use crate::layout::exchange::LISTS;
use crate::layout::exchange::logged::{logged_usage, unpaid};

/// Token counts at the top level of a record.
const COUNTS: [&str; 2] = ["prompt_tokens", "completion_tokens"];
/// Fields that only a gateway's log has; one of them is required.
const GATEWAY: [&str; 4] = ["call_type", "spend", "response_cost", "custom_llm_provider"];
/// Fields with the time of the answer; the first one present is used.
const TIMES: [&str; 4] = ["endTime", "end_time", "startTime", "timestamp"];
/// Fields with the texts, if a gateway keeps them.
const TEXTS: [&str; 2] = ["messages", "response"];

/// Whether a record is a logged request without texts, and why.
pub(super) fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    if !COUNTS.iter().all(|key| record.names(key)) || !record.names("model") {
        return None;
    }
    let gateway = GATEWAY.into_iter().find(|key| record.names(key))?;
    let has_texts = TEXTS.iter().any(|field| {
        let inside = |key: &str| record.names(&format!("{field}{key}"));
        inside("[].role") || inside(".choices") || inside(".content") || inside(".output")
    });
    let why =
        || format!("the record has {gateway} and counts of tokens, as a gateway logs a request, and no text");
    (!has_texts).then(|| (97, why()))
}

/// Whether a record has token counts at its top level, and no message.
pub(super) fn is_one(root: Value<'_>) -> bool {
    let has_items = |key: &str| root.get(key).is_some_and(|list| list.items().next().is_some());
    COUNTS.iter().all(|key| root.get(key).is_some()) && !LISTS.iter().any(|key| has_items(key))
}

/// Reads the request as a notice.
pub(super) fn read(frame: FrameView<'_>, limits: &Limits) -> Reading {
    let root = frame.root();
    let mut turns = Turns::new(frame, limits);
    let mut extra = Extra::default();
    extra.keep_rest(root, "", &["model"]);
    // Rows of a database may have the metadata as JSON text.
    let metadata = present(root, "metadata");
    let opened = metadata.and_then(|metadata| quoted_json::open(metadata, limits));
    let metadata = opened.as_deref().map(Document::root).or(metadata);
    let mut usage = logged_usage(root, None, metadata);
    if is_from_cache(root) {
        usage = usage.map(unpaid);
    }
    let time = TIMES.iter().find_map(|key| present(root, key));
    let source_id = IDS.iter().find_map(|key| root.get(key).and_then(id));
    turns.list.rows.rows += 1;
    turns.list.push(Message {
        kind: MessageKind::Notice,
        source_type: Some("request".to_owned()),
        timestamp: time.and_then(times::known),
        model: usage::model(root),
        answer: ["id", "request_id"]
            .iter()
            .find_map(|key| id(root.get(key)?))
            .map(Into::into),
        usage,
        parts: vec![Part::Notice("request".to_owned())],
        extra,
        ..turns.list.message(Role::System, root.span(), 0)
    });
    turns.finish(Conversation {
        source_id,
        shape: "log",
        scene: Scene::Assistant,
        ..Conversation::default()
    })
}
