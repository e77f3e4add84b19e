//! Conversation trees of `OpenAssistant`: a tree in a line, threads, or a table of messages that name their
//! parents.
//!
//! The smallest example, a tree:
//!
//! ```json
//! {"message_tree_id": "t", "prompt": {"message_id": "t", "role": "prompter", "text": "Is it open?", "replies": [
//!   {"message_id": "a", "parent_id": "t", "role": "assistant", "rank": 0, "text": "Until four."}]}}
//! ```
//!
//! A line that is a message belongs to the tree that `message_tree_id` names; one that nests its `replies` is a
//! separate tree. A thread is a list of messages, and threads with the same prompt are one tree. Messages of a tree
//! may be anywhere in an input, as in the tables of OASST1 and OASST2.
//!
//! People wrote several answers to one prompt and ranked them: the conversation follows the best (not
//! deleted, not refused in review, the lowest rank, the first), and the others become alternatives with their
//! ranks ([`tree`]). An answer that was deleted or refused in review has the weight 0: it is included, but
//! not trained on.

use std::cell::Cell;
use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{
    AlternativeOrigin, Conversation, Extra, FormatTraits, Judgement, Message, Part, Role, Scene, Score,
    Weight,
};

use crate::base::{ExtraFields, Keep as _, Notes, Wire as _, id, items, present, repeats, text, wire};
use crate::frame::{FrameView, Reading, Row};
use crate::layout::tree::{Node, Nodes, Tree};
use crate::layout::{Element, ListReader, Turns, best, has, tree::branch::NodeReader};
use crate::rust_format::{Read, RustFormat};
use crate::source::About;

static ABOUT: About = About {
    id: "oasst",
    title: "OpenAssistant trees",
    specification: "the exports of OpenAssistant and the data sets OASST1 and OASST2",
    verified: "2026-11",
    shapes: &["tree", "messages"],
    carries: "branches, ranked answers, roles, who wrote what, text, models, reviews and labels as extra fields, times",
    traits: FormatTraits::USUAL,
};

/// The source `oasst`.
pub static OASST: RustFormat = RustFormat {
    has_scattered_messages: true,
    rows: Some(rows),
    can_merge: true,
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Stored(read))
};

fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    // Threads with the same first message are one tree.
    let first = root.items().next();
    let own = || first.and_then(|first| present(first, "message_id").and_then(id));
    let key = || first.and_then(tree_id).or_else(own);
    match root.kind() {
        Kind::Object => Row::cut(root, tree_id),
        Kind::Array => {
            let key = key();
            Row::cut(root, |_| key.clone())
        }
        _ => None,
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let is_tree = has(record, "prompt") && record.names("prompt.message_id") && record.names("prompt.text");
    if is_tree {
        return Some((98, "records have a prompt with its replies".to_owned()));
    }
    let is_message = |below: &str| {
        let all = ["message_id", "parent_id", "role", "text"];
        all.iter().all(|key| record.names(&format!("{below}{key}")))
    };
    (is_message("") || is_message("[]."))
        .then(|| (96, "messages name their parent and their role".to_owned()))
}

/// The id of the tree that a line belongs to; `None` if the line names none. A message that nests its replies is a
/// separate tree.
fn tree_id(row: Value<'_>) -> Option<String> {
    let named = present(row, "message_tree_id");
    let own = || present(row, "message_id").filter(|_| row.get("replies").is_some());
    let of_prompt = || present(row, "prompt").and_then(|prompt| prompt.get("message_id"));
    named.or_else(own).or_else(of_prompt).and_then(id)
}

wire! {
    /// A message.
    Wire {
        id: "message_id",
        parent: "parent_id",
        tree: "message_tree_id",
        text: "text",
        role: "role",
        user: "user_id",
        created: "created_date",
        model: "model_name",
        rank: "rank",
        replies: "replies",
    }
}

/// The messages of a tree in the order of the record, each once.
#[derive(Default)]
struct Collected<'d> {
    values: Vec<Value<'d>>,
    entries: Vec<Node>,
    places: HashMap<String, usize>,
    /// The texts of messages that occur more than once, by position.
    texts: HashMap<usize, Option<String>>,
    /// The number of rows that repeat an earlier message.
    repeated: u64,
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    let mut notes = Notes::new(frame.start);
    let (collected, shape) = collect(frame, &mut notes)?;
    let entries = &collected.entries;
    let first = |node: &&Node| node.parent.is_none();
    let nameless = |value: &&Value<'_>| present(**value, "message_tree_id").is_none();
    if entries.iter().filter(first).count() > 1 && collected.values.iter().any(|value| nameless(&value)) {
        let text =
            "several messages begin a conversation, and message_tree_id does not distinguish their trees";
        return Err(frame.error(&codes::MISSING_FIELD, text, "$", root));
    }
    frame.bound(("the tree", entries.len(), "messages"), "$", root, limits)?;
    let values = &collected.values;
    let mut tree = Tree::of(entries, &mut notes);
    tree.prefer(values.iter().map(|value| preference(*value)).collect());
    let record = Nodes {
        values,
        entries,
        tree: &tree,
        visible: tree.best_end(entries),
    };
    let assessed = |at: usize| {
        let value = values.get(at).copied();
        Judgement {
            rank: value.and_then(rank),
            score: value.and_then(quality),
            label: None,
        }
    };
    let read = Cell::new(0);
    let mut reading = record.conversations(
        notes,
        (frame.options.branches, limits),
        (AlternativeOrigin::Choice, &assessed),
        |value| role(value) == Some(Role::User),
        |_| ReplyReader(Turns::new(frame, limits)),
        |reader, branch| {
            read.set(read.get() + branch.nodes().count() - branch.shared);
            let first = branch.path.first().and_then(|at| entries.get(*at));
            finish(reader, shape, first)
        },
    );
    // Messages further down in branches that are not read are counted in the ledger as well.
    let unread = entries.len().saturating_sub(read.get()) as u64;
    reading.rows.rows += unread + collected.repeated;
    reading.rows.merged += unread;
    reading.rows.repeated += collected.repeated;
    Ok(reading)
}

/// Collects the messages of all rows, including nested ones.
fn collect<'d>(
    frame: FrameView<'d>,
    notes: &mut Notes,
) -> Result<(Collected<'d>, &'static str), Box<Finding>> {
    let root = frame.root();
    let mut collected = Collected::default();
    let mut shape = "messages";
    for (path, row) in frame.rows() {
        if let Some(prompt) = present(row, "prompt") {
            shape = "tree";
            collected.add(format!("{path}.prompt"), prompt, None, notes);
        } else {
            collected.add(path, row, None, notes);
        }
    }
    if collected.entries.is_empty() {
        return Err(frame.error(&codes::WRONG_TYPE, "the record holds no messages", "$", root));
    }
    Ok((collected, shape))
}

impl<'d> Collected<'d> {
    /// Adds a message and those nested in it, each before its children.
    fn add(&mut self, path: String, message: Value<'d>, parent: Option<String>, notes: &mut Notes) {
        let mut waiting = vec![(path, message, parent)];
        while let Some((path, message, above)) = waiting.pop() {
            let own = present(message, "message_id").and_then(id);
            let named = || present(message, "parent_id").and_then(id);
            let parent = above.or_else(named);
            let id = own.unwrap_or_else(|| path.clone());
            let replies = items(message, "replies");
            let below = replies
                .enumerate()
                .map(|(at, reply)| (format!("{path}.replies[{at}]"), reply, Some(id.clone())));
            let below: Vec<_> = below.collect();
            waiting.extend(below.into_iter().rev());
            let next = self.entries.len();
            let at = *self.places.entry(id.clone()).or_insert(next);
            if let Some(known) = self.values.get(at) {
                self.repeated += 1;
                repeats(message, *known);
                let content = self.texts.entry(at).or_insert_with(|| text(known.get("text")));
                if *content != text(message.get("text")) {
                    let text = "duplicate message with another text: the first is read";
                    let finding = Finding::new(&codes::DIFFERING_ROW, text);
                    notes.push(finding.at_path(path), Some(message));
                }
                continue;
            }
            self.values.push(message);
            let span = message.get("text").unwrap_or(message).span();
            self.entries.push(Node {
                id,
                parent,
                answers: None,
                span,
                path,
            });
        }
    }
}

/// The preference for a message among its siblings: the higher, the better.
fn preference(message: Value<'_>) -> u64 {
    let is_shown = u64::from(!is_deleted(message));
    let is_accepted = u64::from(!is_refused(message));
    let rank = rank(message)
        .unwrap_or(u64::from(u32::MAX))
        .min(u64::from(u32::MAX));
    (is_shown << 40) | (is_accepted << 39) | (u64::from(u32::MAX) - rank)
}

fn is_deleted(message: Value<'_>) -> bool {
    message.get("deleted").and_then(Value::as_bool) == Some(true)
}

fn is_refused(message: Value<'_>) -> bool {
    message.get("review_result").and_then(Value::as_bool) == Some(false)
}

fn rank(message: Value<'_>) -> Option<u64> {
    let number = message.get("rank")?.number_text()?;
    // Tables write ranks as numbers with a fraction.
    number.strip_suffix(".0").unwrap_or(number).parse().ok()
}

fn role(message: Value<'_>) -> Option<Role> {
    match text(message.get("role")).as_deref() {
        Some("prompter" | "user") => Some(Role::User),
        Some("assistant") => Some(Role::Assistant),
        Some("system") => Some(Role::System),
        _ => None,
    }
}

/// The quality of an answer as rated by people, from 0 to 1: the label `quality`, which is an object or a
/// position in lists.
fn quality(message: Value<'_>) -> Option<Score> {
    let labels = present(message, "labels")?;
    let value = if let Some(quality) = labels.get("quality") {
        quality.get("value")?
    } else {
        let mut names = labels.get("name")?.items();
        let at = names.position(|name| text(Some(name)).as_deref() == Some("quality"))?;
        labels.get("value")?.items().nth(at)?
    };
    Score::new(value.number_text()?.parse().ok()?)
}

/// The conversation of a branch that was read.
fn finish(reader: ReplyReader<'_, '_>, shape: &'static str, first: Option<&Node>) -> Reading {
    let frame = reader.0.list.frame;
    let row = match frame.root() {
        root if root.kind() == Kind::Array => root.items().next(),
        root => Some(root),
    };
    let mut extra = Extra::default();
    if let Some(state) = row.and_then(|row| text(row.get("tree_state"))) {
        extra.keep_text("tree_state", &state);
    }
    let of_first = || first.map(|first| first.id.clone());
    reader.0.finish(Conversation {
        source_id: frame.key.map(str::to_owned).or_else(of_first),
        shape,
        scene: Scene::Assistant,
        extra,
        ..Conversation::default()
    })
}

struct ReplyReader<'d, 'r>(Turns<'d, 'r>);

impl<'d, 'r> NodeReader<'d, 'r> for ReplyReader<'d, 'r> {
    fn list(&mut self) -> &mut ListReader<'d, 'r> {
        &mut self.0.list
    }

    fn node(&mut self, value: Value<'d>, node: &Node, _at: usize) {
        let path = || node.path.clone();
        if let Some(wire) = self.0.list.element(Element::Message, path, value, Wire::read) {
            self.message(value, &wire.without_nulls(), node);
        }
    }
}

impl<'d> ReplyReader<'d, '_> {
    fn message(&mut self, value: Value<'d>, wire: &Wire<'d>, node: &Node) {
        let Some(role) = role(value) else {
            let text = "role is neither prompter nor assistant: the message is rejected";
            let code = if wire.role.is_some() {
                &codes::WRONG_TYPE
            } else {
                &codes::MISSING_FIELD
            };
            let finding = Finding::new(code, text).at_path(format!("{}.role", node.path));
            self.0.list.reject(value.span(), finding);
            return;
        };
        let own = wire.id.and_then(id);
        let mut site = self.0.list.site(own.as_deref(), value);
        let timestamp = self.0.times.read(wire.created, "created_date", &mut site);
        let content = match wire.text {
            Some(content) if content.as_str().is_none() => {
                site.warn(
                    "text",
                    "text is not a string and is read as its JSON text",
                    content,
                );
                Some(crate::base::text_of(content))
            }
            content => text(content),
        };
        if own.is_none() {
            site.empty("message_id");
        }
        if content.is_none() {
            site.missing("text");
        }
        let mut extra = ExtraFields::new();
        extra.keep_some("rank", wire.rank);
        for (key, other) in &wire.others {
            let is_empty_value = other.is_null() || ["[]", "{}"].contains(&other.written());
            if !is_empty_value && key != "tree_state" {
                extra.keep(key.clone().into_owned(), *other);
            }
        }
        let sender = match wire.user.and_then(id) {
            Some(user) => self.0.roster.of(role, &user, None),
            None => self.0.roster.named(role, None),
        };
        let is_bad = is_deleted(value) || is_refused(value);
        self.0.list.push(Message {
            id: own,
            sender: Some(sender),
            timestamp,
            parts: content.map(Part::Text).into_iter().collect(),
            weight: Weight::new(0.0).filter(|_| is_bad && role == Role::Assistant),
            model: text(wire.model).map(Into::into),
            extra: Extra(extra),
            ..self.0.list.message(role, value.span(), 0)
        });
    }
}
