//! The chronological order of a list's messages, including those nested in others.

use std::collections::HashSet;

use chatmill_intake::json::Value;

use super::language::path::InnerPath;
use super::language::{ConversationMap, TreeMap};
use super::loaded::Loaded;
use crate::base::id;

/// A message of a list, or one nested in it that answers it.
pub(super) struct Entry<'d> {
    /// The index in the list.
    pub(super) index: u32,
    pub(super) value: Value<'d>,
    /// The message that contains it.
    pub(super) above: Option<Value<'d>>,
    /// The path inside that message; empty for the message itself.
    pub(super) place: String,
}

/// The messages of a list, each followed by those nested in it.
pub(super) fn entries<'d>(
    format: &'static Loaded,
    messages: impl IntoIterator<Item = (u32, Value<'d>)>,
) -> Vec<Entry<'d>> {
    let mut all = Vec::new();
    for (index, value) in messages {
        all.push(Entry {
            index,
            value,
            above: None,
            place: String::new(),
        });
        // Several paths may lead to the same answers.
        let mut known = HashSet::new();
        for InnerPath(path) in &format.language.message.answers.0 {
            let list = path.list();
            let answers = path.find(value).into_iter().enumerate();
            let answers = answers.filter(|(_, answer)| known.insert(answer.span().start));
            all.extend(answers.map(|(at, answer)| Entry {
                index,
                value: answer,
                above: Some(value),
                place: format!("{}[{at}]", list.trim_start_matches('$')),
            }));
        }
    }
    all
}

/// Sorts messages by the time they were sent.
pub(super) fn ordered<'d>(map: &ConversationMap, mut messages: Vec<Entry<'d>>) -> Vec<Entry<'d>> {
    if map.reversed {
        messages.reverse();
    }
    if !map.order.0.is_empty() {
        let key = |entry: &Entry<'_>| growing(map.order.first(entry.value));
        // If the newest message is first, messages of the same time are in reverse order, too.
        if messages.first().map(key) > messages.last().map(key) {
            messages.reverse();
        }
        messages.sort_by_cached_key(key);
    }
    messages
}

/// A sort key for ids that grow: by length, then by characters.
pub(super) fn growing(value: Option<Value<'_>>) -> (usize, String) {
    let id = value.and_then(id).unwrap_or_default();
    (id.len(), id)
}

/// The parent that a message names; JSON null if it states that it has none.
pub(super) fn parent_of<'d>(map: &TreeMap, message: Value<'d>) -> Option<Value<'d>> {
    map.parent.as_ref()?.field(message)
}

impl TreeMap {
    /// The id of a message's parent, if it has one.
    pub(super) fn named(&self, parent: Value<'_>) -> Option<String> {
        id(parent).filter(|parent| !self.root.iter().any(|root| parent.starts_with(root.as_str())))
    }
}
