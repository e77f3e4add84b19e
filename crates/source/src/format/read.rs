//! Reading a record by a format file. `file.rs` passes a frame to [`read`], and gets a reading with all conversations of the record and
//! their messages.

mod attachments;
mod nested;

use std::collections::{HashMap, HashSet};

use chatmill_diag::{Finding, Limits, codes, cut};
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{Conversation, Extra, Part, Role, Scene};

use super::language::budget::Budget;
use super::language::condition::{Chosen, chosen};
use super::language::path::{MapPath, Paths};
use super::language::{ConversationMap, SceneWord, TreeMap};
use super::loaded::Loaded;
use super::message::Reader;
use super::order::{Entry, entries, growing, ordered, parent_of};
use super::tree_messages::TreeMessages;
use crate::base::{ExtraFields, Keep as _, Notes, holds_something, id, those_of};
use crate::frame::{FrameView, Reading};
use crate::grammar::list_of_tools;
use crate::layout::tree::{Node, Nodes, Tree};
use crate::layout::{OUTSIDE_LISTS, list, preference::thumbs, tree::branch::REGENERATED};

/// The structure of a record if its format names none.
const SHAPE: &str = "session";

/// Reads a record, or grouped rows.
pub(super) fn read(
    format: &'static Loaded,
    frame: FrameView<'_>,
    limits: &Limits,
) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    let map = &format.language.conversation;
    if format.is_row(root) && !format.is_map {
        return super::rows::read(format, frame, limits);
    }
    if map.join {
        return joined(format, frame, limits, &frame.rows());
    }
    if root.kind() != Kind::Object && !format.is_map {
        return Err(frame.error(&codes::WRONG_TYPE, "the record is not an object", "$", root));
    }
    if map.alone {
        let budget = Budget::of(root);
        let mut reader = Reader::new(format, frame, limits, &budget);
        reader.conversation = map.id.id(root).or(reader.conversation);
        reader.before(root);
        reader.message(0, root, || "$".to_owned());
        return budget.bounded(frame, root, reader.finish(&[root]));
    }
    if !map.inside.0.is_empty() {
        return nested::read(format, frame, limits);
    }
    if map.each.0.is_empty() {
        return one(format, frame, limits, (root, "$".to_owned()));
    }
    several(format, frame, limits)
}

/// Reads the conversations of a record with several.
fn several(format: &'static Loaded, frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    let paths = &format.language.conversation.each.0;
    let chats_at = |path: &MapPath| -> Vec<(String, Value<'_>)> {
        let place = |at| {
            if path.is_root() {
                "$".to_owned()
            } else {
                format!("{}[{at}]", path.list())
            }
        };
        let found = path.find(root).into_iter().enumerate();
        found.map(|(at, chat)| (place(at), chat)).collect()
    };
    let mut chats = paths.iter().map(chats_at);
    let chats = chats.find(|chats| !chats.is_empty()).unwrap_or_default();
    let none = || {
        let path = paths.first().map_or("$", MapPath::as_str);
        frame.error(
            &codes::MISSING_FIELD,
            "the record holds no conversation",
            path,
            root,
        )
    };
    let read = |(path, record)| (one(format, frame, limits, (record, path)), record);
    Reading::of_several(frame, chats.into_iter().map(read), limits, none)
}

/// Reads the conversation at a path of a record.
fn one<'d>(
    format: &'static Loaded,
    frame: FrameView<'d>,
    limits: &Limits,
    (record, path): (Value<'d>, String),
) -> Result<Reading, Box<Finding>> {
    let one = One {
        format,
        frame,
        limits,
        record,
        path,
        budget: Budget::of(record),
    };
    one.read()
}

/// A conversation with a list of its messages.
struct One<'d, 'r> {
    format: &'static Loaded,
    frame: FrameView<'d>,
    limits: &'r Limits,
    record: Value<'d>,
    /// The path of the conversation in the record.
    path: String,
    budget: Budget,
}

impl<'d> One<'d, '_> {
    fn read(&self) -> Result<Reading, Box<Finding>> {
        self.budget.bounded(self.frame, self.record, self.reading()?)
    }

    fn reading(&self) -> Result<Reading, Box<Finding>> {
        if self.format.is_map {
            return self.mapped();
        }
        let (list, path) = self.list()?;
        let values: Vec<Value<'d>> = MapPath::elements(list);
        let language = self.format.language;
        let copies = language.conversation.again.0.iter();
        let copies = copies.filter_map(|path| path.first(self.record));
        super::tree_messages::mark_copies(copies, &values, |message| language.message.id.id(message));
        let mut notes = Notes::new(self.frame.start);
        let known = language.conversation.keys();
        notes.repeated_keys(self.record, &self.path, |key| known.contains(&key));
        if let Some(map) = &language.tree {
            let all = TreeMessages::of(map, values, &path, &self.budget);
            let count = ("the conversation", all.values.len(), "messages");
            self.frame.bound(count, path, list, self.limits)?;
            return Ok(self.tree(map, &all, notes));
        }
        let mut reader = self.reader();
        counted(
            &language.conversation,
            self.record,
            values.len(),
            &self.path,
            &mut notes,
        );
        reader.before(self.record);
        reader.instructions(values.iter().copied());
        for entry in ordered(&language.conversation, entries(self.format, (0..).zip(values))) {
            reader.entry(&entry, entry.index, || format!("{path}[{}]", entry.index));
        }
        reader.turns.list.notes.findings.append(&mut notes.findings);
        Ok(reader.finish(&[self.record]))
    }

    /// Reads every value at the path of a field map: the elements of each list, and other values unchanged.
    fn mapped(&self) -> Result<Reading, Box<Finding>> {
        let error = |code, text| Err(self.frame.error(code, text, "$", self.record));
        let paths = &self.format.language.conversation.messages.0;
        let found: Vec<Value<'d>> = paths.iter().flat_map(|path| path.find(self.record)).collect();
        if found.is_empty() {
            let path = paths.first().map_or("$", MapPath::as_str);
            let text = format!("messages = \"{path}\" of the field map matches nothing in the record");
            return error(&codes::MISSING_FIELD, text);
        }
        for list in &found {
            let count = ("the conversation", list.len(), "messages");
            self.frame.bound(count, "$", self.record, self.limits)?;
        }
        let messages = found.into_iter().flat_map(|value| match value.kind() {
            Kind::Array => value.items().collect(),
            _ => vec![value],
        });
        let mut reader = self.reader();
        for (index, message) in (0..).zip(messages) {
            // Marks the id as read: its value was taken in another scan of the same bytes.
            self.format.language.message.conversation.id(message);
            reader.message(index, message, String::new);
        }
        Ok(reader.finish(&[self.record]))
    }

    fn reader(&self) -> Reader<'d, '_> {
        let mut reader = Reader::new(self.format, self.frame, self.limits, &self.budget);
        let id = self.format.language.conversation.id.id(self.record);
        reader.conversation = id.or(reader.conversation);
        reader
    }

    /// The list of messages and its path, or the error for which the conversation is rejected.
    fn list(&self) -> Result<(Value<'d>, String), Box<Finding>> {
        let paths: Vec<&MapPath> = self.format.language.conversation.lists().collect();
        let first = paths.first().copied();
        let name = first.map_or("", MapPath::name);
        let name = name.trim_end_matches("[]");
        if let (true, [path]) = (self.path == "$", paths.as_slice())
            && let ([key], true) = (path.keys().0.as_slice(), path.keys().1)
            && !self.format.meaningless_keys.is_map(key)
        {
            return list::named(self.frame, name, "messages", self.limits)
                .map(|list| (list, format!("$.{name}")));
        }
        let at = |path: &MapPath| format!("{}{}", self.path, path.list().trim_start_matches('$'));
        let found = paths
            .iter()
            .find_map(|path| Some((path.list_in(self.record)?, at(path))));
        let error = |code, text: String, path: String, value| Err(self.frame.error(code, text, path, value));
        let Some((list, path)) = found else {
            let place = first.map_or_else(|| self.path.clone(), at);
            return error(
                &codes::MISSING_FIELD,
                format!("the conversation has no {name}"),
                place,
                self.record,
            );
        };
        if !matches!(list.kind(), Kind::Array | Kind::Object) {
            return error(&codes::WRONG_TYPE, format!("{name} is not a list"), path, list);
        }
        let count = ("the conversation", list.len(), "messages");
        self.frame.bound(count, path.as_str(), list, self.limits)?;
        Ok((list, path))
    }

    /// Reads the branches of a tree.
    fn tree(&self, map: &TreeMap, all: &TreeMessages<'d>, mut notes: Notes) -> Reading {
        let entries = self.entries(map, all);
        let tree = Tree::of(&entries, &mut notes);
        let record = Nodes {
            values: &all.values,
            entries: &entries,
            tree: &tree,
            visible: visible(map, self.record, &entries, &mut notes),
        };
        record.conversations(
            notes,
            (self.frame.options.branches, self.limits),
            REGENERATED,
            |value| super::message::is_of_user(self.format.message(value), value),
            |_| {
                let mut reader = self.reader();
                reader.before(self.record);
                reader
            },
            |reader, _| reader.finish(&[self.record]),
        )
    }

    /// The messages with their parents: the message before, if none is given.
    fn entries(&self, map: &TreeMap, all: &TreeMessages<'d>) -> Vec<Node> {
        let values = &all.values;
        let message = &self.format.language.message;
        let own =
            |index: usize, value: &Value<'_>| message.id.id(*value).unwrap_or_else(|| format!("#{index}"));
        let mut ids: Vec<String> = Vec::with_capacity(values.len());
        let mut taken: HashMap<String, u32> = HashMap::new();
        for (index, value) in values.iter().enumerate() {
            let id = own(index, value);
            let times = taken.entry(id.clone()).or_default();
            *times += 1;
            // A repeated message is a child of its first copy.
            ids.push(if *times > 1 { format!("{id}#{index}") } else { id });
        }
        let above: Vec<Option<String>> = std::iter::once(None)
            .chain(ids.iter().cloned().map(Some))
            .collect();
        let holder = |at: &Option<usize>| {
            let id = at.and_then(|at| ids.get(at))?;
            self.budget.take(id.len()).then(|| id.clone())
        };
        let holders: Vec<Option<String>> = all.places.iter().map(|(_, at)| holder(at)).collect();
        let places = all.places.iter().map(|(path, _)| path).zip(holders);
        let nodes = (0..).zip(values).zip(ids).zip(above).zip(places);
        nodes
            .map(|((((index, value), own_id), before), (path, holder))| {
                let is_copy = own_id != own(index, value);
                let parent = match parent_of(map, *value) {
                    _ if is_copy => before,
                    _ if holder.is_some() => holder,
                    None if map.below.is_some() => None,
                    None => before,
                    Some(parent) => map.named(parent),
                };
                Node {
                    id: own_id,
                    parent,
                    answers: self.format.message(*value).answers(*value),
                    span: value.span(),
                    path: path.clone(),
                }
            })
            .collect()
    }
}

/// The message that people saw last: the one that the record names, else the last one.
fn visible(map: &TreeMap, record: Value<'_>, entries: &[Node], notes: &mut Notes) -> Option<usize> {
    let named = map
        .visible
        .0
        .iter()
        .find_map(|path| Some((path, path.first(record)?)));
    let place = named
        .and_then(|(_, value)| id(value))
        .and_then(|id| entries.iter().position(|node| node.id == id));
    if let (Some((path, value)), None) = (named, place) {
        let text = format!(
            "{} names no message of the record: the branch of the last one is read",
            path.name()
        );
        let finding = Finding::new(&codes::BROKEN_TREE, text);
        notes.push(finding.at_path(path.as_str()), Some(value));
    }
    place.or_else(|| entries.len().checked_sub(1))
}

/// Reads files with the same conversation.
fn joined(
    format: &'static Loaded,
    frame: FrameView<'_>,
    limits: &Limits,
    files: &[(String, Value<'_>)],
) -> Result<Reading, Box<Finding>> {
    let map = &format.language.conversation;
    let budget = Budget::of(frame.root());
    let mut reader = Reader::new(format, frame, limits, &budget);
    let mut notes = Notes::new(frame.start);
    let mut found: Vec<(u32, Entry<'_>)> = Vec::new();
    let mut lists: Vec<String> = Vec::with_capacity(files.len());
    for (number, (path, file)) in (0..).zip(files) {
        let list = map
            .messages
            .0
            .iter()
            .find_map(|path| Some((path, path.list_in(*file)?)));
        let list = list.filter(|(_, list)| list.kind() == Kind::Array);
        let Some((list_path, list)) = list else {
            let text = "the record has no list of messages";
            let place = map.messages.0.first().map_or("", |path| path.as_str());
            let place = format!("{path}{}", place.trim_start_matches('$').trim_end_matches("[*]"));
            return Err(frame.error(&codes::MISSING_FIELD, text, place, *file));
        };
        reader.conversation = reader.conversation.take().or_else(|| map.id.id(*file));
        counted(map, *file, list.len(), path, &mut notes);
        lists.push(format!("{path}{}", list_path.list().trim_start_matches('$')));
        let messages = entries(format, (0..).zip(list.items()));
        found.extend(messages.into_iter().map(|entry| (number, entry)));
    }
    frame.bound(
        ("the channel", found.len(), "messages"),
        "$",
        frame.root(),
        limits,
    )?;
    for (_, file) in files {
        reader.before(*file);
    }
    if map.reversed {
        found.reverse();
    }
    if files.len() > 1 && !map.order.0.is_empty() {
        // The sort is stable: messages without ids stay in front.
        found.sort_by_cached_key(|(_, entry)| growing(map.order.first(entry.value)));
    }
    for (number, entry) in found {
        let path = || format!("{}[{}]", cut::at(&lists, number as usize), entry.index);
        reader.entry(&entry, number, path);
    }
    reader.turns.list.notes.findings.append(&mut notes.findings);
    let records: Vec<Value<'_>> = files.iter().map(|(_, file)| *file).collect();
    budget.bounded(frame, frame.root(), reader.finish(&records))
}

impl ConversationMap {
    /// The paths to lists of messages.
    fn lists(&self) -> impl Iterator<Item = &MapPath> {
        self.messages.0.iter().filter(|path| !path.is_root())
    }

    /// First keys of the fields that are read once.
    fn keys(&self) -> Vec<&str> {
        let paths = [&self.id, &self.title, &self.messages];
        let all = paths.into_iter().flat_map(|paths| &paths.0);
        all.filter_map(|path| path.keys().0.first().copied()).collect()
    }
}

/// Reports a file with more or fewer messages than it states.
fn counted(map: &ConversationMap, file: Value<'_>, messages: usize, path: &str, notes: &mut Notes) {
    let Some((count, stated)) = map
        .count
        .as_ref()
        .and_then(|count| Some((count, count.first(file)?)))
    else {
        return;
    };
    if stated.number_text() != Some(messages.to_string().as_str()) {
        let text = format!(
            "{} is {}, and the file holds {messages}",
            count.name(),
            stated.raw()
        );
        let finding = Finding::new(&codes::INCOMPLETE_EXPORT, text);
        let place = format!("{path}{}", count.as_str().trim_start_matches('$'));
        notes.push(finding.at_path(place), Some(stated));
    }
}

impl<'d> Reader<'d, '_> {
    /// Reads a message, with its index in the conversation's file or files; `path` is the path of the message in the list.
    pub(super) fn entry(&mut self, entry: &Entry<'d>, index: u32, path: impl Fn() -> String) {
        let above = entry.above.filter(|_| !self.read.budget.is_spent());
        self.above = above.and_then(|above| self.format.message(above).id.id(above));
        self.message(index, entry.value, || format!("{}{}", path(), entry.place));
    }

    /// Reads what precedes the messages: participants, and the system prompt.
    pub(super) fn before(&mut self, record: Value<'d>) {
        let map = &self.format.language.conversation;
        let read = self.read;
        if let Some(participants) = &map.people {
            for person in participants.each.find(record) {
                let name = participants.name.id(person).map(|name| read.decoded(name));
                match (participants.id.id(person), name) {
                    (Some(id), name) => _ = self.turns.roster.of(Role::User, &id, name.as_deref()),
                    (None, Some(name)) => _ = self.turns.roster.named(Role::User, Some(&name)),
                    (None, None) => {}
                }
            }
        }
        let instructions = map.system.render(record, read);
        let mut paths = map.system.0.iter().filter_map(|text| text.path()?.first(record));
        let place = paths.next_back();
        if !place.is_some_and(|place| self.repeats_system(record, place)) {
            self.system(instructions, place.unwrap_or(record));
        }
    }

    /// Whether the first message of a record is a system text that contains all of this text.
    fn repeats_system(&self, record: Value<'d>, text: Value<'d>) -> bool {
        let lists = self.format.language.conversation.messages.0.iter();
        let first = lists
            .filter_map(|path| path.list_in(record))
            .find_map(|list| list.items().next());
        let is_system = |message: &Value<'d>| {
            let mut words = message.fields().filter_map(|(_, field)| field.string());
            words.any(|word| word == "system")
        };
        let words = text.written().strip_prefix('"');
        let words = words.and_then(|words| words.strip_suffix('"'));
        let pair = first
            .filter(is_system)
            .zip(words.filter(|words| !words.is_empty()));
        pair.is_some_and(|(message, words)| message.written().contains(words))
    }

    /// Reads the system text that was sent with these messages: the last one applies to all.
    pub(super) fn instructions(&mut self, values: impl Iterator<Item = Value<'d>>) {
        let paths = &self.format.language.message.instructions;
        if paths.0.is_empty() {
            return;
        }
        let found = values.filter_map(|value| paths.first(value));
        let found: Vec<Value<'d>> = found.filter(|found| holds_something(*found)).collect();
        let Some(last) = found.last() else { return };
        for same in found.iter().filter(|found| found.written() == last.written()) {
            same.mark(Mark::Taken);
        }
        self.system(self.read.text(*last), *last);
    }

    /// Adds a system text from `place`.
    fn system(&mut self, instructions: String, place: Value<'d>) {
        // A resumed session repeats its system text.
        let last = self.turns.list.messages.last().map(|last| last.parts.as_slice());
        if instructions.is_empty() || matches!(last, Some([Part::Text(before)]) if *before == instructions) {
            return;
        }
        self.read.budget.take(instructions.len());
        self.turns.list.rows.rows += 1;
        let sender = self.turns.roster.named(Role::System, None);
        let message = self.turns.list.message(Role::System, place.span(), OUTSIDE_LISTS);
        self.turns.list.push(chatmill_model::Message {
            sender: Some(sender),
            parts: vec![Part::Text(instructions)],
            ..message
        });
    }

    /// The finished conversation of these records.
    pub(super) fn finish(mut self, records: &[Value<'d>]) -> Reading {
        let map = &self.format.language.conversation;
        for paid in &map.paid.0 {
            self.add_paid(paid, records);
        }
        let read = self.read;
        let limits = self.turns.list.limits;
        let first = |paths: &Paths| records.iter().find_map(|record| paths.id(*record));
        let text = |paths: &Paths| first(paths).map(|text| read.decoded(text));
        for paths in [&map.title, &map.description, &map.version, &map.model] {
            let mut found = records.iter().filter_map(|record| paths.first(*record));
            if let Some(own) = found.next() {
                let copies = found.filter(|copy| copy.written() == own.written());
                copies.for_each(|copy| copy.mark(Mark::Taken));
            }
        }
        let shape = records
            .iter()
            .find_map(|record| match chosen(&map.shape.0, *record)? {
                Chosen::Fixed(word) => Some(word),
                Chosen::Found(_) => None,
            });
        let shapes = self.format.about.shapes;
        let shape = shapes.iter().copied().find(|known| Some(*known) == shape);
        let tools = records
            .iter()
            .find_map(|record| list_of_tools(map.tools.first(*record)?, limits));
        let mut conversation = Conversation {
            source_id: self.conversation.take().filter(|id| !id.is_empty()),
            format_version: first(&map.version),
            shape: shape.or(shapes.last().copied()).unwrap_or(SHAPE),
            scene: match self.format.language.scene {
                SceneWord::Assistant => Scene::Assistant,
                SceneWord::GroupChat => Scene::GroupChat,
                SceneWord::Unknown => Scene::Unknown,
            },
            title: text(&map.title),
            description: text(&map.description),
            model: first(&map.model).map(Into::into),
            tools: tools.unwrap_or_default(),
            ..Conversation::default()
        };
        let mut extra = ExtraFields::new();
        let record = records.first().copied();
        let named_fields = record
            .into_iter()
            .flat_map(|record| map.keep.iter().map(move |path| (path, path.first(record))));
        for (path, value) in named_fields.filter_map(|(path, value)| Some((path, value?))) {
            if !read.budget.take(value.span().len()) {
                break;
            }
            keep_rest(&mut extra, value, path.name());
        }
        conversation.extra = Extra(extra);
        if let Some(found) = record.and_then(|record| map.attachments.first(record)) {
            attachments::resolve(&mut self.turns.list.messages, found, read.budget);
        }
        self.turns.times.finish(&mut self.turns.list.notes);
        self.turns.list.note_copies(self.copied);
        thumbs::apply(&mut self.turns.list, &self.thumbs, &mut HashSet::new());
        let mut participants = self.turns.roster.participants;
        if !map.about.0.is_empty() {
            participants = those_of(&mut self.turns.list.messages, &participants);
        }
        self.turns.list.finish(Conversation {
            participants,
            ..conversation
        })
    }
}

/// Keeps a value: as a whole, or the unread fields of an object.
fn keep_rest(extra: &mut ExtraFields, value: Value<'_>, path: &str) {
    if value.kind() != Kind::Object || !value.is_touched() {
        if holds_something(value) {
            extra.keep(path, value);
        }
        return;
    }
    let unread: Vec<_> = value.fields().filter(|(_, field)| !field.is_touched()).collect();
    for (key, field) in unread {
        if holds_something(field) {
            extra.keep(crate::base::below(path, &key), field);
        }
    }
}
