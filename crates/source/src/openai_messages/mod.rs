//! Record of messages as `OpenAI`'s chat API takes them, and Suna's LLM API format, which is the same with ids.
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
//! element of an array of lists. A message alone is no conversation.

mod cached;
pub mod lists;
mod messages;
mod response;
pub mod speakers;
pub mod tools;

use std::borrow::Cow;
use std::collections::BTreeSet;

use chatmill_diag::{Finding, Limits, Severity, codes};
use chatmill_intake::json::{Document, Kind, Value, append_key};
use chatmill_intake::{Framing, Name, RecordSketch, Sketch};
use chatmill_model::{Conversation, Customs, Extra, Part, RawJson, Role};

use crate::notes::{self, Notes};
use crate::{About, Evidence, FrameView, Reading, Row, RowLedger, Source, judged, shown};
use messages::Reader;
use speakers::Speakers;

const ID: &str = "openai-messages";

/// The source `openai-messages`.
#[derive(Debug)]
pub struct OpenaiMessages;

static ABOUT: About = About {
    title: "OpenAI message lists",
    specification: "OpenAI Chat Completions requests and fine-tuning lines, and the LLM API format of Suna's \
                    Message Structures (November 2025)",
    shapes: &["openai", "suna"],
    carries: "roles, names, text, pictures, sound and files, tool definitions, calls and results, reasoning, cache marks",
    customs: Customs::USUAL,
};

impl Source for OpenaiMessages {
    fn id(&self) -> &'static str {
        ID
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn detect(&self, sketch: &Sketch) -> Option<Evidence> {
        let best = sketch
            .records
            .iter()
            .filter_map(recognise)
            .max_by_key(|(confidence, _)| *confidence);
        best.or_else(|| recognise_bare_list(sketch))
            .map(|(confidence, why)| Evidence {
                source: ID,
                confidence,
                why,
            })
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        read((ID, &ABOUT), None, *frame, limits)
    }

    fn message_path(&self, index: u32) -> String {
        lists::path(index)
    }

    /// A file that is a bare list of messages is one conversation.
    fn gathers(&self, sketch: &Sketch) -> bool {
        sketch.framing == Framing::Array
            && !is_of_several(sketch)
            && sketch.records.iter().any(is_message)
            && sketch
                .records
                .iter()
                .all(|record| is_message(record) || !record.is_object)
    }

    /// Whatever stands in a bare list belongs to it; a whole request, or another list, is read on its own.
    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        let stands_alone = root.kind() == Kind::Array || root.get("messages").is_some();
        (!stands_alone).then(|| vec![Row::of_list(root)])
    }
}

/// Fields that only requests of other APIs have beside `messages`.
const FOREIGN: [&str; 4] = [
    "anthropic_version",
    "inferenceConfig",
    "toolConfig",
    "conversation_list",
];

/// What speaks for the format in one record.
fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| record.keys.iter().any(|key| key == wanted);
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

/// Record of messages without an object around them: the whole file, or one a record.
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

/// Fields by which rows say to which conversation they belong: several conversations are no list of messages.
pub const WHOSE: [&str; 9] = [
    "conversation",
    "conversation_id",
    "conversationId",
    "thread_id",
    "threadId",
    "session_id",
    "sessionId",
    "chat_id",
    "room_id",
];

/// Whether a record is a message, as far as a sketch shows it.
fn is_message(record: &RecordSketch) -> bool {
    is_like_message(|wanted| record.keys.iter().any(|key| key == wanted))
}

/// Whether records say that they belong to several conversations. An id that is no short text may be any.
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
    let holds = |wanted: &str| {
        let mut inside = record.nested.iter();
        inside.any(|(key, inner)| key.is_empty() && inner == wanted)
    };
    !record.is_object && is_like_message(holds)
}

fn is_like_message(has: impl Fn(&str) -> bool) -> bool {
    has("role") && (has("content") || has("tool_calls") || has("function_call"))
}

/// Reads a record that has one list of messages, as the source `source`; its structure is the one named, else told by what
/// messages hold.
pub fn read(
    (source, about): (&'static str, &'static About),
    shape: Option<&'static str>,
    frame: FrameView<'_>,
    limits: &Limits,
) -> Reading {
    let notes = Notes::new(frame.start);
    let root = frame.document.root();
    let record = top_level(root, limits, &notes).map(|list| Record {
        source,
        shape,
        columns: &["messages"],
        turns: vec![Turns::List(0, list)],
        path: if root.kind() == Kind::Array {
            |index| format!("$[{index}]")
        } else {
            lists::path
        },
    });
    let accepted = judged::refuse(root, &notes).and(record);
    Reading::of(about, accepted.map(|record| record.read(frame, limits)))
}

/// The turns of a record that together are one conversation.
pub struct Record<'d> {
    /// Id of the source.
    pub source: &'static str,
    /// Name of the structure; none: what messages hold tells it.
    pub shape: Option<&'static str>,
    /// Fields of the record that hold the turns.
    pub columns: &'static [&'static str],
    /// Where they stand, in their order.
    pub turns: Vec<Turns<'d>>,
    /// The path of the message with an index.
    pub path: fn(u32) -> String,
}

/// Where turns stand.
#[derive(Clone, Copy)]
pub enum Turns<'d> {
    /// A list of messages, and the index of the first.
    List(u32, Value<'d>),
    /// A string: what somebody says, or a conversation written out.
    Text(u32, Role, Value<'d>),
}

impl Record<'_> {
    /// Reads the messages of all lists, and what stands beside them.
    pub fn read(self, frame: FrameView<'_>, limits: &Limits) -> Reading {
        let mut notes = Notes::new(frame.start);
        let root = frame.document.root();
        let mut request = Request::read(root, self.columns, &mut notes, limits);
        let response = response::of(root, &mut notes);
        judged::compare(root, &mut notes);
        let mut reader = Reader {
            frame,
            path: self.path,
            limits,
            speakers: Speakers::default(),
            notes,
            rejects: Vec::new(),
            messages: Vec::new(),
            rows: RowLedger::default(),
        };
        for turns in &self.turns {
            match turns {
                Turns::List(first, list) => {
                    for (index, message) in (*first..).zip(list.items()) {
                        reader.read(index, message);
                    }
                }
                Turns::Text(index, role, text) => reader.say(*index, *role, *text),
            }
        }
        if let Some(answer) = response {
            request.extra.0.retain(|(key, _)| key != "response");
            request.extra.0.extend(answer.rest);
            match answer.said.kind() {
                Kind::String => reader.say(answer.index, Role::Assistant, answer.said),
                _ => reader.read(answer.index, answer.said),
            }
        }
        shown::place(root, &mut reader.messages, &mut request.extra, &mut reader.notes);

        let has_marks = reader.messages.iter().any(|message| {
            let mut parts = message.parts.iter();
            parts.any(|part| matches!(part, Part::CacheMark))
        });
        let mut all = self.turns.iter().flat_map(|turns| match turns {
            Turns::List(_, list) | Turns::Text(_, _, list) => list.items(),
        });
        let is_suna = has_marks || all.any(|message| message.get("message_id").is_some());
        Reading {
            conversation: Some(Conversation {
                source: self.source,
                source_id: request.id.or_else(|| frame.key.map(str::to_owned)),
                shape: self.shape.unwrap_or(if is_suna { "suna" } else { "openai" }),
                participants: reader.speakers.participants,
                tools: request.tools,
                messages: reader.messages,
                extra: request.extra,
                ..Conversation::default()
            }),
            fault: None,
            findings: reader.notes.findings,
            rejects: reader.rejects,
            rows: reader.rows,
        }
    }
}

/// Checks what decides over the whole frame; gives the list of messages.
fn top_level<'d>(root: Value<'d>, limits: &Limits, notes: &Notes) -> Result<Value<'d>, Box<Finding>> {
    let fault = |finding: Finding, path: &str, value: Value<'_>| {
        Box::new(notes.spanned(finding.with_severity(Severity::Error).at_path(path), value.span()))
    };
    if root.kind() == Kind::Array {
        if !root.is_empty() && root.items().all(|message| message.kind() != Kind::Object) {
            let finding = Finding::new(&codes::WRONG_TYPE, "the record is a list without a message");
            return Err(fault(finding, "$", root));
        }
        return match too_many(root, limits) {
            Some(finding) => Err(fault(finding, "$", root)),
            None => Ok(root),
        };
    }
    if root.kind() != Kind::Object {
        let text = "the record is neither an object nor a list of messages";
        return Err(fault(Finding::new(&codes::WRONG_TYPE, text), "$", root));
    }
    let mut lists = root.fields().filter(|(key, _)| key == "messages");
    let path = "$.messages";
    let Some((_, list)) = lists.next() else {
        let text = if root.get("role").is_some() {
            "the record is a single message: wrap the list that it comes from in an object as messages"
        } else {
            "the record has no messages"
        };
        return Err(fault(Finding::new(&codes::MISSING_FIELD, text), path, root));
    };
    if lists.next().is_some() {
        let finding = Finding::new(
            &codes::DUPLICATE_KEY,
            "messages stands more than once in the record",
        );
        return Err(fault(finding, path, root));
    }
    if list.kind() != Kind::Array {
        let finding = Finding::new(&codes::WRONG_TYPE, "messages is no list");
        return Err(fault(finding, path, list));
    }
    match too_many(list, limits) {
        Some(finding) => Err(fault(finding, path, list)),
        None => Ok(list),
    }
}

/// What is wrong with a list that is too long.
pub fn too_many(list: Value<'_>, limits: &Limits) -> Option<Finding> {
    let limit = limits.messages_per_conversation;
    let count = list.len() as u64;
    let text = || format!("the conversation has {count} messages, the limit is {limit}");
    (count > limit).then(|| Finding::new(&codes::CONVERSATION_TOO_LARGE, text()))
}

/// What stands beside the messages.
#[derive(Default)]
struct Request {
    id: Option<String>,
    tools: Vec<RawJson>,
    extra: Extra,
}

impl Request {
    fn read(root: Value<'_>, columns: &[&str], notes: &mut Notes, limits: &Limits) -> Self {
        let mut request = Self::default();
        // The first of these fields that holds an id names the conversation.
        let id_key = ["conversation_id", "thread_id", "id"]
            .into_iter()
            .find(|key| root.get(key).and_then(id_text).is_some());
        request.id = id_key.and_then(|key| root.get(key)).and_then(id_text);
        for (key, value) in root.fields() {
            match &*key {
                key if columns.contains(&key) => {}
                key if Some(key) == id_key => {}
                "input" if columns.contains(&"input.messages") => {
                    for (inner, field) in value.fields().filter(|(inner, _)| inner != "messages") {
                        let mut path = "input".to_owned();
                        append_key(&mut path, &inner);
                        request.take(&inner, path, field, notes, limits);
                    }
                }
                _ => request.take(&key, key.clone().into_owned(), value, notes, limits),
            }
        }
        for key in root.duplicate_keys() {
            let mut path = "$".to_owned();
            append_key(&mut path, &key);
            let loses = Some(key.as_str()) == id_key;
            notes.push(notes::repeated_key(loses).at_path(path), root.get(&key));
        }
        request
    }

    /// Takes a field: definitions of tools, or one without a place.
    fn take(&mut self, key: &str, path: String, value: Value<'_>, notes: &mut Notes, limits: &Limits) {
        if matches!(key, "tools" | "functions") {
            if let Some(tools) = tools::given(value, key == "functions", limits) {
                self.tools.extend(tools);
                return;
            }
            let text = "the tool definitions are no list and are kept as they are";
            let finding = Finding::new(&codes::WRONG_TYPE, text);
            notes.push(finding.at_path(format!("$.{path}")), Some(value));
        }
        self.extra.0.push((path, RawJson(value.raw().to_owned())));
    }
}

fn id_text(value: Value<'_>) -> Option<String> {
    let id = value
        .as_str()
        .or_else(|| value.number_text().map(Cow::Borrowed))?;
    (!id.is_empty()).then(|| id.into_owned())
}
