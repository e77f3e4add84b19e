//! The export of a Claude.ai account: `conversations.json`, in the zip, in a folder, or alone.
//!
//! The smallest example:
//!
//! ```json
//! {"uuid": "c1", "name": "Hours", "chat_messages": [
//!   {"uuid": "m1", "sender": "human", "text": "Is it open?", "content": [{"type": "text", "text": "Is it open?"}]}]}
//! ```
//!
//! `text` says once more what the blocks of `content` say, with a sentence in the place of what is no text: the blocks are read, and
//! `text` only where they hold no words ([`blocks`]). What an attachment held is part of what the person said. An edited question
//! begins a branch where messages name what stands above them; where none does, they follow one another.
//!
//! An answer with calls is several messages: what is said up to a call, its result, what is said then. `users.json` and `projects.json`
//! hold no conversation.

mod blocks;

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::{Conversation, Extra, Message, Role, Scene};

use crate::frame::{FrameView, Reading};
use crate::reader::branch::{self, NodeReader, REGENERATED};
use crate::reader::tree::{self, Branch, Node, Nodes, Tree};
use crate::reader::turns;
use crate::reader::{
    Element, Keep as _, Kept, ListReader, Notes, Roster, Times, Wire as _, best, has, id, list, present,
    text, wire,
};
use crate::source::{About, NO_TEXT_ARGUMENTS, Source};
use blocks::Turn;

const ID: &str = "claude-export";

/// The source `claude-export`.
#[derive(Debug)]
pub struct ClaudeExport;

static ABOUT: About = About {
    id: ID,
    title: "Claude.ai export",
    specification: "the account export of Claude.ai, 2024 to 2026, as its files are",
    shapes: &["list", "tree"],
    carries: "branches, roles, text, thoughts, tool calls and results, attachments with their text, files by name, times",
    customs: NO_TEXT_ARGUMENTS,
};

impl Source for ClaudeExport {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        best(sketch, recognise)
    }

    fn passes_over(&self, sketch: &Sketch) -> Option<&'static str> {
        let mut records = sketch.records.iter();
        records.any(is_beside).then_some("Claude.ai account file")
    }

    fn message_path(&self, index: u32) -> Option<String> {
        Some(format!("$.chat_messages[{index}]"))
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        Reading::stored(ABOUT.customs, read(*frame, limits))
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let is_chat =
        has(record, "chat_messages") && (has(record, "uuid") || record.names("chat_messages[].sender"));
    if is_chat {
        return Some((98, "records have chat_messages".to_owned()));
    }
    is_beside(record).then(|| {
        (
            98,
            "records are what a Claude.ai export says beside its chats".to_owned(),
        )
    })
}

/// Whether a record stands in a file of the export that holds no conversation.
fn is_beside(record: &RecordSketch) -> bool {
    let has_all = |names: &[&str]| names.iter().all(|name| has(record, name));
    has_all(&["uuid", "full_name", "email_address"])
        || has_all(&["uuid", "is_starter_project"])
        || has_all(&["conversations_memory"])
}

wire! {
    /// A message.
    Wire {
        uuid: "uuid",
        text: "text",
        content: "content",
        sender: "sender",
        created_at: "created_at",
        updated_at: "updated_at",
        attachments: "attachments",
        files: "files",
        files_v2: "files_v2",
        parent: "parent_message_uuid",
        index: "index",
    }
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    if root.kind() != Kind::Object {
        return Err(frame.fault(&codes::WRONG_TYPE, "the record is not an object", "$", root));
    }
    let messages = list::named(frame, "chat_messages", "messages", limits)?;
    let values: Vec<Value<'_>> = messages.items().collect();
    let mut notes = Notes::new(frame.start);
    notes.repeated_keys(root, "$", |key| ["uuid", "name", "chat_messages"].contains(&key));
    let entries = entries(&values);
    let tree = Tree::of(&entries, &mut notes);
    let visible = visible(root, &entries, &mut notes);
    let asks = |at: usize| {
        let sender = values.get(at).and_then(|value| value.get("sender"));
        matches!(text(sender).as_deref(), Some("human" | "user"))
    };
    let branches = tree::branches(
        &entries,
        &tree,
        visible,
        frame.options.branches,
        limits,
        asks,
        &mut notes,
    );
    let record = Nodes {
        values: &values,
        entries: &entries,
    };
    let read = |branch: &Branch, number| of_branch(frame, limits, record, branch, number);
    Ok(tree::read(&branches, notes, record, read))
}

/// The messages with what stands above them: where they do not say, it is the message before.
fn entries(values: &[Value<'_>]) -> Vec<Node> {
    let own = |index: usize, value: &Value<'_>| {
        let named = present(*value, "uuid").and_then(id);
        named.unwrap_or_else(|| format!("#{index}"))
    };
    let mut ids: Vec<String> = Vec::with_capacity(values.len());
    let mut taken: HashMap<String, u32> = HashMap::new();
    for (index, value) in values.iter().enumerate() {
        let id = own(index, value);
        let times = taken.entry(id.clone()).or_default();
        *times += 1;
        // A message that is there twice stands below its first copy.
        ids.push(if *times > 1 { format!("{id}#{index}") } else { id });
    }
    let node = |(index, value): (usize, &Value<'_>)| {
        let before = || index.checked_sub(1).and_then(|before| ids.get(before)).cloned();
        let own_id = ids.get(index).cloned().unwrap_or_default();
        let is_copy = own_id != own(index, value);
        let parent = match value.get("parent_message_uuid") {
            _ if is_copy => before(),
            None => before(),
            Some(parent) => id(parent).filter(|parent| !parent.starts_with("00000000-0000-")),
        };
        Node {
            id: own_id,
            parent,
            span: value.span(),
            path: format!("$.chat_messages[{index}]"),
        }
    };
    values.iter().enumerate().map(node).collect()
}

/// The message that people saw last: the one that the record names, else the last.
fn visible(root: Value<'_>, entries: &[Node], notes: &mut Notes) -> Option<usize> {
    let named = present(root, "current_leaf_message_uuid");
    let id = named.and_then(id);
    let found = id.and_then(|id| entries.iter().position(|node| node.id == id));
    if let (Some(named), None) = (named, found) {
        let text =
            "current_leaf_message_uuid names no message of the record: the branch of the last one is read";
        let finding = Finding::new(&codes::BROKEN_TREE, text);
        notes.push(finding.at_path("$.current_leaf_message_uuid"), Some(named));
    }
    found.or_else(|| entries.len().checked_sub(1))
}

fn of_branch<'d>(
    frame: FrameView<'d>,
    limits: &Limits,
    nodes: Nodes<'_, 'd>,
    branch: &Branch,
    number: Option<u32>,
) -> Reading {
    let root = frame.root();
    let mut reader = Reader {
        list: ListReader::new(frame, limits),
        roster: Roster::default(),
        times: Times::new(frame.options),
    };
    let shared = branch::read(&mut reader, nodes, branch, REGENERATED);
    let mut extra = Kept::new();
    let known = ["chat_messages", "name", "uuid", "current_leaf_message_uuid"];
    extra.keep_rest(root, "", &known);
    extra.retain(|(_, raw)| !["[]", "{}", "\"\""].contains(&raw.as_str()));
    let names_parent = |value: &Value<'_>| value.get("parent_message_uuid").is_some();
    // Where nobody names a parent, there is one branch.
    let is_tree = number.is_some() || nodes.values.iter().any(names_parent);
    let mut conversation = Conversation {
        source: ID,
        source_id: present(root, "uuid").and_then(id),
        shape: if is_tree { "tree" } else { "list" },
        scene: Scene::Assistant,
        title: text(root.get("name")).filter(|name| !name.is_empty()),
        extra: Extra(extra),
        ..Conversation::default()
    };
    branch::mark(&mut conversation, (branch, nodes.entries), shared, number);
    reader.times.finish(&mut reader.list.notes);
    reader.list.finish(Conversation {
        participants: reader.roster.participants,
        ..conversation
    })
}

struct Reader<'d, 'r> {
    list: ListReader<'d, 'r>,
    roster: Roster,
    times: Times,
}

impl<'d, 'r> NodeReader<'d, 'r> for Reader<'d, 'r> {
    fn list(&mut self) -> &mut ListReader<'d, 'r> {
        &mut self.list
    }

    fn node(&mut self, value: Value<'d>, node: &Node, at: usize) {
        let path = || node.path.clone();
        if let Some(wire) = self.list.element(Element::Message, path, value, Wire::read) {
            self.message(value, &wire.without_nulls(), node, at as u32);
        }
    }
}

impl<'d> Reader<'d, '_> {
    fn message(&mut self, value: Value<'d>, wire: &Wire<'d>, node: &Node, index: u32) {
        let word = text(wire.sender);
        let role = match word.as_deref() {
            Some("human" | "user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => {
                let text = "sender is neither human nor assistant: the message is rejected";
                let code = if wire.sender.is_some() {
                    &codes::WRONG_TYPE
                } else {
                    &codes::MISSING_FIELD
                };
                let finding = Finding::new(code, text).at_path(format!("{}.sender", node.path));
                self.list.reject(value.span(), finding);
                return;
            }
        };
        let own = wire.uuid.and_then(id);
        let mut site = self.list.site(own.as_deref(), value);
        let timestamp = self.times.read(wire.created_at, "created_at", &mut site);
        let mut turn = Turn::read(wire, &mut site);
        let is_edited = wire.updated_at.and_then(Value::as_str) != wire.created_at.and_then(Value::as_str);
        if is_edited {
            turn.extra.keep_some("updated_at", wire.updated_at);
        }
        for (key, value) in &wire.others {
            if !value.is_null() {
                turn.extra.keep(key.clone().into_owned(), *value);
            }
        }
        let sender = self.roster.named(role, None);
        let mut extra = Some(turn.extra);
        for (number, (role, parts)) in turns::divided(role, turn.parts).into_iter().enumerate() {
            // A further piece of the message counts as a row of its own.
            self.list.rows.rows += u64::from(number > 0);
            let message = Message {
                id: own.clone().filter(|_| number == 0),
                sender: Some(sender),
                timestamp: timestamp.clone(),
                parts,
                extra: Extra(extra.take().unwrap_or_default()),
                ..self.list.message(role, value.span(), index)
            };
            self.list.push(message);
        }
    }
}
