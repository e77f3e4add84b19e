//! Reading rows by a format file: each record is a message of one conversation, or describes the conversation.

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Mark, Value};

use super::language::budget::Budget;
use super::language::{Repeated, TreeMap};
use super::loaded::Loaded;
use super::message::{Reader, belongs, is_of_user};
use super::order::{entries, ordered, parent_of};
use crate::base::{Notes, id};
use crate::frame::{FrameView, Reading};
use crate::layout::tree::branch::{NodeReader, REGENERATED};
use crate::layout::tree::{Node, Nodes, Tree};
use crate::layout::{ListReader, list};

/// Rows by their index in the file.
type Indexed<'d> = Vec<(u32, Value<'d>)>;

/// Reads rows; each is a message or describes the conversation.
pub(super) fn read(
    format: &'static Loaded,
    frame: FrameView<'_>,
    limits: &Limits,
) -> Result<Reading, Box<Finding>> {
    let neither = "the line is JSON, but not an object";
    let all = list::rows(frame, "the conversation", None, neither, limits)?;
    if !all.is_empty() && all.iter().all(|row| row.kind() != Kind::Object) {
        return Err(frame.error(&codes::WRONG_TYPE, neither, "$", frame.root()));
    }
    let map = &format.language.conversation;
    let all = (0..).zip(all).collect();
    let (latest, replaced) = latest(format, all);
    let headers = latest.iter().filter(|(_, row)| format.is_header(*row));
    // The last value for the conversation is used.
    let headers: Vec<Value<'_>> = headers.rev().map(|(_, row)| *row).collect();
    for header in &headers {
        map.header.hold(*header);
    }
    let mut messages = latest.iter().filter(|(_, row)| !format.is_header(*row));
    let key = frame.key.map(str::to_owned).filter(|key| !key.is_empty());
    let key = key
        .or_else(|| headers.iter().rev().find_map(|header| map.id.id(*header)))
        .or_else(|| format.language.message.conversation.id(messages.next()?.1));
    let rows = RowTree {
        format,
        frame,
        limits,
        passed: headers.len() as u64 + replaced,
        headers,
        key,
        budget: Budget::of(frame.root()),
    };
    let reading = match &format.language.tree {
        Some(tree) => rows.tree(tree, latest),
        None => rows.line(latest),
    };
    rows.budget.bounded(frame, frame.root(), reading)
}

/// The latest version of each message, at the position of the first; and the number of earlier versions.
fn latest<'d>(format: &'static Loaded, rows: Indexed<'d>) -> (Indexed<'d>, u64) {
    if format.language.message.repeated != Some(Repeated::Replaces) {
        return (rows, 0);
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut latest: Indexed<'d> = Vec::with_capacity(rows.len());
    let mut replaced = 0;
    for (index, row) in rows {
        let is_header = format.is_header(row);
        let id = format.message(row).id.id(row).filter(|_| !is_header);
        let place = id.as_ref().and_then(|id| places.get(id).copied());
        if let Some(place) = place.and_then(|place| latest.get_mut(place)) {
            // What the later version has no field for stays unread.
            let again = place.1.fields().filter(|(key, _)| row.get(key).is_some());
            again.for_each(|(_, field)| field.mark(Mark::Taken));
            *place = (index, row);
            replaced += 1;
        } else {
            places.extend(id.map(|id| (id, latest.len())));
            latest.push((index, row));
        }
    }
    (latest, replaced)
}

/// The rows of one conversation.
struct RowTree<'d, 'r> {
    format: &'static Loaded,
    frame: FrameView<'d>,
    limits: &'r Limits,
    /// The rows that describe the conversation itself.
    headers: Vec<Value<'d>>,
    /// The number of rows that are no messages.
    passed: u64,
    key: Option<String>,
    budget: Budget,
}

impl<'d> RowTree<'d, '_> {
    /// Reads messages that follow one another.
    fn line(&self, rows: Indexed<'d>) -> Reading {
        let messages = rows.into_iter().filter(|(_, row)| !self.format.is_header(*row));
        let messages: Indexed<'d> = messages.collect();
        let mut reader = self.reader(self.passed);
        reader.instructions(messages.iter().map(|(_, row)| *row));
        for entry in ordered(&self.format.language.conversation, entries(self.format, messages)) {
            reader.entry(&entry, entry.index, || list::row_path(self.frame, entry.index));
        }
        let is_beside = reader.turns.list.messages.is_empty() && reader.turns.list.rejects.is_empty();
        let mut reading = reader.finish(&self.headers);
        if is_beside && !self.format.language.message.conversation.0.is_empty() {
            // A row about conversations that are not in this frame is no conversation itself.
            reading.conversation = None;
        }
        reading
    }

    fn reader(&self, passed: u64) -> Reader<'d, '_> {
        let mut reader = Reader::new(self.format, self.frame, self.limits, &self.budget);
        reader.conversation.clone_from(&self.key);
        reader.turns.list.rows.rows += passed;
        reader.turns.list.rows.merged += passed;
        for header in self.headers.iter().rev() {
            reader.before(*header);
        }
        reader
    }

    /// Reads messages that branch.
    fn tree(&self, map: &TreeMap, rows: Indexed<'d>) -> Reading {
        let all = rows.len();
        let grown = self.grown(map, rows);
        // Rows that are neither messages nor about the conversation are counted as skipped.
        let passed = self.passed + (all - grown.values.len() - self.headers.len()) as u64;
        let seen = self.headers.iter().find_map(|header| map.visible.id(*header));
        let place = |end: &String| grown.entries.iter().position(|node| node.id == *end);
        let visible = seen.as_ref().and_then(place);
        let visible = visible.or_else(|| grown.end.as_ref().and_then(place));
        let mut notes = Notes::new(self.frame.start);
        let tree = Tree::of(&grown.entries, &mut notes);
        let record = Nodes {
            values: &grown.values,
            entries: &grown.entries,
            tree: &tree,
            visible,
        };
        record.conversations(
            notes,
            (self.frame.options.branches, self.limits),
            REGENERATED,
            |row| is_of_user(self.format.message(row), row),
            |is_first| RowReader {
                reader: self.reader(if is_first { passed } else { 0 }),
                indices: &grown.indices,
            },
            |reader, _| reader.reader.finish(&self.headers),
        )
    }

    /// The parent of each message. If the parent's record is lost, the message before it is used instead; a record that is no message is skipped, so
    /// that its children become children of its parent.
    fn grown(&self, map: &TreeMap, rows: Indexed<'d>) -> Grown<'d> {
        let mut grown = Grown::default();
        // For each id the latest message with it, or the message above a record without text; `None` for the beginning.
        let mut latest: HashMap<String, Option<String>> = HashMap::new();
        // The parent of the first record with an id.
        let mut above: HashMap<String, Option<String>> = HashMap::new();
        let mut before: Option<String> = None;
        for (index, row) in rows {
            let message = self.format.message(row);
            let own = message.id.id(row).unwrap_or_else(|| format!("#{index}"));
            let copied = latest.get(&own).cloned();
            let back = map.back.as_ref().and_then(|path| path.first(row)).and_then(id);
            let parent = match (&back, &copied, parent_of(map, row)) {
                (Some(back), ..) => above.get(back).cloned().flatten(),
                (_, Some(copied), _) => copied.clone(),
                (.., None) => before.clone(),
                (.., Some(parent)) => map
                    .named(parent)
                    .and_then(|parent| latest.get(&parent).cloned().unwrap_or_else(|| before.clone())),
            };
            above.entry(own.clone()).or_insert_with(|| parent.clone());
            let is_header = self.format.is_header(row);
            if is_header || !belongs(message, row) {
                if !is_header {
                    row.mark(Mark::Taken);
                }
                if back.is_some() {
                    grown.end.clone_from(&parent);
                }
                latest.insert(own, parent.clone());
                before = parent;
                continue;
            }
            let id = if copied.is_some() {
                format!("{own}#{index}")
            } else {
                own.clone()
            };
            before = Some(id.clone());
            grown.end.clone_from(&before);
            latest.insert(own, before.clone());
            grown.indices.push(index);
            grown.values.push(row);
            grown.entries.push(Node {
                id,
                parent,
                answers: message.answers(row),
                span: row.span(),
                path: list::row_path(self.frame, index),
            });
        }
        grown
    }
}

/// Messages that branch.
#[derive(Default)]
struct Grown<'d> {
    entries: Vec<Node>,
    values: Vec<Value<'d>>,
    /// The index of each message in the file.
    indices: Vec<u32>,
    /// The id of the last message, or of the one that the conversation went back to.
    end: Option<String>,
}

/// Reads rows of a tree.
struct RowReader<'i, 'd, 'r> {
    reader: Reader<'d, 'r>,
    /// The index of each message in the file.
    indices: &'i [u32],
}

impl<'d, 'r> NodeReader<'d, 'r> for RowReader<'_, 'd, 'r> {
    fn list(&mut self) -> &mut ListReader<'d, 'r> {
        &mut self.reader.turns.list
    }

    fn node(&mut self, value: Value<'d>, node: &Node, at: usize) {
        let index = self.indices.get(at).copied().unwrap_or_default();
        self.reader.message(index, value, || node.path.clone());
    }
}
