//! Messages that are nested in the messages that they answer, as in a tree; and second copies of messages.

use std::borrow::Cow;
use std::collections::HashMap;

use chatmill_intake::json::{Kind, Mark, Value};

use super::language::TreeMap;
use super::language::budget::Budget;
use super::language::path::{InnerPath, MapPath};

/// The messages of a tree; nested ones follow the message that contains them.
pub(super) struct TreeMessages<'d> {
    pub(super) values: Vec<Value<'d>>,
    /// The path of each value, and the index in this list of the value that contains it.
    pub(super) places: Vec<(String, Option<usize>)>,
}

impl<'d> TreeMessages<'d> {
    /// Finds all messages, from the list of those that are not nested.
    pub(super) fn of(map: &TreeMap, list: Vec<Value<'d>>, path: &str, budget: &Budget) -> Self {
        let mut all = Self {
            values: Vec::with_capacity(list.len()),
            places: Vec::with_capacity(list.len()),
        };
        let listed = |list: Vec<Value<'d>>, holder: Option<usize>| {
            let each = list.into_iter().enumerate().rev();
            each.map(move |(index, value)| (value, index, holder))
        };
        let inside = map.below.as_ref().map(|InnerPath(below)| below.list());
        let inside = inside.as_deref().unwrap_or_default().trim_start_matches('$');
        let mut left: Vec<_> = listed(list, None).collect();
        while let Some((value, index, holder)) = left.pop() {
            let above = holder.and_then(|holder| all.places.get(holder));
            let path = match above {
                Some((above, _)) => format!("{above}{inside}[{index}]"),
                None => format!("{path}[{index}]"),
            };
            // A path repeats the paths of all messages around the message.
            if !budget.take(path.len()) {
                break;
            }
            if let Some(InnerPath(below)) = &map.below {
                left.extend(listed(below.find(value), Some(all.values.len())));
            }
            all.values.push(value);
            all.places.push((path, holder));
        }
        all
    }
}

/// Marks second copies as read: messages in these lists that equal the conversation's message with the same id.
pub(super) fn mark_copies<'d>(
    lists: impl Iterator<Item = Value<'d>>,
    messages: &[Value<'d>],
    id: impl Fn(Value<'d>) -> Option<String>,
) {
    let mut lists = lists.peekable();
    if lists.peek().is_none() {
        return;
    }
    let own = messages
        .iter()
        .filter_map(|message| Some((id(*message)?, *message)));
    let own: HashMap<String, Value<'d>> = own.collect();
    for copy in lists.flat_map(MapPath::elements) {
        let original = id(copy).and_then(|id| own.get(&id));
        if original.is_some_and(|original| is_same(*original, copy)) {
            copy.mark(Mark::Taken);
        }
    }
}

/// Whether two values are the same JSON, whatever their order of keys and their spelling.
fn is_same(one: Value<'_>, other: Value<'_>) -> bool {
    match (one.kind(), other.kind()) {
        (Kind::Object, Kind::Object) => {
            let has = |(key, value): (Cow<'_, str>, Value<'_>)| {
                other.get(&key).is_some_and(|other| is_same(value, other))
            };
            one.len() == other.len() && one.fields().all(has)
        }
        (Kind::Array, Kind::Array) => {
            let mut pairs = one.items().zip(other.items());
            one.len() == other.len() && pairs.all(|(one, other)| is_same(one, other))
        }
        (Kind::String, Kind::String) => one.string() == other.string(),
        (one_kind, other_kind) => one_kind == other_kind && one.written() == other.written(),
    }
}
