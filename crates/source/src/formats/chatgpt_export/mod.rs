//! The export of a `ChatGPT` account: `conversations.json` or its numbered parts, in the zip, in a folder, or as single files.
//!
//! A record is a conversation, and a conversation is a tree of messages. The smallest example:
//!
//! ```json
//! {"title": "Hours", "current_node": "b", "mapping": {
//!   "a": {"parent": null, "children": ["b"], "message": null},
//!   "b": {"parent": "a", "children": [], "message": {"author": {"role": "user"},
//!     "content": {"content_type": "text", "parts": ["Is it open?"]}}}}}
//! ```
//!
//! An edited question or a regenerated answer begins a branch. By default only the branch that ends with `current_node` becomes a
//! conversation, and the messages of the others become alternatives to its messages; `[sources.chatgpt-export] branches` changes that
//! ([`tree`](crate::layout::tree)). In a branch, a message has its text in a field that depends on its `content_type` ([`content`]), and
//! marks of citations in the text ([`citations`]). An assistant's message with a tool as its `recipient` is a call. Calls have no ids:
//! the next messages of that tool in the branch are the result ([`messages`]). A message that the program does not show
//! (`is_visually_hidden_from_conversation`) is a notice, unless it is an instruction, a call or a result.
//!
//! `message_feedback.json` has the thumbs up and down that users gave to answers ([`feedback`]). If an export has that file, the engine
//! groups each conversation with the rows about it ([`rows`]), and a frame is a list with the conversation and its rows; otherwise a frame
//! is one conversation. Entries with account data (`user.json`) or shared links are recognised and ignored; so is `chat.html`, a web page
//! that repeats all conversations.

mod citations;
mod content;
mod feedback;
mod messages;

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value, append_key};
use chatmill_model::{Conversation, Extra, FormatTraits, Scene, TextArguments};

use crate::base::{ExtraFields, Keep as _, Notes, id, items, present, text};
use crate::frame::{ExportPath, FrameView, Reading, Row};
use crate::layout::tree::{Node, Nodes, Tree};
use crate::layout::{best, has, list, tree::branch::REGENERATED};
use crate::rust_format::{Read, RustFormat};
use crate::source::About;
use feedback::Feedback;
use messages::Reader;

static ABOUT: About = About {
    id: "chatgpt-export",
    title: "ChatGPT export",
    specification: "the account export of ChatGPT, 2023 to 2026, as its files are",
    verified: "2026-11",
    shapes: &["tree"],
    carries: "branches, roles, text, thoughts, calls and results by their place in the tree, pictures and sound by name, \
              instructions, weights, thumbs, times",
    traits: FormatTraits {
        text_arguments: TextArguments::None,
        pairs_by_place: true,
        ..FormatTraits::USUAL
    },
};

/// The source `chatgpt-export`: the functions and facts that the engine uses through the registry of sources.
pub static CHATGPT_EXPORT: RustFormat = RustFormat {
    has_scattered_messages: true,
    rows: Some(rows),
    groups_rows: Some(|sketch| sketch.records.iter().any(is_feedback)),
    companion: Some("message_feedback.json"),
    export_path: Some(|_, path| ExportPath {
        export: path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
        conversation: String::new(),
    }),
    ignored_kind: Some(|sketch| {
        sketch
            .records
            .iter()
            .any(is_account_file)
            .then_some("ChatGPT account file")
    }),
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Stored(read))
};

/// Returns the record as one row, with the key that a conversation shares with the rows about it; `None` if the record has no such key and is
/// read separately.
fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    let key = feedback::conversation(root)?;
    Some(vec![Row::of(Some(key), root)])
}

/// Recognises a record of any file of the export: returns the confidence, from 1 to 100, and the reason.
fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let below = |ending: &str| {
        let mut names = record.names.keys();
        names.any(|name| name.starts_with("mapping.") && name.ends_with(ending))
    };
    // DeepSeek exports have the same tree, but their messages have `fragments`: another source reads them.
    let is_tree = has(record, "mapping")
        && !below(".message.fragments")
        && (has(record, "current_node") || below(".children") || below(".message") || below(".parent"));
    if is_tree {
        return Some((98, "records have mapping, a tree of messages".to_owned()));
    }
    (is_account_file(record) || is_feedback(record)).then(|| {
        (
            98,
            "records are those of a ChatGPT export that hold no chats".to_owned(),
        )
    })
}

/// Whether a record is from a file of the export without conversations: from `user.json`, or from a list of shared links.
fn is_account_file(record: &RecordSketch) -> bool {
    let has_all = |names: &[&str]| names.iter().all(|name| has(record, name));
    !has(record, "mapping")
        && (has_all(&["chatgpt_plus_user", "email"])
            || has_all(&["conversation_id", "is_anonymous", "title"]))
}

/// Whether a record is a thumb for an answer, that is, a row of `message_feedback.json`.
fn is_feedback(record: &RecordSketch) -> bool {
    let has_all = ["conversation_id", "rating"].iter().all(|name| has(record, name));
    has_all && !has(record, "mapping") && (has(record, "user_id") || has(record, "message_id"))
}

/// Reads a frame: a conversation, or a list with a conversation and the rows about it.
fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let rows = match frame.key {
        Some(_) => frame.rows(),
        None => vec![("$".to_owned(), frame.root())],
    };
    let (thumbs, chats): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, row)| feedback::is_one(*row));
    let feedback = Feedback::of(thumbs);
    let mut reading: Option<Reading> = None;
    for (path, chat) in chats {
        let read = conversation(frame, (&path, chat), limits, &feedback)?;
        match &mut reading {
            None => reading = Some(read),
            // The export contains the conversation twice: the second one is read, too, as a further conversation of the record.
            Some(first) => first.also.push(read),
        }
    }
    let mut reading = reading.unwrap_or_default();
    feedback.finish(&mut reading, Notes::new(frame.start));
    Ok(reading)
}

/// Reads the conversation at a path of a frame, with a reading for each branch that becomes a conversation.
fn conversation<'d>(
    frame: FrameView<'d>,
    (path, root): (&str, Value<'d>),
    limits: &Limits,
    feedback: &Feedback<'d>,
) -> Result<Reading, Box<Finding>> {
    if root.kind() != Kind::Object {
        let text = "the record is not an object";
        return Err(frame.error(&codes::WRONG_TYPE, text, path, root));
    }
    let at = format!("{path}.mapping");
    let mapping = list::single_of(frame, root, path, "mapping")?;
    if mapping.kind() != Kind::Object {
        let text = "mapping is not an object of messages";
        return Err(frame.error(&codes::WRONG_TYPE, text, at, mapping));
    }
    let count = ("the conversation", mapping.len(), "messages");
    frame.bound(count, at.as_str(), mapping, limits)?;
    let mut notes = Notes::new(frame.start);
    notes.repeated_keys(root, path, |key| {
        ["mapping", "current_node", "title"].contains(&key)
    });
    notes.repeated_keys(mapping, &at, |_| true);
    let named = named(mapping);
    let values: Vec<Value<'_>> = named.iter().map(|(_, value)| *value).collect();
    let mut entries = entries(&named, &at);
    line_up(&mut entries, &values, &at, &mut notes);
    let tree = Tree::of(&entries, &mut notes);
    let record = Nodes {
        values: &values,
        entries: &entries,
        tree: &tree,
        visible: visible(root, path, &entries, &mut notes),
    };
    Ok(record.conversations(
        notes,
        (frame.options.branches, limits),
        REGENERATED,
        messages::is_of_person,
        |_| Reader::new(frame, limits),
        |mut reader, _| {
            feedback.apply(&mut reader.turns.list);
            finish(reader, root)
        },
    ))
}

/// Returns the reading of a branch: its messages, with the id, the title and the extra fields of the record.
fn finish(reader: Reader<'_, '_>, root: Value<'_>) -> Reading {
    let mut extra = ExtraFields::new();
    extra.keep_rest(
        root,
        "",
        &["mapping", "title", "id", "conversation_id", "current_node"],
    );
    extra.retain(|(_, raw)| !["[]", "{}", "\"\""].contains(&raw.as_str()));
    reader.turns.finish(Conversation {
        source_id: ["conversation_id", "id"]
            .iter()
            .find_map(|key| present(root, key).and_then(id)),
        shape: "tree",
        scene: Scene::Assistant,
        title: text(root.get("title")).filter(|title| !title.is_empty()),
        extra: Extra(extra),
        ..Conversation::default()
    })
}

/// Returns the nodes of a mapping with their keys, in order. Of several nodes with the same key, it is the last.
fn named(mapping: Value<'_>) -> Vec<(String, Value<'_>)> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut values: Vec<(String, Value<'_>)> = Vec::new();
    for (key, value) in mapping.fields() {
        let next = values.len();
        let at = *places.entry(key.clone().into_owned()).or_insert(next);
        match values.get_mut(at) {
            Some((_, known)) => *known = value,
            None => values.push((key.into_owned(), value)),
        }
    }
    values
}

/// Returns the nodes of the mapping at a path for the tree. The parent of a node is the one that it names; if it names none, the node that
/// lists it among its children.
fn entries(named: &[(String, Value<'_>)], at: &str) -> Vec<Node> {
    let mut below: HashMap<String, &str> = HashMap::new();
    for (parent, value) in named {
        for child in items(*value, "children").filter_map(id) {
            below.entry(child).or_insert(parent);
        }
    }
    let parent_of = |key: &str, value: Value<'_>| {
        let above = || below.get(key).map(|parent| (*parent).to_owned());
        present(value, "parent").and_then(id).or_else(above)
    };
    let node = |(key, value): &(String, Value<'_>)| {
        let mut path = at.to_owned();
        append_key(&mut path, key);
        Node {
            id: key.clone(),
            parent: parent_of(key, *value),
            answers: None,
            span: value.span(),
            path,
        }
    };
    named.iter().map(node).collect()
}

/// Makes a chain of several nodes if none has a parent, and reports that. The order is that of their times if all messages have one,
/// otherwise that of the file.
fn line_up(entries: &mut [Node], values: &[Value<'_>], path: &str, notes: &mut Notes) {
    if entries.len() < 2 || entries.iter().any(|node| node.parent.is_some()) {
        return;
    }
    let time = |at: &usize| {
        let message = values.get(*at).and_then(|value| present(*value, "message"));
        let time = message.and_then(|message| present(message, "create_time"));
        time.and_then(Value::number_text)
            .and_then(|time| time.parse::<f64>().ok())
    };
    let mut order: Vec<usize> = (0..entries.len()).collect();
    let timed: Vec<f64> = order.iter().filter_map(time).collect();
    if timed.len() == order.len() {
        let at = |place: &usize| time(place).unwrap_or_default();
        order.sort_by(|one, other| at(one).total_cmp(&at(other)));
    }
    let mut above: Option<String> = None;
    for at in order {
        if let Some(node) = entries.get_mut(at) {
            node.parent = above.replace(node.id.clone());
        }
    }
    let text =
        "no message names its parent or its children: they are in the order of their times, or of the file";
    notes.push(Finding::new(&codes::BROKEN_TREE, text).at_path(path), None);
}

/// Returns the index of the message that users saw last, which `current_node` names. `None` if the record names none of its messages: the
/// longest branch then counts as the visible one.
fn visible(root: Value<'_>, path: &str, entries: &[Node], notes: &mut Notes) -> Option<usize> {
    let current = present(root, "current_node");
    let named = current.and_then(id);
    let found = named
        .as_deref()
        .and_then(|named| entries.iter().position(|node| node.id == named));
    if let (Some(current), None) = (current, found) {
        let text = "current_node names no message of the record: the longest branch is read";
        notes.push(
            Finding::new(&codes::BROKEN_TREE, text).at_path(format!("{path}.current_node")),
            Some(current),
        );
    }
    found
}
