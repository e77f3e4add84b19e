//! Nothing is passed over in silence: words under a key that no format knows, planted into every object of every fixture, are
//! kept and told.

use std::fs;
use std::path::{Path, PathBuf};

use chatmill_diag::{Limits, codes};
use chatmill_intake::json;
use serde_json::Value;

use crate::{FrameView, Reading, SOURCES, Source, Unread};

const KEY: &str = "canary";
const WORDS: &str = "yellow bird sings";

/// The fixtures of a source that are JSON, each with its name.
fn fixtures(source: &dyn Source) -> impl Iterator<Item = (String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let entries = fs::read_dir(folder.join(source.id())).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let is_fixture = is_json && !name.contains(".expected.") && name != "vectors.json";
        let value = serde_json::from_slice(&fs::read(&path).ok().filter(|_| is_fixture)?).ok()?;
        Some((name, value))
    })
}

/// How many objects a value holds, itself included.
fn objects(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(objects).sum::<usize>(),
        Value::Array(items) => items.iter().map(objects).sum(),
        _ => 0,
    }
}

/// Plants the key into the object of that number.
fn plant(value: &mut Value, number: &mut usize) -> bool {
    match value {
        Value::Object(fields) if *number == 0 => {
            fields.insert(KEY.to_owned(), WORDS.into());
            true
        }
        Value::Object(fields) => {
            *number -= 1;
            fields.values_mut().any(|field| plant(field, number))
        }
        Value::Array(items) => items.iter_mut().any(|item| plant(item, number)),
        _ => false,
    }
}

fn read(source: &dyn Source, text: &str) -> (Reading, Vec<Unread>) {
    let limits = Limits::default();
    let document = json::scan(text.as_bytes(), limits.depth).unwrap();
    let frame = FrameView {
        document: &document,
        bytes: text.as_bytes(),
        start: 0,
        key: None,
    };
    let (reading, leftovers) = crate::read(source, &frame, &limits);
    (reading, leftovers.fields)
}

/// Whether the words are kept, and whether somebody who looks for them is told: by a finding, by a reject, or because they are part
/// of what the conversation holds, as a member of a call's arguments is.
fn fate(source: &dyn Source, text: &str) -> (bool, bool) {
    let (mut reading, unread) = read(source, text);
    let at = text.find(WORDS).unwrap() as u64;
    let all: Vec<&Reading> = std::iter::once(&reading).chain(&reading.also).collect();
    let mut rejects = all.iter().flat_map(|reading| &reading.rejects);
    let is_rejected =
        reading.fault.is_some() || rejects.any(|reject| (reject.span.start..reject.span.end).contains(&at));
    let particular = [
        &codes::UNKNOWN_MESSAGE_TYPE,
        &codes::WRONG_TYPE,
        &codes::UNKNOWN_META_KEY,
    ];
    let mut findings = all.iter().flat_map(|reading| &reading.findings);
    let is_told = unread
        .iter()
        .any(|unread| unread.has_words && unread.path.ends_with(KEY))
        || findings.any(|finding| {
            let is_here = finding
                .span
                .is_some_and(|span| (span.start..span.end).contains(&at));
            is_here && particular.contains(&finding.code)
        });
    let is_kept = format!("{reading:?}").contains(WORDS);
    if let Some(conversation) = &mut reading.conversation {
        conversation.extra.0.clear();
        conversation
            .messages
            .iter_mut()
            .for_each(|message| message.extra.0.clear());
        conversation
            .participants
            .iter_mut()
            .for_each(|participant| participant.extra.0.clear());
    }
    let is_read = format!("{:?}", reading.conversation).contains(WORDS);
    (is_rejected || is_kept, is_rejected || is_told || is_read)
}

#[test]
fn words_that_no_format_knows_are_kept_and_told_wherever_they_stand() {
    let mut silent = Vec::new();
    for source in SOURCES.iter().copied() {
        for (name, value) in fixtures(source) {
            let objects = objects(&value);
            for number in chatmill_drawn::some_of(0..objects, objects as u32 / 5 + 1) {
                let mut planted = value.clone();
                plant(&mut planted, &mut number.clone());
                let text = planted.to_string();
                let (is_kept, is_told) = fate(source, &text);
                if !is_kept || !is_told {
                    let id = source.id();
                    silent.push(format!(
                        "{id}/{name}, object {number}: kept {is_kept}, told {is_told}"
                    ));
                }
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn what_nobody_looked_at_goes_to_the_nearest_message_and_else_to_the_conversation() {
    let source = crate::find("openai-messages").unwrap();
    let text = r#"{"remark":{"deep":["of the whole"]},"messages":[{"role":"user","content":"Hi","audit":{"by":"somebody else"}}]}"#;
    let (reading, unread) = read(source, text);
    let conversation = reading.conversation.unwrap();
    assert_eq!(
        conversation.extra.get("remark").unwrap().as_str(),
        r#"{"deep":["of the whole"]}"#
    );
    let message = &conversation.messages[0];
    assert_eq!(
        message.extra.get("audit").unwrap().as_str(),
        r#"{"by":"somebody else"}"#
    );
    let told: Vec<_> = unread
        .iter()
        .map(|unread| (unread.path.as_str(), unread.count, unread.has_words))
        .collect();
    assert_eq!(
        told,
        [("$.remark.deep[]", 1, true), ("$.messages[].audit.by", 1, true)]
    );
}
