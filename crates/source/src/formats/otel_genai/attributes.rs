//! The attributes of a span that hold the messages of a conversation.
//!
//! Today `gen_ai.input.messages` and similar attributes contain JSON, in the span or in an event of it. Until 2025 every field of
//! every message was an attribute (`gen_ai.prompt.0.content`), and `OpenInference` has the same under other names
//! (`llm.input_messages.0.message.content`).

use std::collections::BTreeMap;

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{Cost, OffsetOrigin, Timestamp, Usage};

use crate::base::{id, items, present, text, times};
use crate::formats::langfuse::calls::{Call, CallValue, OutputRelation, Step};
use crate::formats::langfuse::known_texts::KnownTexts;
use crate::grammar::usage::{self, CountedTokens};
use crate::unread::{has_meaning, meaningless_keys::MeaninglessKeys};

/// Prefixes of attributes that contain one field of an input message each.
const ASKED: [&str; 2] = ["gen_ai.prompt.", "llm.input_messages."];

/// Prefixes of attributes that contain one field of an output message each.
const ANSWERED: [&str; 2] = ["gen_ai.completion.", "llm.output_messages."];

/// Attributes that name the model, the most reliable first.
const MODELS: [&str; 3] = ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"];

/// Attributes that name the tool that a step runs.
const TOOLS: [&str; 2] = ["gen_ai.tool.name", "tool.name"];

/// The prefix of attributes that contain one field of a tool each, for spans without a schema of tools.
const FUNCTIONS: &str = "llm.request.functions.";

/// The operations of the conventions; the name of a span is one of them, and what it works with: `chat gpt-5`, `execute_tool look`.
const OPERATIONS: [&str; 9] = [
    "chat",
    "create_agent",
    "embeddings",
    "execute_tool",
    "generate_content",
    "invoke_agent",
    "invoke_workflow",
    "retrieval",
    "text_completion",
];

/// The step of an operation of the conventions, or of a kind of `OpenInference`'s.
fn step_of(word: &str) -> Option<Step> {
    match word {
        "execute_tool" | "TOOL" => Some(Step::Tool),
        "invoke_agent" | "create_agent" | "AGENT" | "CHAIN" => Some(Step::Agent),
        "chat" | "text_completion" | "generate_content" | "LLM" => Some(Step::Model),
        _ => None,
    }
}

/// A span by its attributes.
pub(super) struct Span<'d> {
    value: Value<'d>,
    attributes: BTreeMap<String, Value<'d>>,
}

/// A message with its fields in separate attributes.
#[derive(Default)]
struct Fields<'d> {
    plain: BTreeMap<&'static str, Value<'d>>,
    calls: BTreeMap<u32, BTreeMap<&'static str, Value<'d>>>,
    /// Texts, and addresses of pictures.
    contents: BTreeMap<u32, (bool, Value<'d>)>,
}

impl<'d> Span<'d> {
    /// The attributes of a span and of its events; of repeated names, the first.
    pub(super) fn of(value: Value<'d>) -> Self {
        let meaningless_keys = MeaninglessKeys::of("otel-genai");
        let mut attributes = BTreeMap::new();
        let events = items(value, "events");
        for holder in std::iter::once(value).chain(events) {
            let Some(list) = present(holder, "attributes") else {
                continue;
            };
            if list.kind() == Kind::Object {
                for (key, value) in list.fields() {
                    spread(key.into_owned(), value, &mut attributes);
                }
            }
            for attribute in list.items() {
                if let (Some(key), Some(value)) = (attribute.get("key").and_then(id), attribute.get("value"))
                {
                    // The attribute's path in the list is only an index, so that its key is compared.
                    if meaningless_keys.names(&key) {
                        mark_plain_as_read(value);
                    }
                    attributes.entry(key).or_insert_with(|| plain(value));
                }
            }
        }
        Self { value, attributes }
    }

    fn get(&self, key: &str) -> Option<Value<'d>> {
        self.attributes.get(key).copied().filter(|value| !value.is_null())
    }

    /// An attribute as text.
    fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(id)
    }

    /// The first of these attributes that exists, as text.
    pub(super) fn first(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.text(key))
    }

    fn number(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| usage::tokens(&self.text(key)?))
    }

    /// The step that the span describes; `None` if it describes something else.
    pub(super) fn step(&self, index: usize, limits: &Limits) -> Option<Call<'d>> {
        let kind = self.first(&["gen_ai.operation.name", "openinference.span.kind"]);
        let kind = kind.or_else(|| text(self.value.get("span_kind")));
        let (mut input, mut output) = (
            self.values("gen_ai.input.messages"),
            self.values("gen_ai.output.messages"),
        );
        if input.is_empty() {
            input = self.joined(&ASKED);
        }
        let output_relation = if output.is_empty() {
            OutputRelation::Turns
        } else {
            OutputRelation::Choices
        };
        if output.is_empty() {
            output = self.joined(&ANSWERED);
        }
        let has_content = !input.is_empty() || !output.is_empty();
        let step = kind
            .as_deref()
            .and_then(step_of)
            .or(has_content.then_some(Step::Model))?;
        self.mark_repeats(!input.is_empty(), !output.is_empty(), limits);
        let subject = self.subject(step);
        if input.is_empty() && step == Step::Tool {
            input = self.values("gen_ai.tool.call.arguments");
        }
        if input.is_empty() {
            input = self.values("input.value");
        }
        if output.is_empty() && step == Step::Tool {
            output = self.values("gen_ai.tool.call.result");
        }
        if output.is_empty() {
            output = self.values("output.value");
        }
        let time = |keys: [&str; 3]| {
            let [.., written] = keys;
            let mut nanos = keys
                .iter()
                .filter_map(|key| present(self.value, key).and_then(id));
            let nanos = nanos.next().and_then(instant);
            nanos.or_else(|| present(self.value, written).and_then(times::known))
        };
        let begun = time(["startTimeUnixNano", "start_time_unix_nano", "start_time"]);
        Some(Call {
            id: own_id(self.value, ["spanId", "span_id"]),
            step,
            name: self
                .first(&TOOLS)
                .or_else(|| subject.clone().filter(|_| step == Step::Tool)),
            answers: self.first(&["gen_ai.tool.call.id", "tool_call.id", "tool.id"]),
            at: self.value,
            begun: begun
                .and_then(|time| time.instant)
                .map_or(index as i128, i128::from),
            done: time(["endTimeUnixNano", "end_time_unix_nano", "end_time"]),
            model: self
                .first(&MODELS)
                .or_else(|| subject.filter(|_| step == Step::Model))
                .map(Into::into),
            usage: self.usage(),
            system: self.values("gen_ai.system_instructions"),
            tools: self.tools(),
            input,
            output,
            output_relation,
        })
    }

    /// The model or tool that only the name of the span states. The name is marked as read if it is read here, or repeats attributes.
    fn subject(&self, step: Step) -> Option<String> {
        let name = present(self.value, "name")?;
        let words = name.string()?;
        let is_value = |word: &str| {
            let mut values = self.attributes.values().filter_map(|value| value.string());
            values.any(|value| value == word)
        };
        let (operation, subject) = words.split_once(' ').unwrap_or((&words, ""));
        if subject.is_empty() || is_value(subject) || subject.split(' ').all(is_value) {
            if OPERATIONS.contains(&operation) || is_value(operation) {
                name.mark(Mark::Taken);
            }
            return None;
        }
        let is_stated = match step {
            Step::Model => self.first(&MODELS).is_some(),
            Step::Tool => self.first(&TOOLS).is_some(),
            Step::Agent => true,
        };
        if is_stated || step_of(operation) != Some(step) || subject.contains(' ') {
            return None;
        }
        name.mark(Mark::Taken);
        Some(subject.to_owned())
    }

    /// Marks the parts of `input.value` and `output.value` that repeat the messages in the attributes as
    /// read.
    fn mark_repeats(&self, is_asked: bool, is_answered: bool, limits: &Limits) {
        let again = [(is_asked, "input.value"), (is_answered, "output.value")];
        let again = again.into_iter().filter(|(is_there, _)| *is_there);
        let mut again = again.filter_map(|(_, key)| self.get(key)).peekable();
        if again.peek().is_none() {
            return;
        }
        let mut sent_texts = KnownTexts::default();
        for (key, value) in &self.attributes {
            if key.starts_with("llm.") || key.starts_with("gen_ai.") {
                sent_texts.add(*value, limits);
            }
        }
        again.for_each(|value| {
            sent_texts.mark(value, limits);
        });
    }

    fn values(&self, key: &str) -> Vec<CallValue<'d>> {
        self.get(key).map(CallValue::Value).into_iter().collect()
    }

    /// Definitions of tools: a list, or an attribute with the schema of each.
    fn tools(&self) -> Vec<CallValue<'d>> {
        let list = self.values("gen_ai.tool.definitions");
        let schemas = self
            .attributes
            .iter()
            .filter(|(key, _)| key.starts_with("llm.tools.") && key.ends_with(".tool.json_schema"));
        let mut schemas: Vec<(u32, Value<'d>)> = schemas
            .filter_map(|(key, value)| Some((key.split('.').nth(2)?.parse().ok()?, *value)))
            .collect();
        schemas.sort_by_key(|(number, _)| *number);
        let texts: Vec<_> = schemas
            .iter()
            .map(|(_, value)| value.as_str().unwrap_or_else(|| value.raw().into()))
            .collect();
        let values = schemas.iter().map(|(_, value)| *value).collect();
        let joined = (!texts.is_empty()).then(|| CallValue::Json(format!("[{}]", texts.join(",")), values));
        let joined = joined.or_else(|| self.functions());
        if list.is_empty() {
            joined.into_iter().collect()
        } else {
            list
        }
    }

    /// Definitions of tools with a separate attribute for each field: `llm.request.functions.0.name`.
    fn functions(&self) -> Option<CallValue<'d>> {
        let mut functions: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        let mut values = Vec::new();
        for (key, value) in &self.attributes {
            let field = key.strip_prefix(FUNCTIONS).and_then(|rest| rest.split_once('.'));
            let Some((number, field @ ("name" | "description" | "parameters"))) = field else {
                continue;
            };
            let Ok(number) = number.parse() else { continue };
            values.push(*value);
            // The schema is JSON in a string.
            let field_text = match value.as_str() {
                Some(schema) if field == "parameters" && schema.trim_start().starts_with('{') => {
                    schema.into_owned()
                }
                _ => value.raw().to_owned(),
            };
            functions
                .entry(number)
                .or_default()
                .push(format!("\"{field}\":{field_text}"));
        }
        let functions: Vec<String> = functions
            .values()
            .map(|fields| {
                let fields = fields.join(",");
                format!(r#"{{"type":"function","function":{{{fields}}}}}"#)
            })
            .collect();
        (!values.is_empty()).then(|| CallValue::Json(format!("[{}]", functions.join(",")), values))
    }

    fn usage(&self) -> Option<Usage> {
        let counted = CountedTokens {
            input: self.number(&[
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.prompt_tokens",
                "llm.token_count.prompt",
            ]),
            cached: self.number(&[
                "gen_ai.usage.cache_read.input_tokens",
                "gen_ai.usage.cache_read_input_tokens",
                "llm.token_count.prompt_details.cache_read",
            ]),
            written: self.number(&[
                "gen_ai.usage.cache_write.input_tokens",
                "gen_ai.usage.cache_creation.input_tokens",
                "gen_ai.usage.cache_creation_input_tokens",
                "llm.token_count.prompt_details.cache_write",
            ]),
            output: self.number(&[
                "gen_ai.usage.output_tokens",
                "gen_ai.usage.completion_tokens",
                "llm.token_count.completion",
            ]),
            thoughts: self.number(&[
                "gen_ai.usage.reasoning.output_tokens",
                "gen_ai.usage.reasoning_tokens",
                "llm.token_count.completion_details.reasoning",
            ]),
            total: self.number(&["gen_ai.usage.total_tokens", "llm.token_count.total"]),
            contains_cache: true,
            contains_thoughts: true,
            cost: self
                .text("llm.cost.total")
                .and_then(|text| text.parse().ok())
                .and_then(Cost::new),
            tier: self
                .text("openai.response.service_tier")
                .and_then(|word| word.parse().ok()),
            ..CountedTokens::default()
        };
        counted.usage()
    }

    /// Messages that are composed of attributes, one for each field.
    fn joined(&self, prefixes: &[&str]) -> Vec<CallValue<'d>> {
        let mut messages: BTreeMap<u32, Fields<'d>> = BTreeMap::new();
        let mut values = Vec::new();
        for (key, value) in &self.attributes {
            let mut rest = prefixes.iter().filter_map(|prefix| key.strip_prefix(prefix));
            let Some((number, field)) = rest.next().and_then(|rest| rest.split_once('.')) else {
                continue;
            };
            let Ok(number) = number.parse() else { continue };
            values.push(*value);
            messages.entry(number).or_default().take(field, *value);
        }
        if values.is_empty() {
            return Vec::new();
        }
        let mut json = String::from("[");
        for (index, message) in messages.values().enumerate() {
            if index > 0 {
                json.push(',');
            }
            message.write(&mut json);
        }
        json.push(']');
        vec![CallValue::Json(json, values)]
    }
}

impl<'d> Fields<'d> {
    fn take(&mut self, field: &str, value: Value<'d>) {
        let field = field.strip_prefix("message.").unwrap_or(field);
        let within = |list: &str| field.strip_prefix(list)?.split_once('.');
        if let Some((number, inner)) = within("tool_calls.") {
            let inner = inner.strip_prefix("tool_call.").unwrap_or(inner);
            let inner = match inner.strip_prefix("function.").unwrap_or(inner) {
                "id" => "id",
                "name" => "name",
                "arguments" => "arguments",
                _ => return,
            };
            if let Ok(number) = number.parse::<u32>() {
                self.calls.entry(number).or_default().insert(inner, value);
            }
            return;
        }
        if let Some((number, inner)) = within("contents.") {
            let inner = inner.strip_prefix("message_content.").unwrap_or(inner);
            if let (Ok(number), "text" | "image.image.url") = (number.parse::<u32>(), inner) {
                self.contents.insert(number, (inner == "text", value));
            }
            return;
        }
        for known in ["role", "content", "tool_call_id", "name"] {
            if field == known {
                self.plain.insert(known, value);
            }
        }
    }

    /// Writes the message as `OpenAI` does.
    fn write(&self, json: &mut String) {
        let plain = self.plain.iter();
        let plain = plain.map(|(key, value)| format!("\"{key}\":{}", value.raw()));
        let mut fields: Vec<String> = plain.collect();
        if !self.contents.is_empty() {
            let parts = self.contents.values().map(|(is_text, value)| {
                if *is_text {
                    format!(r#"{{"type":"text","text":{}}}"#, value.raw())
                } else {
                    format!(r#"{{"type":"image_url","image_url":{{"url":{}}}}}"#, value.raw())
                }
            });
            let parts: Vec<String> = parts.collect();
            fields.push(format!("\"content\":[{}]", parts.join(",")));
        }
        if !self.calls.is_empty() {
            let calls = self.calls.values().map(|call| {
                let field = |key: &str| call.get(key).map_or("null", |value| value.raw());
                let (id, name, given) = (field("id"), field("name"), field("arguments"));
                format!(r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{given}}}}}"#)
            });
            let calls: Vec<String> = calls.collect();
            fields.push(format!("\"tool_calls\":[{}]", calls.join(",")));
        }
        json.extend(["{", &fields.join(","), "}"]);
    }
}

/// Names of attributes that mean something are shorter. Below a longer one nothing is looked for: each element there would have it
/// in its name.
const MAX_KEY_BYTES: usize = 256;

/// Adds an attribute, and the values in it, each under its path of keys.
fn spread<'d>(key: String, value: Value<'d>, attributes: &mut BTreeMap<String, Value<'d>>) {
    if key.len() <= MAX_KEY_BYTES {
        for (inner, field) in value.fields() {
            spread(format!("{key}.{inner}"), field, attributes);
        }
        for (number, item) in value.items().enumerate() {
            spread(format!("{key}.{number}"), item, attributes);
        }
    }
    attributes.entry(key).or_insert(value);
}

/// An id of a span: its own field, or one of its context.
pub(super) fn own_id(span: Value<'_>, keys: [&str; 2]) -> Option<String> {
    let holders = [Some(span), present(span, "context")];
    let mut found = holders
        .into_iter()
        .flatten()
        .flat_map(|holder| keys.map(|key| present(holder, key)));
    found.find_map(|value| value.and_then(id))
}

/// The value of an attribute, without the name of its type; lists and objects stay as OTLP writes them.
fn plain(value: Value<'_>) -> Value<'_> {
    ["stringValue", "intValue", "doubleValue", "boolValue"]
        .iter()
        .find_map(|key| value.get(key))
        .unwrap_or(value)
}

/// Marks the value of an attribute that means nothing, with the names of its types, as read; words, times and JSON stay unread.
fn mark_plain_as_read(value: Value<'_>) {
    let list = value.get("arrayValue").and_then(|list| list.get("values"));
    match list {
        Some(list) => list.items().for_each(mark_plain_as_read),
        None if plain(value).string().is_some_and(|text| has_meaning(&text)) => {}
        None => plain(value).mark(Mark::Taken),
    }
}

/// A time in nanoseconds since 1970.
fn instant(nanos: String) -> Option<Timestamp> {
    let micros = nanos.parse::<u64>().ok()? / 1000;
    Some(Timestamp {
        instant: Some(i64::try_from(micros).ok()?),
        raw: nanos,
        offset: OffsetOrigin::Explicit,
    })
}
