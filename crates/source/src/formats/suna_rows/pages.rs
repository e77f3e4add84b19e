//! Recognises and cuts rows: single rows, a list, a page of the API, or the dump of a thread.

use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};

use super::row::{COLUMNS, is_known_type};
use crate::base::id;
use crate::frame::Row;
use crate::layout::{has, holds};

/// Fields of a document that contain its rows.
const LISTS: [&str; 2] = ["messages", "data"];

/// Whether an object can be read as a row.
pub(super) fn is_row(value: Value<'_>) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("type") && (has("content") || has("metadata")) || (has("message_id") && has("content"))
}

/// Cuts a document into rows; `None` if it has none, or if it is a list in which no row names a thread: such a list is a
/// separate record.
pub(super) fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    match root.kind() {
        Kind::Array => {
            let mut rows = root.items();
            rows.any(|row| thread(row).is_some())
                .then(|| Row::cut(root, thread))?
        }
        Kind::Object if !is_row(root) => {
            let mut lists = LISTS.iter().filter_map(|key| root.get(key));
            let list = lists.find(|list| list.kind() == Kind::Array)?;
            // The thread of a row is the one that it names, else that of its page.
            let about = thread(root);
            Row::cut(list, |row| thread(row).or_else(|| about.clone()))
        }
        _ => Row::cut(root, thread),
    }
}

/// The thread that a row, or a page of rows, names.
fn thread(value: Value<'_>) -> Option<String> {
    value.get("thread_id").and_then(id)
}

/// Recognises rows in one record.
pub(super) fn recognise(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| has(record, wanted);
    if let Some(seen) = columns(has) {
        return Some((95, vec![format!("the record has {seen}")]));
    }
    let inside = |list: &str| {
        let names = record.nested.iter().filter(move |(key, _)| key == list);
        names.map(|(_, name)| name.clone()).collect::<Vec<String>>()
    };
    if let Some(seen) = columns(|wanted| inside("").iter().any(|name| name == wanted)) {
        return Some((95, vec![format!("the record is an array of rows with {seen}")]));
    }
    if is_snippet(record) {
        let why = "the record has type and content of a row and no other fields than rows have";
        return Some((90, vec![why.to_owned()]));
    }
    LISTS.iter().find_map(|list| {
        let names = inside(list);
        let holds = |wanted: &str| names.iter().any(|name| name == wanted);
        if holds("role") || holds("sender") {
            return None;
        }
        let seen = columns(holds)?;
        let mut why = vec![format!("the record has {list}, and these have {seen}")];
        if has("thread_id") {
            why.push("the record has thread_id".to_owned());
        }
        Some((95, why))
    })
}

/// Whether a record is a row as Suna's document prints it: a few columns, and a message, a status or a shortened text.
fn is_snippet(record: &RecordSketch) -> bool {
    let names: Vec<&str> = if record.is_object {
        record.keys.iter().map(String::as_str).collect()
    } else {
        record.nested.iter().map(|(_, name)| name.as_str()).collect()
    };
    let column_is = |key: &str, is_so: fn(&str) -> bool| {
        let mut texts = record.strings.iter().chain(&record.starts);
        texts.any(|(name, text)| name == key && is_so(text.trim_start()))
    };
    let is_message = |text: &str| text.starts_with("{\"role\"") || text.starts_with("{\"status_type\"");
    let holds = |outer: &str, wanted: &str| holds(record, outer, wanted);
    let has_content = column_is("content", is_message)
        || holds("content", "role")
        || holds("content", "status_type")
        || names.contains(&"content") && holds("metadata", "compressed");
    has_content && names.iter().all(|name| COLUMNS.contains(name)) && column_is("type", is_known_type)
}

/// The combination of columns that only this table has.
fn columns(has: impl Fn(&str) -> bool) -> Option<String> {
    let column = ["content", "metadata"].into_iter().find(|key| has(key))?;
    let own = ["is_llm_message", "thread_id"].into_iter().find(|key| has(key))?;
    (has("message_id") && has("type")).then(|| format!("message_id, type, {column} and {own}"))
}
