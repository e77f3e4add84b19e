//! What a map of a file could say, guessed from the names in it: a proposal for a person to look at, never used unseen.

use crate::reader::words;
use chatmill_intake::{Framing, Head, RecordSketch, Sketch};

/// Which section of a pipeline file would read a file, and what could stand in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// A `[field_map]`: keys and paths.
    Fields(Vec<(&'static str, String)>),
    /// A `[table_map]`: keys and columns, and all columns that there are.
    Columns(Vec<(&'static str, String)>, Vec<String>),
}

/// Names that people give a thing, the likeliest first.
const TEXTS: &[&str] = &words!(text content body message value utterance msg parts);
const ROLES: &[&str] = &[
    "role",
    "author.role",
    "from",
    "speaker",
    "sender_type",
    "author_kind",
    "author",
    "sender",
    "who",
    "type",
    "user",
];
const TIMES: &[&str] = &words!(time timestamp created_at createdAt create_time date ts sent_at posted_at);
const IDS: &[&str] = &["id", "uuid", "message_id", "messageId", "_id"];
const REPLIES: &[&str] = &words!(reply_to reply_to_id replyTo parent_id parentId in_reply_to);
const SENDERS: &[&str] = &[
    "sender",
    "author_id",
    "user_id",
    "sender_id",
    "author.id",
    "user",
    "author",
];
const WHOSE: &[&str] = &words!(
    conversation conversation_id conversationId thread_id threadId session_id sessionId chat_id room_id
    room channel_id channel ticket_id dialog_id
);

/// What a map for this file could say; none where nothing in it looks like messages.
pub fn propose(head: &Head, sketch: &Sketch) -> Option<Proposal> {
    if let Some(columns) = header(head) {
        let found = columns_of(|name| columns.iter().any(|column| column == name))?;
        return Some(Proposal::Columns(found, columns));
    }
    let record = sketch.records.iter().find(|record| !record.names.is_empty())?;
    if record.is_object
        && WHOSE.iter().any(|key| record.names(key))
        && let Some(found) = columns_of(|name| record.keys.iter().any(|key| key == name))
    {
        return Some(Proposal::Columns(found, record.keys.clone()));
    }
    fields_of(record).map(Proposal::Fields)
}

/// The columns of a header line, where the file is a table.
fn header(head: &Head) -> Option<Vec<String>> {
    if !crate::looks::is_table(&head.bytes) || matches!(head.framing, Framing::Array | Framing::Tables) {
        return None;
    }
    let line = head.bytes.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line.trim_ascii()).into_owned();
    let separator = [',', ';', '\t']
        .into_iter()
        .max_by_key(|separator| line.matches(*separator).count())?;
    let columns = line.split(separator);
    Some(
        columns
            .map(|column| column.trim().trim_matches('"').to_owned())
            .collect(),
    )
}

/// Columns that a table map needs; none without words and somebody who says them.
fn columns_of(has: impl Fn(&str) -> bool) -> Option<Vec<(&'static str, String)>> {
    let pick = |names: &[&'static str]| names.iter().find(|name| has(name)).map(|name| (*name).to_owned());
    let content = pick(TEXTS)?;
    let role = pick(ROLES).filter(|role| *role != content)?;
    let mut found = Vec::new();
    let mut add = |key, column: Option<String>| found.extend(column.map(|column| (key, column)));
    add("id", pick(IDS));
    add("conversation", pick(WHOSE));
    add(
        "sender",
        pick(SENDERS).filter(|sender| *sender != role && *sender != content),
    );
    add("role", Some(role));
    add("content", Some(content));
    add("reply_to", pick(REPLIES));
    add("created_at", pick(TIMES));
    Some(found)
}

/// Paths that a field map needs: those of the list whose elements have words and somebody who says them.
fn fields_of(record: &RecordSketch) -> Option<Vec<(&'static str, String)>> {
    let lists = record
        .names
        .keys()
        .filter_map(|name| name.rfind("[].").map(|at| name.get(..at).unwrap_or_default()));
    let mut lists: Vec<&str> = lists.collect();
    lists.sort_by_key(|list| list.len());
    lists.dedup();
    let has = |list: &str, name: &str| record.names(&format!("{list}[].{name}"));
    let (list, content) = lists.into_iter().find_map(|list| {
        let text = TEXTS.iter().find(|text| has(list, text))?;
        let is_said = ROLES.iter().any(|role| role != text && has(list, role));
        is_said.then_some((list, *text))
    })?;
    let pick = |names: &[&'static str]| {
        let mut names = names.iter().filter(|name| **name != content && has(list, name));
        names.next().map(|name| format!("$.{name}"))
    };
    let outer = |names: &[&'static str]| {
        names
            .iter()
            .find(|name| record.names(name))
            .map(|name| format!("$.{name}"))
    };
    let messages = if list.is_empty() {
        "$".to_owned()
    } else {
        format!("$.{}", list.replace("[]", "[*]"))
    };
    let role = pick(ROLES);
    let mut found = vec![("messages", messages)];
    let mut add = |key, path: Option<String>| found.extend(path.map(|path| (key, path)));
    add("conversation", outer(WHOSE).or_else(|| outer(IDS)));
    // An object that holds the role is not an id.
    let is_inside = |sender: &String| {
        role.as_ref()
            .is_some_and(|role| role.starts_with(sender.as_str()))
    };
    add("sender", pick(SENDERS).filter(|sender| !is_inside(sender)));
    add("role", role);
    add("text", Some(format!("$.{content}")));
    add("time", pick(TIMES));
    add("reply_to", pick(REPLIES));
    add("message_id", pick(IDS));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposed(framing: Framing, text: &str) -> Option<Proposal> {
        let head = Head {
            framing,
            complete: true,
            bytes: text.as_bytes().to_vec(),
        };
        propose(&head, &head.sketch())
    }

    fn owned(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        pairs
            .iter()
            .map(|(key, path)| (*key, (*path).to_owned()))
            .collect()
    }

    #[test]
    fn a_list_of_objects_with_words_and_speakers_becomes_a_field_map() {
        let text = r#"{"id":"7","data":{"turns":[{"author":{"role":"guest"},"body":"x","at":1,"ts":2}]}}"#;
        assert_eq!(
            proposed(Framing::Documents, text),
            Some(Proposal::Fields(owned(&[
                ("messages", "$.data.turns"),
                ("conversation", "$.id"),
                ("role", "$.author.role"),
                ("text", "$.body"),
                ("time", "$.ts"),
            ])))
        );
        assert_eq!(proposed(Framing::Documents, r#"{"temperature":21.5}"#), None);
    }

    #[test]
    fn a_header_and_the_names_of_rows_become_a_table_map() {
        let pairs = owned(&[("conversation", "room"), ("role", "who"), ("content", "body")]);
        let columns = ["room", "who", "body"].map(str::to_owned).to_vec();
        let expected = Some(Proposal::Columns(pairs, columns));
        assert_eq!(
            proposed(Framing::Documents, "room;who;body\nr1;guest;hello\n"),
            expected
        );
        assert_eq!(
            proposed(
                Framing::Lines,
                "{\"room\":\"r1\",\"who\":\"guest\",\"body\":\"hello\"}\n"
            ),
            expected
        );
    }
}
