//! Steps of a trace: calls of models, agents and tools, each with its input and output.

use chatmill_diag::Limits;
use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::{Message, MessageKind, Part, Role, Timestamp, Usage};

use super::known_texts::KnownTexts;
use crate::base::{drop_extra, present};
use crate::formats::request_log::opened;
use crate::layout::exchange::Exchange;

/// Input or output of a call: a value of the record, or JSON that was composed of several values, with their
/// place.
pub(crate) enum CallValue<'d> {
    /// A value; a string may hold JSON.
    Value(Value<'d>),
    /// Composed JSON and the values that it comes from; the first of them is its place.
    Json(String, Vec<Value<'d>>),
}

/// The kind of a step of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A model answers.
    Model,
    /// An agent, or a chain of steps.
    Agent,
    /// A tool runs.
    Tool,
}

/// The relation between several messages that a step returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputRelation {
    /// They follow one another.
    Turns,
    /// Each is an answer to the same question, if each states a finish reason.
    Choices,
}

/// One step of a trace.
pub(crate) struct Call<'d> {
    /// The id of the step.
    pub id: Option<String>,
    /// The kind of step.
    pub step: Step,
    /// Name of the tool.
    pub name: Option<String>,
    /// Id of the call that a tool answers.
    pub answers: Option<String>,
    /// The value of the step in the record.
    pub at: Value<'d>,
    /// The time when it began, as a number that orders steps.
    pub begun: i128,
    /// The time when it ended.
    pub done: Option<Timestamp>,
    /// The model.
    pub model: Option<Box<str>>,
    /// The token usage of the step.
    pub usage: Option<Usage>,
    /// The system text.
    pub system: Vec<CallValue<'d>>,
    /// Definitions of tools.
    pub tools: Vec<CallValue<'d>>,
    /// The input.
    pub input: Vec<CallValue<'d>>,
    /// The output.
    pub output: Vec<CallValue<'d>>,
    /// The relation between several output messages.
    pub output_relation: OutputRelation,
}

impl<'s> CallValue<'s> {
    /// The value itself, or the values that the JSON was composed of.
    fn values(&self) -> &[Value<'s>] {
        match self {
            Self::Value(value) => std::slice::from_ref(value),
            Self::Json(_, values) => values,
        }
    }

    /// Calls `act` with the value, or with the JSON in its string.
    pub(crate) fn open<'d, 'r>(
        &self,
        exchange: &mut Exchange<'d, 'r>,
        limits: &Limits,
        act: impl FnOnce(&mut Exchange<'d, 'r>, Value<'_>),
    ) {
        match self {
            Self::Value(value) => opened(exchange, *value, limits, act),
            Self::Json(text, values) => {
                if let Ok(document) = json::scan(text.as_bytes(), limits.depth) {
                    let place = values.first().map(|value| value.span());
                    let before = std::mem::replace(&mut exchange.turns.within, place);
                    exchange.identify(document.root());
                    act(exchange, document.root());
                    exchange.turns.within = before;
                }
            }
        }
    }
}

impl Call<'_> {
    /// Reads the input, unless the output repeats it.
    pub(crate) fn read_input(&self, exchange: &mut Exchange<'_, '_>, limits: &Limits) {
        self.read_tools(exchange, limits);
        self.values().for_each(|value| exchange.identify(value));
        for system in &self.system {
            system.open(exchange, limits, Exchange::system);
        }
        let mut is_complete = false;
        if self.step == Step::Agent {
            for output in &self.output {
                output.open(exchange, limits, |_, output| is_complete |= is_whole(output));
            }
        }
        if is_complete {
            self.mark_repeated_input(limits);
            return;
        }
        for input in &self.input {
            input.open(exchange, limits, Exchange::input);
        }
    }

    /// The input and output values, as written in the record.
    pub(crate) fn values(&self) -> impl Iterator<Item = Value<'_>> {
        let fields = [&self.system, &self.tools, &self.input, &self.output]
            .into_iter()
            .flatten();
        fields.flat_map(CallValue::values).copied()
    }

    /// Reads definitions of tools, unless there are some already.
    pub(crate) fn read_tools(&self, exchange: &mut Exchange<'_, '_>, limits: &Limits) {
        for tools in &self.tools {
            tools.open(exchange, limits, Exchange::tools);
        }
    }

    /// Marks the texts of the input that the output repeats as read.
    fn mark_repeated_input(&self, limits: &Limits) {
        let mut known_texts = KnownTexts::default();
        for output in self.output.iter().flat_map(CallValue::values) {
            known_texts.add(*output, limits);
        }
        for input in self.input.iter().flat_map(CallValue::values) {
            known_texts.mark(*input, limits);
        }
    }

    /// Reads the output as one or several answers.
    pub(crate) fn read_output(&self, exchange: &mut Exchange<'_, '_>, limits: &Limits) {
        for output in &self.output {
            output.open(exchange, limits, |exchange, output| {
                if self.output_relation == OutputRelation::Choices
                    && output.len() > 1
                    && output.items().all(is_ended)
                {
                    exchange.several(output.items().map(Some));
                } else {
                    exchange.answer(output, "output");
                }
            });
        }
    }

    /// Reads the other answers of a step as alternatives to the one that is already in the conversation, at
    /// position `at`.
    pub(crate) fn read_others(&self, at: usize, exchange: &mut Exchange<'_, '_>, limits: &Limits) {
        let extra = std::mem::take(&mut exchange.beside.extra);
        let known = exchange.turns.list.alternatives.len();
        let before_others = exchange.turns.list.begin_alternative();
        self.read_output(exchange, limits);
        exchange.beside.extra = extra;
        self.values().for_each(drop_extra);
        let list = &mut exchange.turns.list;
        let count = list.end_alternative(before_others).len() as u64;
        list.rows.alternatives -= count;
        list.rows.merged += count;
        for other in list.alternatives.iter_mut().skip(known) {
            other.place = at as u32..at as u32 + 1;
        }
    }

    /// Adds model, usage and time of the step to an answer that lacks them.
    pub(crate) fn complete(&self, message: &mut Message) {
        message.model = message.model.take().or_else(|| self.model.clone());
        message.usage = message.usage.or(self.usage);
        message.timestamp = message.timestamp.take().or_else(|| self.done.clone());
    }
}

/// Whether a message states a finish reason. Pieces of an answer have none.
fn is_ended(message: Value<'_>) -> bool {
    present(message, "finish_reason").is_some()
}

/// Whether an output is the whole conversation, and not only the answer.
fn is_whole(output: Value<'_>) -> bool {
    let list = present(output, "messages").unwrap_or(output);
    let first = list.items().next().filter(|_| list.kind() == Kind::Array);
    first.is_some_and(|first| {
        ["role", "type"].iter().any(|key| {
            let word = present(first, key).and_then(Value::as_str);
            matches!(word.as_deref(), Some("system" | "user" | "human"))
        })
    })
}

/// A hash of a message's content, with the facts that identify an answer of a model.
#[derive(Clone, Copy)]
pub(crate) struct Print {
    /// The hash of the content.
    pub hash: u64,
    /// The role of the speaker.
    pub role: Role,
    /// Whether the message has text.
    pub has_words: bool,
    /// Whether the message calls tools.
    pub has_calls: bool,
}

impl Print {
    /// The fingerprints of all messages, in order.
    pub(crate) fn all(messages: &[Message]) -> Vec<Self> {
        let outlines = messages
            .iter()
            .filter(|message| message.kind == MessageKind::Message);
        outlines.map(Self::of).collect()
    }

    /// The fingerprint of a message.
    pub(crate) fn of(message: &Message) -> Self {
        let mut hash = blake3::Hasher::new();
        let mut add = |text: &str| {
            hash.update(text.trim().as_bytes());
            hash.update(&[0]);
        };
        add(message.role.as_str());
        let (mut has_words, mut has_calls) = (false, false);
        for part in &message.parts {
            match part {
                Part::Text(text) if !text.trim().is_empty() => {
                    has_words = true;
                    add(text);
                }
                Part::ToolCall(call) => {
                    has_calls = true;
                    add(call.name.as_deref().unwrap_or_default());
                    add(call.known_id().unwrap_or_else(|| call.arguments.source_text()));
                }
                Part::ToolResult(result) => add(&result.content),
                _ => {}
            }
        }
        let bytes = hash.finalize();
        let first: [u8; 8] = bytes.as_bytes().first_chunk().copied().unwrap_or_default();
        Self {
            hash: u64::from_le_bytes(first),
            role: message.role,
            has_words,
            has_calls,
        }
    }
}
