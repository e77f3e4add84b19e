//! The words in the messages of a file, as a source reads them. They show whether a format that claims another format's file can read it.
//!
//! Rows are grouped by conversation, as in a run.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_diag::Limits;
use chatmill_intake::{Framing, Head, json};
use chatmill_model::{Conversation, Extra, Media, MediaSource, Part};
use chatmill_source::{FrameView, ReadOptions, Reading, Source};
use serde_json::Value;

/// The places of a file's words after reading.
#[derive(Default)]
pub(super) struct Words {
    /// Words of messages and alternatives.
    pub(super) read: BTreeSet<String>,
    /// Words of records and messages that are rejected.
    pub(super) rejected: BTreeSet<String>,
    /// Words of extra fields and of findings, which name the unknown word for a role.
    pub(super) kept: BTreeSet<String>,
}

/// Sorts the words of a file by where the source puts them.
pub(super) fn read(source: &dyn Source, head: &Head) -> Words {
    let limits = Limits::default();
    let mut words = Words::default();
    let mut gathered: BTreeMap<String, Vec<&[u8]>> = BTreeMap::new();
    let mut shared: Vec<&[u8]> = Vec::new();
    let groups_rows = source.groups_rows(&head.sketch());
    for frame in frames(head) {
        let Ok(document) = json::scan(frame, limits.depth) else {
            continue;
        };
        let rows = if groups_rows { source.rows(&document) } else { None };
        let Some(rows) = rows else {
            said(source, frame, None, &mut words);
            continue;
        };
        for row in rows {
            let bytes = &frame[row.span];
            if row.keys.is_empty() {
                shared.push(bytes);
            }
            for key in row.keys {
                gathered.entry(key).or_default().push(bytes);
            }
        }
    }
    for (key, rows) in gathered {
        let rows = [shared.clone(), rows].concat().join(&b',');
        let frame = [b"[", rows.as_slice(), b"]"].concat();
        said(source, &frame, Some(&key), &mut words);
    }
    words
}

/// The records of a file.
fn frames(head: &Head) -> Vec<&[u8]> {
    match head.framing {
        Framing::Lines => head.bytes.split(|byte| *byte == b'\n').collect(),
        Framing::Array => {
            let document = json::scan(&head.bytes, 64).unwrap();
            let items = document.root().items();
            items.map(|item| &head.bytes[item.span()]).collect()
        }
        _ => vec![&head.bytes],
    }
}

fn said(source: &dyn Source, bytes: &[u8], key: Option<&str>, words: &mut Words) {
    let limits = Limits::default();
    let Ok(document) = json::scan(bytes, limits.depth) else {
        return;
    };
    let frame = FrameView {
        document: &document,
        bytes,
        start: 0,
        key,
        options: ReadOptions::default(),
    };
    let (reading, _) = chatmill_source::read(source, &frame, &limits);
    of_reading(&reading, bytes, words);
}

fn of_reading(reading: &Reading, bytes: &[u8], words: &mut Words) {
    for reject in &reading.rejects {
        let span = reject.span.start as usize..reject.span.end as usize;
        add_json(&bytes[span], &mut words.rejected);
    }
    for finding in &reading.findings {
        add(&finding.message, &mut words.kept);
    }
    match &reading.conversation {
        Some(conversation) => of_conversation(conversation, words),
        None => add_json(bytes, &mut words.rejected),
    }
    for also in &reading.also {
        of_reading(also, bytes, words);
    }
}

fn of_conversation(conversation: &Conversation, words: &mut Words) {
    let others = conversation.alternatives.iter();
    let others = others.filter_map(|other| other.messages.as_ref()).flatten();
    let Words { read, kept, .. } = words;
    for message in conversation.messages.iter().chain(others) {
        message.parts.iter().for_each(|part| of_part(part, read));
        of_extra(&message.extra, kept);
        message.source_type.iter().for_each(|kind| add(kind, kept));
    }
    for person in &conversation.participants {
        person.role.iter().for_each(|role| add(role, kept));
    }
    for extra in [&conversation.extra, &conversation.envelope] {
        of_extra(extra, kept);
    }
}

fn of_part(part: &Part, words: &mut BTreeSet<String>) {
    match part {
        Part::Text(text)
        | Part::Reasoning(text)
        | Part::Notice(text)
        | Part::Media(Media {
            source: MediaSource::Text(text),
            ..
        }) => add(text, words),
        Part::ToolCall(call) => add_json(call.arguments.source_text().as_bytes(), words),
        Part::ToolResult(result) => add(&result.content, words),
        Part::Item(item) => add_json(item.raw.as_str().as_bytes(), words),
        Part::Media(_) | Part::CacheMark => {}
    }
}

fn of_extra(extra: &Extra, words: &mut BTreeSet<String>) {
    for (_, raw) in &extra.0 {
        add_json(raw.as_str().as_bytes(), words);
    }
}

fn add_json(bytes: &[u8], words: &mut BTreeSet<String>) {
    match serde_json::from_slice(bytes) {
        Ok(value) => written(&value, words),
        Err(_) => add(&String::from_utf8_lossy(bytes), words),
    }
}

/// All words in a value, in names or in texts.
pub(super) fn written(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => add(text, words),
        Value::Array(items) => items.iter().for_each(|item| written(item, words)),
        Value::Object(fields) => {
            for (key, value) in fields {
                add(key, words);
                written(value, words);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn add(text: &str, words: &mut BTreeSet<String>) {
    let all = text.split(|sign: char| !sign.is_alphanumeric());
    let all = all.filter(|word| word.chars().any(char::is_alphabetic));
    words.extend(all.map(str::to_owned));
}
