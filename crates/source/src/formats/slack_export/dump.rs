//! Files of slackdump, a program that saves channels without being the workspace's owner: the dump of a channel, and the chunks of an
//! archive.
//!
//! The smallest examples:
//!
//! ```json
//! {"channel_id": "C1", "name": "ferns", "messages": [{"type": "message", "user": "U1", "text": "Water?", "ts": "1767600300.000100",
//!   "slackdump_thread_replies": [{"type": "message", "user": "U2", "text": "Done.", "ts": "1767600400.000100"}]}]}
//! {"t": 0, "ts": 1767600500000000000, "id": "C1", "m": [{"type": "message", "user": "U1", "text": "Water?", "ts": "1767600300.000100"}]}
//! ```
//!
//! Their messages, channels and members are those of Slack's own export. A reply that was also shown in the channel is in the channel and
//! in its thread: it is read once.

use std::collections::HashSet;

use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};

use crate::base::{id, present, text};
use crate::frame::Row;

/// Whether a record is such a file, or a chunk of one.
pub(super) fn is_one(record: &RecordSketch) -> bool {
    let names = |name: &str| record.names(name);
    let is_dump = names("channel_id") && names("messages[].ts");
    let is_chunk = names("t") && names("ts") && names("id");
    is_dump || is_chunk && (names("m[].ts") || names("ci.id") || names("ci.created") || names("u[].profile"))
}

/// The rows of a dump or of a chunk; `None` if the record is neither.
pub(super) fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    let list = |key: &str| present(root, key).filter(|list| list.kind() == Kind::Array);
    let channel = present(root, "channel_id").and_then(id);
    if let (Some(channel), Some(messages)) = (channel, list("messages")) {
        let name = text(root.get("name")).filter(|name| !name.is_empty());
        return Some(of_messages(&name.unwrap_or(channel), messages));
    }
    let is_chunk = present(root, "t").is_some_and(|kind| kind.kind() == Kind::Number);
    let channel = present(root, "id").and_then(id);
    if !is_chunk || present(root, "type").is_some() {
        return None;
    }
    let mut rows = Vec::new();
    for message in list("m").into_iter().flat_map(Value::items) {
        let is_shown_above = text(message.get("subtype")).as_deref() == Some("thread_broadcast");
        if present(root, "p").is_none() || !is_shown_above {
            rows.push(Row::of(channel.clone(), message));
        }
    }
    rows.extend(present(root, "ci").map(|info| Row::of(present(info, "id").and_then(id), info)));
    let members = list("u").into_iter().flat_map(Value::items);
    rows.extend(members.map(|member| Row::shared(present(member, "id").and_then(id), member)));
    Some(rows)
}

/// The messages, each followed by those of its thread.
fn of_messages(channel: &str, messages: Value<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut known = HashSet::new();
    let mut add = |message: Value<'_>| {
        let is_new = present(message, "ts")
            .and_then(id)
            .is_none_or(|ts| known.insert(ts));
        rows.extend(is_new.then(|| Row::of(Some(channel.to_owned()), message)));
    };
    for message in messages.items() {
        add(message);
        let replies = present(message, "slackdump_thread_replies").into_iter();
        replies.flat_map(Value::items).for_each(&mut add);
    }
    rows
}

#[cfg(test)]
mod tests {
    use chatmill_intake::json;

    use super::*;

    /// The rows of a record, each as its conversation and its bytes.
    fn cut(record: &str) -> Option<Vec<(String, String)>> {
        let document = json::scan(record.as_bytes(), 16).unwrap();
        let rows = rows(document.root())?.into_iter();
        Some(
            rows.map(|row| (row.keys.join("+"), record.get(row.span).unwrap().to_owned()))
                .collect(),
        )
    }

    #[test]
    fn replies_are_rows_beside_the_message_that_they_stand_in() {
        let record = r#"{"channel_id":"C1","name":"ferns","messages":[{"ts":"1","slackdump_thread_replies":[{"ts":"2"},{"ts":"3"}]},{"ts":"3"}]}"#;
        let own = cut(record).unwrap();
        let keys: Vec<&str> = own.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["ferns"; 3]);
        let texts: Vec<&str> = own.iter().skip(1).map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            texts,
            [r#"{"ts":"2"}"#, r#"{"ts":"3"}"#],
            "a reply shown in the channel is read once"
        );
    }

    #[test]
    fn chunks_hold_messages_threads_channels_and_members() {
        let of_channel =
            cut(r#"{"t":0,"ts":9,"id":"C1","m":[{"ts":"1"},{"ts":"2","subtype":"thread_broadcast"}]}"#);
        assert_eq!(of_channel.unwrap().len(), 2);
        let of_thread = r#"{"t":1,"ts":9,"id":"C1","p":{"ts":"1"},"m":[{"ts":"2","subtype":"thread_broadcast"},{"ts":"3"}]}"#;
        assert_eq!(
            cut(of_thread).unwrap(),
            [("C1".to_owned(), r#"{"ts":"3"}"#.to_owned())]
        );
        let info = cut(r#"{"t":5,"ts":9,"id":"C1","ci":{"id":"C1","created":1}}"#).unwrap();
        assert_eq!(info, [("C1".to_owned(), r#"{"id":"C1","created":1}"#.to_owned())]);
        let members = cut(r#"{"t":3,"ts":9,"u":[{"id":"U1","profile":{}}]}"#).unwrap();
        assert_eq!(
            members,
            [(String::new(), r#"{"id":"U1","profile":{}}"#.to_owned())]
        );
        assert_eq!(cut(r#"{"t":2,"ts":9,"id":"C1","f":[{"id":"F1"}]}"#).unwrap(), []);
    }

    #[test]
    fn messages_of_an_export_are_neither() {
        assert_eq!(cut(r#"{"type":"message","ts":"1","text":"hi"}"#), None);
        assert_eq!(cut(r#"{"id":"C1","name":"ferns","members":[]}"#), None);
    }
}
