//! Spans of OpenTelemetry for models, agents and tools, in OTLP's JSON: all three spellings of their
//! attributes.
//!
//! The smallest example:
//!
//! ```json
//! {"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t1","spanId":"s1","name":"chat m","attributes":[
//!  {"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Hi\"}]}]"}},
//!  {"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Hello\"}]}]"}}]}]}]}]}
//! ```
//!
//! A span of Phoenix has its ids in `context`, its kind in `span_kind` and its attributes in an object, flat or nested. Spans are written when they
//! end, in any order and over several lines: those of a trace are grouped, and ordered by their start times. A trace is read as Langfuse's are: the
//! longest history of every chain of requests ([`attributes`] finds the messages in a span). Several messages in `gen_ai.output.messages` that each
//! have a finish reason are answers to the same request, by the conventions: the first is the answer, the others are alternatives.

mod attributes;

use std::collections::HashSet;

use attributes::{Span, own_id};
use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Conversation, Extra, Message, MessageKind, Part, Role, Scene};

use crate::base::{Keep as _, first_present, items, present};
use crate::formats::langfuse::{
    calls::{Call, Step},
    chains,
};
use crate::frame::{FrameView, Reading, Row};
use crate::layout::{Element, Turns, best, list};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};

static ABOUT: About = About {
    id: "otel-genai",
    title: "OpenTelemetry GenAI spans",
    specification: "OpenTelemetry semantic conventions for generative AI; OpenInference",
    verified: "2026-11",
    shapes: &["spans"],
    carries: "messages, reasoning, tool calls and results, tool definitions, models, usage, times",
    traits: NO_TEXT_ARGUMENTS,
};

/// The source `otel-genai`.
pub static OTEL_GENAI: RustFormat = RustFormat {
    has_scattered_messages: true,
    rows: Some(rows),
    can_merge: true,
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Thoughts(read))
};

fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    let key = |span: Value<'_>| own_id(span, ["traceId", "trace_id"]);
    Some(
        spans(root)?
            .into_iter()
            .map(|span| Row::of(key(span), span))
            .collect(),
    )
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let scopes = ["scopeSpans", "instrumentationLibrarySpans"];
    if scopes
        .iter()
        .any(|scopes| record.names(&format!("resourceSpans[].{scopes}")))
    {
        return Some((95, "the record has resourceSpans".to_owned()));
    }
    let names = |place: &str| {
        let either = |keys: [&str; 2]| keys.iter().any(|key| record.names(&format!("{place}{key}")));
        either(["traceId", "trace_id"]) && either(["spanId", "span_id"])
    };
    let is_span = (names("") || names("context.")) && record.names("attributes");
    let is_page = names("data[].context.") && record.names("data[].attributes");
    (is_span || is_page).then(|| (95, "records are spans with attributes".to_owned()))
}

/// The spans of a record; `None` if it has none.
fn spans(root: Value<'_>) -> Option<Vec<Value<'_>>> {
    if let Some(resources) = present(root, "resourceSpans").filter(|list| list.kind() == Kind::Array) {
        let scopes = resources.items().flat_map(|resource| {
            let inside = first_present(resource, &["scopeSpans", "instrumentationLibrarySpans"]);
            inside.into_iter().flat_map(Value::items)
        });
        let spans = scopes.flat_map(|scope| items(scope, "spans"));
        return Some(spans.collect());
    }
    // A page of Phoenix's API.
    let page = present(root, "data").filter(|list| list.items().any(|span| span.get("attributes").is_some()));
    if let Some(page) = page {
        return Some(page.items().collect());
    }
    (root.kind() == Kind::Object && present(root, "attributes").is_some()).then(|| vec![root])
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    let rows = match spans(root) {
        Some(spans) => spans,
        None if root.kind() == Kind::Array && root.items().any(|span| span.kind() == Kind::Object) => {
            list::bare(frame, "spans", limits)?.items().collect()
        }
        None => {
            let text = "the record holds no spans";
            return Err(frame.error(&codes::WRONG_TYPE, text, "$", root));
        }
    };
    let mut turns = Turns::new(frame, limits);
    let (mut steps, mut conversation_id) = (Vec::new(), None);
    for (index, value) in rows.into_iter().enumerate() {
        let path = || frame.document.path_at(value.span().start);
        if turns
            .list
            .element(Element::Row, path, value, |_| Ok(()))
            .is_none()
        {
            continue;
        }
        turns.list.rows.merged += 1;
        let span = Span::of(value);
        let own = || span.first(&["gen_ai.conversation.id", "session.id"]);
        conversation_id = conversation_id.or_else(own);
        steps.extend(span.step(index, limits));
    }
    let requests = without_text(frame, limits, &steps);
    let found = chains::conversations(frame, limits, steps);
    let mut all = (0..).zip(found).map(|(number, found)| {
        let mut extra = Extra::default();
        if let Some(id) = &conversation_id {
            extra.keep_text("gen_ai.conversation.id", id);
        }
        found.reading((frame.key, number), "spans", extra)
    });
    let mut first = all.next().or(requests).unwrap_or_else(|| {
        let text = "none of the spans is a request to a model: there is no message";
        let finding = Finding::new(&codes::SILENT_CONVERSATION, text);
        let mut reading = Reading::default();
        reading.findings.push(finding.at_path("$"));
        reading
    });
    first.also = all.collect();
    let (rows, own) = (&mut first.rows, turns.list.rows);
    rows.rows += own.rows;
    rows.merged += own.merged;
    rows.rejected += own.rejected;
    first.rejects.extend(turns.list.rejects);
    Ok(first)
}

/// Reads a trace without any text, as instrumentations write it unless content is enabled. Its requests become notices, because they were paid. Of
/// nested spans the innermost is the request.
fn without_text(frame: FrameView<'_>, limits: &Limits, steps: &[Call<'_>]) -> Option<Reading> {
    let paid = || {
        let models = steps
            .iter()
            .filter(|step| step.step == Step::Model && step.usage.is_some());
        models.filter(|step| step.values().next().is_none())
    };
    let parents = paid().filter_map(|step| own_id(step.at, ["parentSpanId", "parent_span_id"]));
    let parents: HashSet<String> = parents.collect();
    let mut turns = Turns::new(frame, limits);
    let is_inner = |step: &&Call<'_>| step.id.as_ref().is_none_or(|id| !parents.contains(id));
    for (index, step) in (0..).zip(paid().filter(is_inner)) {
        let mut extra = Extra::default();
        extra.keep_rest(step.at, "", &[]);
        turns.list.rows.rows += 1;
        turns.list.push(Message {
            kind: MessageKind::Notice,
            source_type: Some("request".to_owned()),
            timestamp: step.done.clone(),
            model: step.model.clone(),
            usage: step.usage,
            parts: vec![Part::Notice("request".to_owned())],
            extra,
            ..turns.list.message(Role::System, step.at.span(), index)
        });
    }
    let conversation = Conversation {
        source_id: frame.key.map(str::to_owned),
        shape: "spans",
        scene: Scene::Assistant,
        ..Conversation::default()
    };
    (!turns.list.messages.is_empty()).then(|| turns.finish(conversation))
}
