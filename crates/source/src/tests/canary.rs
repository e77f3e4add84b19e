//! Leak test: text under a key that no format knows, inserted into every object of every fixture, is retained and reported.

use std::fs;
use std::path::{Path, PathBuf};

use chatmill_diag::{Limits, codes};
use chatmill_intake::json;
use serde_json::Value;

use crate::unread::meaningless_keys::{self, Meaning, Step};
use crate::{FrameView, Reading, SOURCES, Source, Unread};

const KEY: &str = "canary";
const WORDS: &str = "yellow bird sings";

/// The fixtures of a source with this extension, each with its name.
fn files(source: &dyn Source, extension: &str) -> impl Iterator<Item = (String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let entries = fs::read_dir(folder.join(source.id())).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|own| own == extension));
    paths.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        let is_fixture = !name.contains(".expected.") && name != "vectors.json";
        is_fixture.then_some((name, fs::read_to_string(&path).ok()?))
    })
}

/// The JSON fixtures of a source, each with its name.
fn fixtures(source: &dyn Source) -> impl Iterator<Item = (String, Value)> {
    let files = files(source, "json");
    files.filter_map(|(name, text)| Some((name, serde_json::from_str(&text).ok()?)))
}

/// The list or object inside a string of JSON.
fn opened(text: &str) -> Option<Value> {
    serde_json::from_str(text)
        .ok()
        .filter(|inside| matches!(inside, Value::Array(_) | Value::Object(_)))
}

/// The number of objects in a value, including itself and those in JSON strings.
fn objects(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(objects).sum::<usize>(),
        Value::Array(items) => items.iter().map(objects).sum(),
        Value::String(text) => opened(text).map_or(0, |inside| objects(&inside)),
        _ => 0,
    }
}

/// Inserts the key into the object with that number.
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
        Value::String(text) => opened(text).is_some_and(|mut inside| {
            let is_planted = plant(&mut inside, number);
            if is_planted {
                *text = inside.to_string();
            }
            is_planted
        }),
        _ => false,
    }
}

fn read(source: &dyn Source, text: &str) -> (Reading, Vec<Unread>) {
    let document = json::scan(text.as_bytes(), Limits::default().depth).unwrap();
    read_document(source, text, &document)
}

fn read_document(source: &dyn Source, text: &str, document: &json::Document<'_>) -> (Reading, Vec<Unread>) {
    let limits = Limits::default();
    let frame = FrameView::alone(document, text.as_bytes());
    let (reading, unread_report) = crate::read(source, &frame, &limits);
    (reading, unread_report.fields)
}

/// The number of bytes of text reported as unread.
fn words(unread: &[Unread]) -> u64 {
    let words = unread.iter().filter(|unread| unread.has_words);
    words.map(|unread| unread.bytes).sum()
}

/// The path to the searched text, with `[]` for the elements of lists.
fn general_path(text: &str, searched: &str) -> String {
    let document = json::scan(text.as_bytes(), Limits::default().depth).unwrap();
    let mut path = String::new();
    for part in document
        .path_at(text.find(searched).unwrap())
        .split_inclusive(['[', ']'])
    {
        let index = part
            .strip_suffix(']')
            .filter(|index| index.parse::<usize>().is_ok());
        path.push_str(index.map_or(part, |_| "]"));
    }
    path
}

/// Whether the text is in a value that the format keeps as a whole: the value is reported once, as a note, at its path.
fn is_reported_with_the_whole(source: &dyn Source, text: &str, unread: &[Unread]) -> bool {
    let path = general_path(text, WORDS);
    let around = path.match_indices(['.', '[']).map(|(at, _)| path.split_at(at).0);
    let is_whole = |place: &&str| {
        let steps = meaningless_keys::steps(place).into_iter();
        source.meaningless_keys().meanings(&steps).has(Meaning::Whole)
    };
    let mut wholes = around.chain([path.as_str()]).filter(is_whole);
    wholes.any(|whole| unread.iter().any(|unread| unread.path == whole))
}

/// Whether the text is kept, and whether its loss is visible: by a finding, by a reject, or because it is part of the conversation, such as
/// arguments of a call. `before` is the number of bytes of text that were reported before it was inserted.
fn fate(source: &dyn Source, text: &str, before: u64) -> (bool, bool) {
    let (mut reading, unread) = read(source, text);
    let at = text.find(WORDS).unwrap() as u64;
    let is_retained = format!("{reading:?}").contains(WORDS);
    let all: Vec<&Reading> = std::iter::once(&reading).chain(&reading.also).collect();
    let mut rejects = all.iter().flat_map(|reading| &reading.rejects);
    let is_rejected =
        reading.error.is_some() || rejects.any(|reject| (reject.span.start..reject.span.end).contains(&at));
    let particular = [
        &codes::UNKNOWN_MESSAGE_TYPE,
        &codes::WRONG_TYPE,
        &codes::UNKNOWN_META_KEY,
    ];
    let mut findings = all.iter().flat_map(|reading| &reading.findings);
    let mut reported = unread.iter().filter(|unread| unread.has_words);
    // A string that no reader opens is reported as a whole.
    let is_reported = reported.any(|unread| unread.path.ends_with(KEY))
        || words(&unread) >= before + WORDS.len() as u64
        || findings.any(|finding| {
            let is_here = finding
                .span
                .is_some_and(|span| (span.start..span.end).contains(&at));
            is_here && particular.contains(&finding.code)
        });
    let covers_all = [
        &codes::OTHER_BRANCHES,
        &codes::UNKNOWN_MESSAGE_TYPE,
        &codes::COMPRESSED_MESSAGE,
    ];
    let mut findings = all.iter().flat_map(|reading| &reading.findings);
    let is_covered = findings.any(|finding| covers_all.contains(&finding.code));
    let mut also = std::mem::take(&mut reading.also);
    let all = std::iter::once(&mut reading).chain(&mut also);
    let mut conversations: Vec<_> = all.filter_map(|reading| reading.conversation.as_mut()).collect();
    let mut extra = Vec::new();
    for conversation in &mut conversations {
        extra.append(&mut conversation.extra.0);
        for message in &mut conversation.messages {
            extra.append(&mut message.extra.0);
        }
        for participant in &mut conversation.participants {
            extra.append(&mut participant.extra.0);
        }
    }
    // A value that is kept whole is reported with the whole; arguments of a call are reported with the call.
    let is_whole = |key: &str| {
        let is_reported = is_covered && !key.ends_with(KEY);
        is_reported || key.ends_with("tool_execution.arguments")
    };
    let mut retained = extra.iter().filter(|(_, raw)| raw.as_str().contains(WORDS));
    let is_reported = is_reported
        || retained.any(|(key, _)| is_whole(key))
        || is_reported_with_the_whole(source, text, &unread);
    let is_read = format!("{conversations:?}").contains(WORDS);
    (is_rejected || is_retained, is_rejected || is_reported || is_read)
}

#[test]
fn unknown_fields_with_words_are_retained_and_reported_anywhere() {
    let mut silent = Vec::new();
    for source in SOURCES.iter().copied() {
        for (name, value) in fixtures(source) {
            let objects = objects(&value);
            let before = words(&read(source, &value.to_string()).1);
            for number in chatmill_drawn::some_of(0..objects, objects as u32 / 5 + 1) {
                let mut planted = value.clone();
                plant(&mut planted, &mut number.clone());
                let text = planted.to_string();
                let (is_retained, is_reported) = fate(source, &text, before);
                if !is_retained || !is_reported {
                    let (id, at) = (source.id(), text.find(WORDS).unwrap());
                    let near: String = text[..at].chars().rev().take(80).collect();
                    let near: String = near.chars().rev().collect();
                    silent.push(format!(
                        "{id}/{name}, object {number}: kept {is_retained}, told {is_reported}, at {near}"
                    ));
                }
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn an_unknown_line_is_part_of_a_message_or_reported() {
    let mut silent = Vec::new();
    for source in SOURCES.iter().copied() {
        for (name, text) in files(source, "txt") {
            let lines: Vec<&str> = text.lines().collect();
            for number in chatmill_drawn::some_of(0..lines.len() + 1, lines.len() as u32 / 5 + 1) {
                let mut planted = lines.clone();
                planted.insert(number, WORDS);
                let record = serde_json::json!({"text": planted.join("\n")}).to_string();
                let (is_retained, is_reported) = fate(source, &record, 0);
                if !is_retained || !is_reported {
                    let id = source.id();
                    silent.push(format!(
                        "{id}/{name}, line {number}: kept {is_retained}, told {is_reported}"
                    ));
                }
            }
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn the_path_goes_on_in_json_that_a_string_holds() {
    let source = crate::find("request-log").unwrap();
    let text = r#"{"request":"{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\",\"audit\":{\"by\":\"somebody else\"}}]}","response":"{\"choices\":[],\"page\":\"{\\\"no\\\":1}\"}"}"#;
    let (reading, unread) = read(source, text);
    let first = text.find("\"{").unwrap();
    let reported: Vec<_> = unread
        .iter()
        .map(|unread| (unread.path.as_str(), unread.bytes))
        .collect();
    // No reader opens the page.
    assert_eq!(
        reported,
        [("$.request.messages[].audit.by", 15), ("$.response.page", 12)]
    );
    assert_eq!(unread[0].first.start, first);
    assert!(format!("{reading:?}").contains("somebody else"));
}

#[test]
fn unread_values_become_extra_fields_of_the_nearest_message_or_the_conversation() {
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
    let reported: Vec<_> = unread
        .iter()
        .map(|unread| (unread.path.as_str(), unread.count, unread.has_words))
        .collect();
    assert_eq!(
        reported,
        [("$.remark.deep[]", 1, true), ("$.messages[].audit.by", 1, true)]
    );
}

#[test]
fn names_below_a_map_do_not_count_as_unknown() {
    let json_with = |key: &str| {
        format!(
            r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"c","scene":"group","user_details":{{"u":{{"role":"user"}}}},"harbour":"{WORDS}"}},
            "conversation_list":[{{"message_id":"m","sender":"u","type":"text","content":"Which knot holds best?","refer_list":[],"{key}":{{"a":"{WORDS}"}}}}]}}"#
        )
    };
    let source = crate::find("group-chat").unwrap();
    for (key, bytes) in [("extra", 0), ("other", WORDS.len() as u64 + 2)] {
        let text = json_with(key);
        let limits = Limits::default();
        let document = json::scan(text.as_bytes(), limits.depth).unwrap();
        let frame = FrameView::alone(&document, text.as_bytes());
        let (_, unread_report) = crate::read(source, &frame, &limits);
        assert_eq!(unread_report.fields.len(), 2, "{key}: both are reported");
        assert_eq!(unread_report.unread_words, bytes, "{key}");
        assert!(unread_report.read_words > 0, "{key}");
    }
}

/// Kinds of values that no list silences, each with the text to search for.
fn meant() -> [(Value, &'static str); 6] {
    [
        (WORDS.into(), WORDS),
        (
            serde_json::json!({"name": "fly", "arguments": {"over": WORDS}}),
            WORDS,
        ),
        (
            serde_json::json!({"name": "fly", "description": WORDS, "parameters": {"type": "object"}}),
            WORDS,
        ),
        (
            serde_json::json!({"filename": WORDS, "mime_type": "image/png"}),
            WORDS,
        ),
        (
            serde_json::json!({"input_tokens": 710_077, "output_tokens": 3}),
            "710077",
        ),
        ("2031-07-07T07:07:07Z".into(), "2031-07-07"),
    ]
}

/// Puts a value at the end of steps from here.
fn put(value: &mut Value, steps: &[Step<'_>], canary: &Value) {
    let Some((step, rest)) = steps.split_first() else {
        *value = canary.clone();
        return;
    };
    let inner = match step {
        Step::Record => value,
        Step::Item(_) => {
            if value.as_array().is_none_or(Vec::is_empty) {
                *value = Value::Array(vec![Value::Null]);
            }
            value.as_array_mut().unwrap().first_mut().unwrap()
        }
        Step::Key(key) | Step::Id(key) => {
            if !value.is_object() {
                *value = Value::Object(serde_json::Map::new());
            }
            let fields = value.as_object_mut().unwrap();
            let first = fields.keys().next().filter(|_| *key == "*").cloned();
            fields
                .entry(first.unwrap_or_else(|| (*key).to_owned()))
                .or_insert(Value::Null)
        }
    };
    put(inner, rest, canary);
}

/// Puts a value at a listed key: into the first object with its first name, else into the outermost.
fn put_anywhere(value: &mut Value, steps: &[Step<'_>], canary: &Value) -> bool {
    let is_here = match (&*value, steps.first()) {
        (Value::Object(fields), Some(Step::Key(key))) => fields.contains_key(*key),
        _ => false,
    };
    if is_here {
        put(value, steps, canary);
        return true;
    }
    match value {
        Value::Object(fields) => fields
            .values_mut()
            .any(|field| put_anywhere(field, steps, canary)),
        Value::Array(items) => items.iter_mut().any(|item| put_anywhere(item, steps, canary)),
        _ => false,
    }
}

/// Whether the searched text is part of the conversation, or under a reported path, finding or reject.
fn comes_out(source: &dyn Source, text: &str, searched: &str) -> bool {
    let document = json::scan(text.as_bytes(), Limits::default().depth).unwrap();
    let (mut reading, unread) = read_document(source, text, &document);
    let at = text.find(searched).unwrap();
    // The reader itself uses some ids and enumerated words; no list decides about them.
    if is_taken(document.root(), at) {
        return true;
    }
    let path = general_path(text, searched);
    let is_under = |unread: &Unread| unread.first.contains(&at) || is_prefix(&unread.path, &path);
    let all: Vec<&Reading> = std::iter::once(&reading).chain(&reading.also).collect();
    let findings = all
        .iter()
        .flat_map(|reading| &reading.findings)
        .filter_map(|finding| finding.span);
    let spans = findings.chain(
        all.iter()
            .flat_map(|reading| &reading.rejects)
            .map(|reject| reject.span),
    );
    let is_found = spans
        .into_iter()
        .any(|span| (span.start..span.end).contains(&(at as u64)))
        || all
            .iter()
            .any(|reading| is_kept_whole(reading, document.root(), at));
    if reading.error.is_some() || is_found || unread.iter().any(is_under) {
        return true;
    }
    let mut also = std::mem::take(&mut reading.also);
    for reading in std::iter::once(&mut reading).chain(&mut also) {
        if let Some(conversation) = &mut reading.conversation {
            conversation.extra.0.clear();
            conversation
                .messages
                .iter_mut()
                .for_each(|message| message.extra.0.clear());
        }
    }
    format!("{reading:?}{also:?}").contains(searched)
}

/// Whether the position is in a block of an unknown type: the finding about the type reports the block as a whole.
fn is_kept_whole(reading: &Reading, root: json::Value<'_>, at: usize) -> bool {
    let findings = reading
        .findings
        .iter()
        .filter(|finding| finding.code == &codes::UNKNOWN_MESSAGE_TYPE);
    let mut types = findings.filter_map(|finding| finding.span);
    types.any(|span| block_of(root, span.start as usize).contains(&at))
}

/// The bytes of the innermost object around a position.
fn block_of(value: json::Value<'_>, at: usize) -> std::ops::Range<usize> {
    let fields = value.fields().map(|(_, field)| field);
    let mut inner = fields
        .chain(value.items())
        .filter(|inner| inner.span().contains(&at));
    match inner.next() {
        Some(inner) if matches!(inner.kind(), json::Kind::Object | json::Kind::Array) => block_of(inner, at),
        _ => value.span(),
    }
}

/// Whether the source read the value at a position, or a value around it.
fn is_taken(value: json::Value<'_>, at: usize) -> bool {
    let fields = value.fields().map(|(_, field)| field);
    value.span().contains(&at)
        && (value.marked() == json::Mark::Taken
            || fields.chain(value.items()).any(|inside| is_taken(inside, at)))
}

/// Whether a reported path leads to a place or to a value around it.
fn is_prefix(reported: &str, place: &str) -> bool {
    let [mut reported, mut place] = [reported, place].map(meaningless_keys::steps);
    reported.reverse();
    place.reverse();
    reported.len() <= place.len()
        && reported.iter().zip(&place).all(|steps| match steps {
            (Step::Key(one), Step::Key(other)) => one == other,
            (Step::Id(_), Step::Key(_)) | (Step::Record, Step::Record) | (Step::Item(_), Step::Item(_)) => {
                true
            }
            _ => false,
        })
}

#[test]
fn no_list_silences_words_calls_definitions_attachments_usage_or_times() {
    let mut silent = Vec::new();
    for source in SOURCES.iter().copied() {
        let fixtures: Vec<(String, Value)> = fixtures(source).collect();
        let Some((name, sample)) = fixtures.iter().find(|(name, _)| !name.starts_with("rejected")) else {
            continue;
        };
        let keys: Vec<_> = crate::without_meaning(source.id())
            .filter(|(_, becomes)| !becomes.starts_with("used"))
            .collect();
        for number in chatmill_drawn::some_of(0..keys.len() * 6, keys.len() as u32 / 20 + 1) {
            let (key, (canary, searched)) = (keys[number / 6].0, &meant()[number % 6]);
            let mut planted = sample.clone();
            let mut steps = meaningless_keys::steps(key);
            steps.reverse();
            if !put_anywhere(&mut planted, &steps, canary) {
                let row = match &mut planted {
                    Value::Array(rows) if !matches!(steps.first(), Some(Step::Record)) => {
                        rows.first_mut().unwrap()
                    }
                    _ => &mut planted,
                };
                put(row, &steps, canary);
            }
            let text = planted.to_string();
            if text.contains(searched) && !comes_out(source, &text, searched) {
                silent.push(format!("{}/{name}: {key} {canary}", source.id()));
            }
        }
    }
    assert!(silent.is_empty(), "{}\n{}", silent.len(), silent.join("\n"));
}

#[test]
fn a_time_of_a_record_is_told_where_it_is_far_from_its_messages() {
    let unread = |created: &str, said: &str| {
        let text = format!(
            r#"{{"title":"Knots","create_time":{created},"mapping":{{"a":{{"id":"a","parent":null,"children":["b"],"message":{{"id":"a","author":{{"role":"user"}},"create_time":{said},"content":{{"content_type":"text","parts":["Which knot?"]}}}}}},"b":{{"id":"b","parent":"a","children":[],"message":{{"id":"b","author":{{"role":"assistant"}},"create_time":{said},"content":{{"content_type":"text","parts":["A bowline."]}}}}}}}},"current_node":"b"}}"#
        );
        let source = crate::find("chatgpt-export").unwrap();
        let (reading, unread) = read(source, &text);
        let extra = &reading.conversation.as_ref().unwrap().extra.0;
        assert!(
            extra
                .iter()
                .any(|(key, raw)| key == "create_time" && raw.as_str() == created)
        );
        unread.into_iter().map(|field| field.path).collect::<Vec<_>>()
    };
    assert!(unread("1767225600.5", "1767225602.25").is_empty());
    assert!(unread("1767229201", "1767225602.25").is_empty());
    assert!(unread("\"2026-01-01T00:00:00Z\"", "1767225602.25").is_empty());
    assert_eq!(unread("1767329202", "1767225602.25"), ["$.create_time"]);
    assert_eq!(unread("1767225600.5", "null"), ["$.create_time"]);
    assert_eq!(unread("\"a while ago\"", "1767225602.25"), ["$.create_time"]);
}
