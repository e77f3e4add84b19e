//! Exports of windowed datasets with one row per answer: keys, order, budgets and files; and texts with the spans of
//! the assistant.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use chatmill_dataset::{Dataset, Flags, Numbers, Spans, Texts};
use chatmill_export::{ExportRequest, Format, Split, SplitBy, export};
use chatmill_workshop::TestDir;
use serde_json::{Value, json};

use super::{assert_balanced, batches, envelopes_of_conversations, json_lines, lines, plain};

/// Rooms of two people and two bots; the id of every room has a character that separates sample ids in Inspect.
fn rooms() -> String {
    let rooms: Vec<Value> = (0..8).map(room).collect();
    json_lines(&rooms)
}

fn room(number: usize) -> Value {
    let speakers = ["u1", "b#1", "u2", "b1"];
    let list: Vec<Value> = (0..8 + number)
        .map(|index| {
            // The words of some messages alone exceed the budget.
            let words = if index == 5 {
                "long ".repeat(90)
            } else {
                format!("turn {number} {index} Grüße")
            };
            json!({
                "message_id": format!("m{index}"),
                "create_time": format!("2026-02-{:02}T{:02}:00:00Z", 1 + number, index),
                "sender": speakers[index % 4],
                "type": "text",
                "content": words,
                "refer_list": [],
            })
        })
        .collect();
    let people = json!({
        "u1": {"full_name": "Ann", "role": "user"}, "u2": {"full_name": "Ben", "role": "user"},
        "b1": {"full_name": "Bot", "role": "assistant"}, "b#1": {"full_name": "Other Bot", "role": "assistant"},
    });
    // Without escapes, the first answer of `b#1` in `r@b` would share its id with others.
    json!({
        "version": "1.0.0",
        "conversation_meta": {"scene": "group_chat", "scene_desc": {}, "name": "Room", "group_id": format!("r{}@b", number), "user_details": people},
        "conversation_list": list,
    })
}

const PLAN: &str = "[perspective]\nas = \"each-agent\"\n\
                    [window]\nsession_gap = \"4h\"\nper_turn = true\nmax_tokens = { encoding = \"r50k_base\", tokens = 80 }\n\
                    [render]\ndialects = [\"openai-chat\", \"hf-messages\", \"gemini-contents\", \"bedrock-converse\", \"sharegpt\", \
                    \"chatml\", \"gryag-compact\", \"suna-llm\", \"mine\"]\n\
                    [templates.mine]\ntemplate = \"models/turns.jinja\"\n\
                    [count]\nencodings = [\"r50k_base\"]\n";

fn milled() -> (TestDir, Dataset) {
    let test_dir = TestDir::new();
    test_dir.write("in/rooms.jsonl", rooms());
    test_dir.write(
        "models/turns.jinja",
        "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}",
    );
    test_dir.run("out", PLAN, 1).unwrap();
    let dataset = Dataset::open(&test_dir.path("out")).unwrap();
    (test_dir, dataset)
}

/// The conversation, the perspective and the ordinal.
type Key = (String, String, u64);

/// The content, the spans and the number of tokens.
type Cells = (String, Vec<[usize; 2]>, u64);

/// The valid renderings of a dialect, and the number of invalid ones.
fn renderings(dataset: &Dataset, dialect: &str) -> (BTreeMap<Key, Cells>, u64) {
    let columns = [
        "conversation_id",
        "perspective",
        "ordinal",
        "dialect",
        "content",
        "assistant_spans",
        "tokens_r50k_base",
        "valid",
    ];
    let (mut found, mut invalid) = (BTreeMap::new(), 0);
    for batch in dataset.batches("renderings", &columns) {
        let batch = batch.unwrap();
        let [conversations, perspectives, dialects, contents] =
            ["conversation_id", "perspective", "dialect", "content"]
                .map(|name| batch.column::<Texts>(name).unwrap());
        let [ordinals, tokens] =
            ["ordinal", "tokens_r50k_base"].map(|name| batch.column::<Numbers>(name).unwrap());
        let (spans, valid) = (
            batch.column::<Spans>("assistant_spans").unwrap(),
            batch.column::<Flags>("valid").unwrap(),
        );
        for row in (0..batch.rows()).filter(|row| dialects.at(*row) == dialect) {
            if !valid.at(row) {
                invalid += 1;
                continue;
            }
            let key = (
                conversations.at(row).to_owned(),
                perspectives.at(row).to_owned(),
                ordinals.at(row),
            );
            let spans = spans
                .at(row)
                .iter()
                .map(|span| [span.start as usize, span.end as usize])
                .collect();
            let cells = (contents.at(row).to_owned(), spans, tokens.at(row));
            assert!(found.insert(key, cells).is_none(), "a key stands twice");
        }
    }
    (found, invalid)
}

fn keys(path: &Path) -> Vec<Key> {
    let mut keys = Vec::new();
    for batch in batches(path) {
        let [conversations, perspectives] = ["conversation_id", "perspective"]
            .map(|name| batch.column_by_name(name).unwrap().as_string::<i32>().clone());
        let ordinals = batch
            .column_by_name("ordinal")
            .unwrap()
            .as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            keys.push((
                conversations.value(row).to_owned(),
                perspectives.value(row).to_owned(),
                u64::try_from(ordinals.value(row)).unwrap(),
            ));
        }
    }
    keys
}

fn divided(dialect: &str, format: Format) -> ExportRequest {
    let mut request = ExportRequest {
        format,
        valid_for: None,
        split: Some(Split::parse("train=60,test=40", SplitBy::Hash).unwrap()),
        ..plain(dialect)
    };
    request.filters.valid = true;
    request
}

#[test]
fn every_envelope_writes_the_rows_of_a_chat_separately_in_order_and_in_one_file() {
    let (test_dir, dataset) = milled();
    for envelope in envelopes_of_conversations() {
        let request = |format| ExportRequest {
            envelope: Some(envelope),
            ..divided(envelope.dialects[0], format)
        };
        let [as_lines, as_table] = [Format::Jsonl, Format::Parquet].map(|format| {
            let out = test_dir.path(&format!("{}-{format:?}", envelope.id));
            (export(&dataset, &request(format), &out).unwrap(), out)
        });
        let (rendered, invalid) = renderings(&dataset, envelope.dialects[0]);
        assert_balanced(&as_table.0);
        let over = as_table
            .0
            .left_out
            .iter()
            .find(|left| left.reason.starts_with("not-valid: "));
        assert_eq!(over.map(|left| left.rows), Some(invalid), "{}", envelope.id);

        let (mut seen, mut homes) = (BTreeSet::new(), BTreeMap::new());
        for (file, table) in as_lines.0.files.iter().zip(&as_table.0.files) {
            let keys = keys(&as_table.1.join(&table.name));
            assert!(keys.is_sorted_by(|one, next| (&one.0, &one.1) != (&next.0, &next.1) || one.2 < next.2));
            let records: Vec<Value> = lines(&as_lines.1, &file.name)
                .iter()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(records.len(), keys.len());
            for (key, record) in keys.iter().zip(&records) {
                assert_eq!(homes.entry(key.0.clone()).or_insert(&file.name), &&file.name);
                assert!(seen.insert(key.clone()), "{key:?} stands twice");
                let (content, _, tokens) = &rendered[key];
                assert!(*tokens <= 80, "{key:?} is over the budget");
                let rendering: Value = serde_json::from_str(content).unwrap();
                assert_same_words(envelope.id, &rendering, record);
            }
        }
        assert_eq!(
            homes.values().collect::<BTreeSet<_>>().len(),
            2,
            "no division shows anything"
        );
        let conversations: u64 = as_table.0.files.iter().map(|file| file.conversations).sum();
        assert_eq!(conversations, homes.len() as u64);
        assert_eq!(seen.len() as u64, as_table.0.kept);
        assert!(
            seen.iter().any(|key| key.2 > 0),
            "{}: no row but the first",
            envelope.id
        );
    }
}

/// Checks that the record has the turns of the rendering, under whatever keys.
fn assert_same_words(envelope: &str, rendering: &Value, record: &Value) {
    let joined = |first: &Value, last: &Value| {
        let mut turns = first.as_array().unwrap().clone();
        turns.extend(last.as_array().unwrap().iter().cloned());
        Value::Array(turns)
    };
    match envelope {
        "trl-prompt-completion" => {
            assert_eq!(
                joined(&record["prompt"], &record["completion"]),
                rendering["messages"]
            );
        }
        "trl-prompts" | "verl" | "openai-rft" => {
            // The system text of the dialect has another role for models that are trained with a grader.
            let key = if envelope == "openai-rft" {
                "messages"
            } else {
                "prompt"
            };
            let prompt = record[key].to_string().replace("\"developer\"", "\"system\"");
            let turns = rendering["messages"].to_string();
            let end = prompt.len() - 1;
            assert_eq!(prompt[..end], turns[..end], "{envelope}");
        }
        "openai-evals" | "inspect" => {
            let turns = rendering["messages"].as_array().unwrap();
            let answer = if envelope == "inspect" { "target" } else { "ideal" };
            assert_eq!(record[answer], turns.last().unwrap()["content"]);
            assert_eq!(record["input"].as_array().unwrap().len(), turns.len() - 1);
        }
        _ => {
            for (key, value) in rendering.as_object().unwrap() {
                assert_eq!(&record[key], value, "{envelope}");
            }
        }
    }
}

#[test]
fn samples_of_inspect_have_unique_ids_with_any_names() {
    let (test_dir, dataset) = milled();
    let out = test_dir.path("samples");
    let request = ExportRequest {
        envelope: chatmill_export::envelope::find("inspect"),
        ..plain("hf-messages")
    };
    let summary = export(&dataset, &request, &out).unwrap();
    let ids: BTreeSet<String> = lines(&out, "data.jsonl")
        .iter()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(ids.len() as u64, summary.kept);
    assert!(
        ids.contains("r0%40b@b%231") && ids.contains("r0%40b@b1#1"),
        "{ids:?}"
    );
}

#[test]
fn texts_and_lists_come_with_the_bytes_that_the_assistant_says() {
    let (test_dir, dataset) = milled();
    for (dialect, column) in [
        ("chatml", "text"),
        ("gryag-compact", "text"),
        ("mine", "text"),
        ("suna-llm", "content"),
    ] {
        let (rendered, _) = renderings(&dataset, dialect);
        let [as_lines, as_table] = [Format::Jsonl, Format::Parquet].map(|format| {
            let out = test_dir.path(&format!("{dialect}-{format:?}"));
            export(&dataset, &divided(dialect, format), &out).unwrap();
            out
        });
        let mut read = 0;
        for part in ["train", "test"] {
            let table = as_table.join(format!("{part}.parquet"));
            let said: Vec<(String, Vec<[usize; 2]>)> =
                batches(&table).iter().flat_map(spans_of(column)).collect();
            let written = lines(&as_lines, &format!("{part}.jsonl"));
            assert_eq!(written.len(), said.len());
            for ((key, (content, spans)), line) in keys(&table).iter().zip(said).zip(written) {
                let (wanted, bounds, _) = &rendered[key];
                assert_eq!((&content, &spans), (wanted, bounds), "{dialect} {key:?}");
                let words: String = spans
                    .iter()
                    .map(|[start, end]| content.get(*start..*end).unwrap())
                    .collect();
                assert!(
                    words.contains("turn") || words.contains("long"),
                    "{dialect}: {words}"
                );
                if column == "text" {
                    let spans: Vec<Value> = spans
                        .iter()
                        .map(|[start, end]| json!({"start": start, "end": end}))
                        .collect();
                    let line: Value = serde_json::from_str(&line).unwrap();
                    // In a row per turn, the last turn is trained on.
                    let learned = line["learned_spans"].as_array().unwrap();
                    assert!(
                        spans.ends_with(learned) && !learned.is_empty(),
                        "{dialect} {line}"
                    );
                    let wanted = json!({"text": content, "assistant_spans": spans, "learned_spans": learned});
                    assert_eq!(line, wanted);
                } else {
                    assert_eq!(line, content);
                }
                read += 1;
            }
        }
        assert_eq!(read, rendered.len(), "{dialect}");
    }
    // An object becomes columns, for which spans of the whole text have no meaning.
    let out = test_dir.path("object");
    export(&dataset, &divided("openai-chat", Format::Parquet), &out).unwrap();
    let schema = batches(&out.join("train.parquet"))[0].schema();
    assert!(schema.field_with_name("assistant_spans").is_err());
}

/// The texts and the spans of a table.
fn spans_of(column: &'static str) -> impl Fn(&arrow_array::RecordBatch) -> Vec<(String, Vec<[usize; 2]>)> {
    move |batch| {
        let texts = batch.column_by_name(column).unwrap().as_string::<i32>();
        let lists = batch.column_by_name("assistant_spans").unwrap().as_list::<i32>();
        let row = |row: usize| {
            let spans = lists.value(row);
            let [starts, ends] = [0, 1].map(|bound| {
                spans
                    .as_struct()
                    .column(bound)
                    .as_primitive::<Int64Type>()
                    .clone()
            });
            let bounds = |span: usize| {
                [starts.value(span), ends.value(span)].map(|bound| usize::try_from(bound).unwrap())
            };
            (
                texts.value(row).to_owned(),
                (0..starts.len()).map(bounds).collect(),
            )
        };
        (0..batch.num_rows()).map(row).collect()
    }
}
