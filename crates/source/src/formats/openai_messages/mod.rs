//! Lists of messages as `OpenAI`'s chat API takes them, and Suna's LLM API format, which is the same with ids.
//!
//! A record is one request, one line of a fine-tuning file, or one captured context: an object with `messages` and maybe
//! `tools`. The smallest example:
//!
//! ```json
//! {"messages": [{"role": "user", "content": "Morning"}, {"role": "assistant", "content": "Good morning."}]}
//! ```
//!
//! Other fields of the request (`model`, `temperature`, …) are extra fields of the conversation. The list may stand alone:
//! as a whole file, which is cut into its messages like every top-level array and gathered again, as a line, or as an
//! element of an array of lists. A message alone is not a conversation.

mod cached;
pub(crate) mod lists;
mod messages;
mod response;

use std::collections::BTreeSet;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{Name, RecordSketch, Sketch};
use chatmill_model::json::push_compact;
use chatmill_model::{AlternativeOrigin, Customs, Judgement, Part, RawJson, Role};

use crate::frame::{FrameView, Reading, Row};
use crate::reader::{
    Kept, ListReader, Names, RequestFields, Roster, Tools, customs, has, holds, is_bare_list, list,
    list_of_tools, logged, placed_media, preference, reading, surest, words,
};
use crate::source::{About, Source};
use messages::Reader;

const ID: &str = "openai-messages";

/// The source `openai-messages`.
#[derive(Debug)]
pub struct OpenaiMessages;

static ABOUT: About = About {
    id: ID,
    title: "OpenAI message lists",
    specification: "OpenAI Chat Completions requests and fine-tuning lines, and the LLM API format of Suna's \
                    Message Structures (November 2025)",
    shapes: &["openai", "suna"],
    carries: "roles, names, text, pictures, sound and files, tool definitions, calls and results, reasoning, cache marks",
    customs: Customs::USUAL.of_one_request(),
};

impl Source for OpenaiMessages {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        surest(sketch, recognise).or_else(|| recognise_bare_list(sketch))
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        read((ID, &ABOUT), None, *frame, limits)
    }

    fn message_path(&self, index: u32) -> String {
        lists::path(index)
    }

    /// A file that is a bare list of messages is one conversation.
    fn gathers(&self, sketch: &Sketch) -> bool {
        is_bare_list(sketch, is_message) && !is_of_several(sketch)
    }

    /// Every element of a bare list is a row of it; a whole request, or another list, is read on its own.
    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        let stands_alone = root.kind() == Kind::Array || root.get("messages").is_some();
        (!stands_alone).then(|| vec![Row::of(None, root)])
    }
}

/// Fields that only requests of other APIs have beside `messages`.
const FOREIGN: [&str; 4] = [
    "anthropic_version",
    "inferenceConfig",
    "toolConfig",
    "conversation_list",
];

/// Recognises the format in one record.
fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| has(record, wanted);
    let holds = |wanted: &str| record.names(&format!("messages[].{wanted}"));
    if !has("messages") || !holds("role") || FOREIGN.iter().any(|key| has(key)) {
        return None;
    }
    let says_something = ["content", "tool_calls", "function_call", "refusal"];
    if !says_something.into_iter().any(holds) {
        return None;
    }
    let mut why = vec![
        "the record has messages, and these have a role".to_owned(),
        "messages hold content or tool_calls".to_owned(),
    ];
    let mut confidence = 85;
    if holds("message_id") {
        why.push("messages hold message_id, as Suna writes them".to_owned());
    }
    for key in ["tools", "functions", "parallel_tool_calls"] {
        if has(key) {
            why.push(format!("the record has {key}"));
            confidence = 90;
        }
    }
    if has("system") {
        why.push("the record has system, which is another API's field".to_owned());
        confidence = 50;
    }
    Some((confidence, why))
}

/// Recognises a list of messages without an object around it: the whole file, or each record.
fn recognise_bare_list(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    if OpenaiMessages.gathers(sketch) {
        let why = "the top-level array is a bare list of messages: one conversation";
        // A message alone could be anybody's.
        let confidence = if sketch.records.len() > 1 { 60 } else { 30 };
        return Some((confidence, vec![why.to_owned()]));
    }
    let why = "the record is a bare list of messages";
    let is_list = sketch.records.iter().any(is_list_of_messages);
    is_list.then(|| (60, vec![why.to_owned()]))
}

/// Fields by which rows name their conversation: rows of several conversations are not a list of messages.
pub(crate) const WHOSE: [&str; 9] = words!(
    conversation conversation_id conversationId thread_id threadId session_id sessionId chat_id room_id
);

/// Whether a record is a message, as far as a sketch shows it.
fn is_message(record: &RecordSketch) -> bool {
    is_like_message(|wanted| has(record, wanted))
}

/// Whether records say that they belong to several conversations. An id that is not a short text may be any.
fn is_of_several(sketch: &Sketch) -> bool {
    WHOSE.iter().any(|key| {
        let named: Vec<&Name> = sketch
            .records
            .iter()
            .filter_map(|record| record.names.get(*key))
            .collect();
        let words: BTreeSet<&String> = named.iter().flat_map(|name| &name.words).collect();
        !named.is_empty() && words.len() != 1
    })
}

/// Whether a record is an array whose first object is a message.
fn is_list_of_messages(record: &RecordSketch) -> bool {
    !record.is_object && is_like_message(|wanted| holds(record, "", wanted))
}

fn is_like_message(has: impl Fn(&str) -> bool) -> bool {
    has("role") && (has("content") || has("tool_calls") || has("function_call"))
}

/// Reads a record that has one list of messages, as the source `source`; its structure is the one named, else told by what
/// messages hold.
pub(crate) fn read(
    (source, about): (&'static str, &'static About),
    shape: Option<&'static str>,
    frame: FrameView<'_>,
    limits: &Limits,
) -> Reading {
    let record = top_level(frame, limits);
    let record = record.map(|list| Record {
        source,
        shape,
        columns: &["messages"],
        turns: vec![Turns::List(0, list)],
        preferred: None,
        path: if frame.root().kind() == Kind::Array {
            |index| format!("$[{index}]")
        } else {
            lists::path
        },
    });
    let customs = customs(about, frame.root(), Some("response"));
    reading(customs, record.map(|record| record.read(frame, limits)))
}

/// The turns of a record that together are one conversation.
pub(crate) struct Record<'d> {
    /// Id of the source.
    pub source: &'static str,
    /// Name of the structure; none: what messages hold tells it.
    pub shape: Option<&'static str>,
    /// Fields of the record that hold the turns.
    pub columns: &'static [&'static str],
    /// Where they stand, in their order.
    pub turns: Vec<Turns<'d>>,
    /// Which of these is the answer that another one was rejected for.
    pub preferred: Option<usize>,
    /// The path of the message with an index.
    pub path: fn(u32) -> String,
}

/// Where turns stand.
#[derive(Clone, Copy)]
pub(crate) enum Turns<'d> {
    /// A list of messages, and the index of the first.
    List(u32, Value<'d>),
    /// A string: what somebody says, or a conversation written out.
    Text(u32, Role, Value<'d>),
}

impl Record<'_> {
    /// Reads the messages of all lists, and what stands beside them.
    pub(crate) fn read(self, frame: FrameView<'_>, limits: &Limits) -> Reading {
        let root = frame.root();
        let mut reader = Reader {
            list: ListReader::new(frame, limits),
            path: self.path,
            roster: Roster::default(),
        };
        let notes = &mut reader.list.notes;
        let names = Names {
            turns: self.columns,
            system: None,
            tools: &["tools", "functions"],
            define: definitions,
        };
        let mut beside = RequestFields::read(names, root, limits, notes);
        let response = response::of(root, notes);
        let mut preferred = None;
        for (index, turns) in self.turns.iter().enumerate() {
            if self.preferred == Some(index) {
                preferred = Some(reader.list.messages.len());
            }
            reader.turns(*turns);
        }
        if let Some(answer) = response {
            beside.extra.0.retain(|(key, _)| key != "response");
            beside.extra.0.extend(answer.rest);
            let start = reader.list.messages.len();
            reader.answer(answer.index, answer.said);
            let place = start..reader.list.messages.len();
            let others = answer.others.into_iter().map(|other| {
                let aside = reader.list.begin_aside();
                reader.answer(0, other);
                let messages = reader.list.end_aside(aside);
                (AlternativeOrigin::Choice, Judgement::default(), messages)
            });
            let others: Vec<_> = others.filter(|(_, _, messages)| !messages.is_empty()).collect();
            if !others.is_empty() {
                let own = Some((AlternativeOrigin::Choice, Judgement::default()));
                reader.list.alternatives(place, own, others);
            }
        }
        if let Some((field, other)) = preference::rejected(root)
            && preference::may_be_answer(other)
        {
            let start = preferred.unwrap_or_else(|| preference::answer(&reader.list.messages));
            let aside = reader.list.begin_aside();
            match other.kind() {
                Kind::Array => reader.turns(Turns::List(0, other)),
                _ => reader.answer(0, other),
            }
            if preference::compare(&mut reader.list, aside, root, start) {
                beside.extra.0.retain(|(key, _)| key != field);
            }
        }
        preference::label(&mut reader.list, root);
        let Reader { mut list, roster, .. } = reader;
        placed_media::place(root, &mut list.messages, &mut beside.extra, &mut list.notes);
        logged::answer(root, &mut list.messages);

        let mut parts = list.messages.iter().flat_map(|message| &message.parts);
        let has_marks = parts.any(|part| matches!(part, Part::CacheMark));
        let mut all = self.turns.iter().flat_map(|turns| match turns {
            Turns::List(_, list) | Turns::Text(_, _, list) => list.items(),
        });
        let is_suna = has_marks || all.any(|message| message.get("message_id").is_some());
        let shape = self.shape.unwrap_or(if is_suna { "suna" } else { "openai" });
        list.finish(beside.conversation((self.source, shape), frame, roster.participants))
    }
}

/// The list of messages, or why the whole frame is rejected.
fn top_level<'d>(frame: FrameView<'d>, limits: &Limits) -> Result<Value<'d>, Box<Finding>> {
    let root = frame.root();
    match root.kind() {
        Kind::Array => {
            if !root.is_empty() && root.items().all(|message| message.kind() != Kind::Object) {
                let text = "the record is a list without a message";
                return Err(frame.fault(&codes::WRONG_TYPE, text, "$", root));
            }
            list::bare(frame, "messages", limits)
        }
        Kind::Object if root.get("messages").is_none() && root.get("role").is_some() => {
            let text =
                "the record is a single message: wrap the list that it comes from in an object as messages";
            Err(frame.fault(&codes::MISSING_FIELD, text, "$.messages", root))
        }
        Kind::Object => list::named(frame, "messages", "messages", limits),
        _ => {
            let text = "the record is neither an object nor a list of messages";
            Err(frame.fault(&codes::WRONG_TYPE, text, "$", root))
        }
    }
}

/// Definitions of tools; entries of the deprecated `functions` get the frame that `tools` has.
fn definitions(key: &str, value: Value<'_>, limits: &Limits) -> Option<Tools> {
    let mut tools = list_of_tools(value, limits)?;
    if key == "functions" {
        for tool in &mut tools {
            let mut framed = String::from("{\"type\":\"function\",\"function\":");
            push_compact(&mut framed, tool.as_str());
            framed.push('}');
            *tool = RawJson(framed);
        }
    }
    Some((tools, Kept::new()))
}
