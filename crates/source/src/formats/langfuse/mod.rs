//! Traces of Langfuse: a trace and its observations, as its export and its API give them.
//!
//! The smallest example:
//!
//! ```json
//! {"trace": {"id": "t1"}, "observations": [{"id": "o1", "type": "GENERATION", "model": "m",
//!  "input": "[{\"role\":\"user\",\"content\":\"Hi\"}]", "output": "{\"role\":\"assistant\",\"content\":\"Hello\"}"}]}
//! ```
//!
//! Inputs and outputs are JSON in strings, or values, in the shapes of the frameworks that wrote them. Every request repeats the
//! history before it: the longest one is the conversation, and its extra field `prefixes` names the observations with shorter
//! histories of it ([`chains`]). A trace of several chains contains several conversations.

pub(crate) mod calls;
pub(crate) mod chains;
pub(crate) mod known_texts;
mod waiting;

use std::collections::HashMap;

use calls::{Call, CallValue, OutputRelation, Step};
use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{self, Kind, Mark, Value};
use chatmill_model::{Extra, Usage};
use known_texts::KnownTexts;

use crate::base::{Keep as _, id, items, present, raw, repeats, text, times, words};
use crate::frame::{FrameView, Reading};
use crate::grammar::usage::{self, CountedTokens};
use crate::layout::{Turns, best, exchange::Exchange};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};

/// The source of its conversations, and their structure.
const SHAPE: &str = "trace";

static ABOUT: About = About {
    id: "langfuse",
    title: "Langfuse traces",
    specification: "Langfuse API reference, traces and observations",
    verified: "2026-11",
    shapes: &["trace"],
    carries: "messages in the shapes of the frameworks, tool calls and results, tool definitions, models, usage, times",
    traits: NO_TEXT_ARGUMENTS,
};

/// The source `langfuse`.
pub static LANGFUSE: RustFormat = RustFormat {
    has_scattered_messages: true,
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Thoughts(read))
};

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let has = |name: &str| record.names(name);
    let is_trace = has("observations[].traceId")
        || has("trace") && has("observations")
        || has("observations[].type") && has("observations[].input");
    is_trace.then(|| (96, "the record has a trace and its observations".to_owned()))
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    let observations = present(root, "observations").filter(|list| list.kind() == Kind::Array);
    let Some(observations) = observations else {
        let text = "the record has no list of observations";
        return Err(frame.error(&codes::MISSING_FIELD, text, "$.observations", root));
    };
    let count = ("the trace", observations.len(), "observations");
    frame.bound(count, "$.observations", observations, limits)?;
    let trace = present(root, "trace").unwrap_or(root);
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut malformed = Vec::new();
    for (index, value) in observations.items().enumerate() {
        if value.kind() == Kind::Object {
            let mut call = call(value, index);
            let listed = present(value, "toolDefinitions");
            if listed.is_none_or(|tools| tools.kind() != Kind::String && tools.is_empty()) {
                call.tools.extend(tools_beside(value, limits));
            }
            calls.push(call);
        } else {
            malformed.push((index, value));
        }
    }
    let count = calls.len() as u64;
    // If the steps of a trace have no text, the trace itself may still have an input and an output.
    if !calls
        .iter()
        .any(|call| call.step != Step::Tool && call.has_content())
    {
        let own = Call {
            step: Step::Model,
            ..call(trace, 0)
        };
        calls.push(own);
    }
    let found = chains::conversations(frame, limits, calls);
    let of_trace = trace.get("id").and_then(id);
    let mut all = (0..).zip(found).map(|(number, mut found)| {
        let mut extra = Extra::default();
        if number == 0 {
            let known = words!(id name input output observations trace);
            extra.keep_rest(trace, "", &known);
        }
        found.exchange.beside.title = text(trace.get("name"));
        found.reading((of_trace.as_deref(), number), SHAPE, extra)
    });
    let mut first = all.next().unwrap_or_else(|| {
        // The trace has no text: its conversation is empty.
        let mut exchange = Exchange::new(Turns::new(frame, limits));
        exchange.beside.id.clone_from(&of_trace);
        exchange.finish(SHAPE)
    });
    first.also = all.collect();
    mark_repeats(trace, observations, &mut first, limits);
    // An observation is a row of the ledger, and so is each message in it.
    first.rows.rows += count;
    first.rows.merged += count;
    for (index, value) in malformed {
        let text = "the observation is not an object and is rejected";
        let finding = Finding::new(&codes::WRONG_TYPE, text);
        let finding = finding.at_path(format!("$.observations[{index}]"));
        first.reject(frame, value, finding, limits);
    }
    Ok(first)
}

/// Marks values that repeat the steps of a trace as read: copies in the trace itself, called tools, parameters, and the
/// attributes of spans, which are kept unchanged.
fn mark_repeats(trace: Value<'_>, observations: Value<'_>, first: &mut Reading, limits: &Limits) {
    let own = present(trace, "observations").filter(|own| own.span() != observations.span());
    let originals: HashMap<_, _> = own
        .into_iter()
        .flat_map(|_| observations.items())
        .filter_map(|original| Some((original.get("id").and_then(id)?, original)))
        .collect();
    for copy in own.into_iter().flat_map(Value::items) {
        let original = copy.get("id").and_then(id).and_then(|id| originals.get(&id));
        original.inspect(|original| repeats(copy, **original));
    }
    let whole = ["input", "output", "metadata"];
    let of_trace = whole.iter().filter_map(|key| present(trace, key));
    let of_steps = observations.items().flat_map(|step| {
        let set = present(step, "modelParameters")
            .into_iter()
            .flat_map(Value::fields);
        items(step, "toolCalls").chain(set.map(|(_, value)| value))
    });
    let spans = observations.items().enumerate();
    let spans = spans.filter_map(|(index, step)| Some((Some(index), present(step, "metadata")?)));
    let nothing = KnownTexts::default();
    let mut all: Vec<(Option<usize>, Value<'_>)> = of_trace
        .chain(of_steps)
        .map(|value| (None, value))
        .chain(spans)
        .filter(|(_, value)| value.marked() != Mark::Taken)
        .collect();
    let mut again = Vec::new();
    all.retain(|found| {
        let has_words = !nothing.mark(found.1, limits);
        again.extend((!has_words).then_some(*found));
        has_words
    });
    if !all.is_empty() {
        let mut known_texts = KnownTexts::default();
        for value in observations.items().flat_map(|step| {
            ["name", "input", "output", "toolDefinitions"]
                .iter()
                .filter_map(move |key| present(step, key))
        }) {
            known_texts.add(value, limits);
        }
        for reading in std::iter::once(&*first).chain(&first.also) {
            if let Some(conversation) = &reading.conversation {
                known_texts.add_messages(&conversation.messages, limits);
                for tool in &conversation.tools {
                    known_texts.add_json(tool.as_str(), limits);
                }
            }
        }
        again.extend(all.into_iter().filter(|found| known_texts.mark(found.1, limits)));
    }
    let spans = again
        .into_iter()
        .filter_map(|(index, value)| Some((index?, value)));
    let metadata_fields = spans.map(|(index, value)| (format!("observations[{index}].metadata"), raw(value)));
    if let Some(conversation) = &mut first.conversation {
        conversation.extra.0.extend(metadata_fields);
    }
}

/// An observation as a step.
fn call(value: Value<'_>, index: usize) -> Call<'_> {
    let kind = text(value.get("type")).unwrap_or_default();
    let values_of = |key: &str| present(value, key).map(CallValue::Value).into_iter().collect();
    let time = |key: &str| present(value, key).and_then(times::known);
    let begun = time("startTime")
        .or_else(|| time("timestamp"))
        .and_then(|time| time.instant);
    Call {
        id: value.get("id").and_then(id),
        step: match kind.as_str() {
            "GENERATION" => Step::Model,
            "TOOL" => Step::Tool,
            _ => Step::Agent,
        },
        // Only the name of a tool is used.
        name: text(value.get("name").filter(|_| kind == "TOOL")).map(|name| {
            let plain = name.strip_prefix("execute_tool ").unwrap_or(&name);
            plain.to_owned()
        }),
        answers: None,
        at: value,
        begun: begun.map_or(index as i128, i128::from),
        done: time("endTime").or_else(|| time("startTime")),
        model: usage::model(value),
        usage: usage::within(
            ["usageDetails", "usage"]
                .iter()
                .find_map(|key| usage(present(value, key)?))
                .or_else(|| usage::flat(value)?.usage()),
            &[value],
        ),
        system: Vec::new(),
        tools: values_of("toolDefinitions"),
        input: values_of("input"),
        output: values_of("output"),
        output_relation: OutputRelation::Turns,
    }
}

/// Definitions of tools that the AI SDK writes into the metadata of a step, each as a string.
fn tools_beside<'d>(step: Value<'d>, limits: &Limits) -> Option<CallValue<'d>> {
    let metadata = present(step, "metadata")?;
    let text = metadata.string();
    let document = text
        .as_ref()
        .and_then(|text| json::scan(text.as_bytes(), limits.depth).ok());
    let holder = document.as_ref().map_or(metadata, json::Document::root);
    let list = present(holder, "tools").filter(|list| !list.is_empty())?;
    let tools: Option<Vec<_>> = list
        .items()
        .map(|tool| tool.string().filter(|tool| tool.starts_with('{')))
        .collect();
    Some(CallValue::Json(format!("[{}]", tools?.join(",")), vec![metadata]))
}

/// The token usage of an observation, in Langfuse's field names or the vendor's.
fn usage(value: Value<'_>) -> Option<Usage> {
    let number = |key: &str| usage::number(value, key);
    if number("input").or(number("output")).is_none() {
        return usage::usage(value);
    }
    let any = |keys: &[&str]| keys.iter().find_map(|key| number(key));
    let sum = |keys: &[&str]| {
        let counts = keys.iter().filter_map(|key| number(key));
        counts.reduce(u64::saturating_add)
    };
    let hour = number("input_cache_creation_1h");
    // The kinds of tokens do not overlap here.
    let counted = CountedTokens {
        input: sum(&["input", "input_audio_tokens", "input_audio"]),
        cached: any(&[
            "input_cached_tokens",
            "cache_read_input_tokens",
            "input_cache_read",
        ]),
        written: any(&[
            "cache_creation_input_tokens",
            "input_cache_creation",
            "input_cache_write",
        ])
        .or_else(|| sum(&["input_cache_creation_5m", "input_cache_creation_1h"])),
        written_1h: hour,
        contains_cache: false,
        output: sum(&["output", "output_audio_tokens", "output_audio"]),
        thoughts: any(&["output_reasoning_tokens", "output_reasoning", "reasoning_tokens"]),
        contains_thoughts: false,
        total: number("total"),
        ..CountedTokens::default()
    };
    counted.usage()
}

impl Call<'_> {
    /// Whether the step has an input or an output.
    fn has_content(&self) -> bool {
        !self.input.is_empty() || !self.output.is_empty()
    }
}
