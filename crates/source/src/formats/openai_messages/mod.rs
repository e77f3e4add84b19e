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

mod branching;
mod cached;
mod messages;
mod row;

use std::collections::BTreeSet;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_intake::{Name, RecordSketch, Sketch};
use chatmill_model::json::push_compact;
use chatmill_model::{FormatTraits, Part, RawJson};

use crate::base::{ExtraFields, words};
use crate::coded::{Coded, Read};
use crate::frame::{self, FrameView, Reading};
use crate::grammar::{Tools, list_of_tools, signs::is_openai};
use crate::layout::columns::{self, Holds};
use crate::layout::{
    Names, OUTSIDE_LISTS, RequestFields, has, holds, is_bare_list, list, of_request, preference, reading,
    surest,
};
use crate::source::About;
use messages::Reader;
use row::Row;

static ABOUT: About = About {
    id: "openai-messages",
    title: "OpenAI message lists",
    specification: "OpenAI Chat Completions requests and fine-tuning lines, and the LLM API format of Suna's \
                    Message Structures (November 2025)",
    shapes: &["openai", "suna"],
    carries: "roles, names, text, pictures, sound and files, tool definitions, calls and results, reasoning, cache marks",
    traits: FormatTraits::USUAL.of_one_request(),
};

/// The source `openai-messages`.
pub static OPENAI_MESSAGES: Coded = Coded {
    message_path: Some(path),
    rows: Some(rows),
    groups_rows: Some(is_one_list),
    ..Coded::of(
        &ABOUT,
        |sketch| surest(sketch, recognise).or_else(|| recognise_bare_list(sketch)),
        Read::Own(|frame, limits| read(&ABOUT, None, frame, limits)),
    )
};

/// Whether a file is a bare list of messages: it is one conversation.
fn is_one_list(sketch: &Sketch) -> bool {
    is_bare_list(sketch, is_message) && !is_of_several(sketch)
}

/// Every element of a bare list is a row of it; a whole request, or another list, is read on its own.
fn rows(root: Value<'_>) -> Option<Vec<frame::Row>> {
    let stands_alone = root.kind() == Kind::Array || root.get("messages").is_some();
    (!stands_alone).then(|| vec![frame::Row::of(None, root)])
}

/// Fields that only requests of other APIs have beside `messages`.
const FOREIGN: [&str; 4] = words!(anthropic_version inferenceConfig toolConfig conversation_list);

/// Recognises the format in one record.
fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| has(record, wanted);
    let holds = |wanted: &str| record.names(&format!("messages[].{wanted}"));
    let is_foreign = FOREIGN.iter().any(|key| has(key)) && !is_openai(record);
    if !has("messages") || !holds("role") || is_foreign {
        return None;
    }
    let fields_of_turns = ["content", "tool_calls", "function_call", "refusal"];
    // Calls beside words under a name of its own are another format's.
    let speaks_otherwise = !holds("content") && (holds("text") || holds("body"));
    if speaks_otherwise || !fields_of_turns.into_iter().any(holds) {
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
    if is_one_list(sketch) {
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

/// The path of the message with this index; `None` for a message in no list, which is found by its bytes.
pub(crate) fn path(index: u32) -> Option<String> {
    (index != OUTSIDE_LISTS).then(|| format!("$.messages[{index}]"))
}

/// Reads a record with one list of messages, as this source; the structure is the given one, else it follows
/// from the messages.
pub(crate) fn read(
    about: &'static About,
    shape: Option<&'static str>,
    frame: FrameView<'_>,
    limits: &Limits,
) -> Reading {
    let root = frame.root();
    let row = top_level(frame, limits).and_then(|list| match root.kind() {
        Kind::Array => Ok(Row::list(list)),
        _ => Row::of(frame, limits),
    });
    of_request(
        about,
        root,
        row.map(|row| conversation(shape, row, frame, limits)),
    )
}

/// Reads a row whose turns are in columns of several names; `None` where it has no such column.
pub(crate) fn read_columns(
    about: &'static About,
    shape: &'static str,
    frame: FrameView<'_>,
    limits: &Limits,
) -> Option<Reading> {
    let row = Row::of(frame, limits);
    if row.as_ref().is_ok_and(|row| row.turns.is_empty()) {
        return None;
    }
    let read = row.map(|row| conversation(Some(shape), row, frame, limits));
    Some(reading(about, read))
}

/// Reads the turns of a row, and the fields beside them.
fn conversation(shape: Option<&'static str>, row: Row<'_>, frame: FrameView<'_>, limits: &Limits) -> Reading {
    let root = frame.root();
    let columns: Vec<&str> = row.columns.iter().map(|name| &**name).collect();
    if let Some(tree) = branching::read(&row, &columns, shape, frame, limits) {
        return tree;
    }
    let mut reader = begin(&columns, frame, limits);
    let mut start = None;
    for (index, turns) in row.turns.into_iter().enumerate() {
        if row.answer == Some(index) {
            start = Some(reader.exchange.turns.list.messages.len());
        }
        reader.read_turns(turns);
    }
    for (name, value) in columns::all(root, Holds::Question).chain(columns::all(root, Holds::Answer)) {
        if reader.exchange.turns.repeats(value) {
            reader.exchange.beside.take(name);
        }
    }
    for name in columns::empty(root) {
        reader.exchange.beside.take(name);
    }
    if let Some((field, other)) = columns::first(root, Holds::Worse)
        && preference::may_be_answer(other)
    {
        let list = &mut reader.exchange.turns.list;
        let start = start.unwrap_or_else(|| preference::answer(&list.messages));
        let before_answer = list.begin_alternative();
        reader.answer(field, other);
        if preference::compare(&mut reader.exchange.turns.list, before_answer, root, start) {
            reader.exchange.beside.take(field);
        }
    }
    end(reader, shape, root)
}

/// A reader of a row, of which the fields beside its turns are read.
fn begin<'d, 'r>(columns: &[&str], frame: FrameView<'d>, limits: &'r Limits) -> Reader<'d, 'r> {
    let mut reader = Reader::new(frame, limits);
    let names = Names {
        turns: columns,
        system: None,
        tools: &["tools", "functions"],
        define: definitions,
    };
    let notes = &mut reader.exchange.turns.list.notes;
    reader.exchange.beside = RequestFields::read(names, frame.root(), limits, notes);
    reader
}

/// The finished conversation of a row.
fn end<'d>(reader: Reader<'d, '_>, shape: Option<&'static str>, root: Value<'d>) -> Reading {
    let mut exchange = reader.exchange;
    exchange.apply_record_fields(root);
    let messages = exchange.turns.list.messages.iter();
    let mut parts = messages.flat_map(|message| &message.parts);
    let is_suna = reader.has_message_ids || parts.any(|part| matches!(part, Part::CacheMark));
    let shape = shape.unwrap_or(if is_suna { "suna" } else { "openai" });
    exchange.finish(shape)
}

/// The list of messages, or why the whole frame is rejected.
fn top_level<'d>(frame: FrameView<'d>, limits: &Limits) -> Result<Value<'d>, Box<Finding>> {
    let root = frame.root();
    match root.kind() {
        Kind::Array => {
            if !root.is_empty() && root.items().all(|message| message.kind() != Kind::Object) {
                let text = "the record is a list without a message";
                return Err(frame.error(&codes::WRONG_TYPE, text, "$", root));
            }
            list::bare(frame, "messages", limits)
        }
        Kind::Object if root.get("messages").is_none() && root.get("role").is_some() => {
            let text =
                "the record is a single message: wrap the list that it comes from in an object as messages";
            Err(frame.error(&codes::MISSING_FIELD, text, "$.messages", root))
        }
        Kind::Object => list::named(frame, "messages", "messages", limits),
        _ => {
            let text = "the record is neither an object nor a list of messages";
            Err(frame.error(&codes::WRONG_TYPE, text, "$", root))
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
    Some((tools, ExtraFields::new()))
}
