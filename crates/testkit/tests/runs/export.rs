//! Exports of datasets that whole runs wrote.

mod clusters;
mod columns;
mod leaks;
mod nested;
mod shuffled;
mod splits;
mod windowed;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use chatmill_dataset::{Dataset, Texts};
use chatmill_export::{
    ENVELOPES, Envelope, ExportError, ExportRequest, ExportSummary, Filters, Format, Preferences, Split,
    SplitBy, envelope, export,
};
use chatmill_golden::assert_golden;
use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

/// Files of the demo: with tools, with rooms, a history without times, and a conversation of two.
const FILES: [&str; 4] = [
    "agent-workspace.sql",
    "assistant.json",
    "tool-requests.jsonl",
    "launch-week.json",
];

const PLAN: &str = "[render]\ndialects = [\"openai-chat\", \"hf-messages\", \"gemini-contents\", \"bedrock-converse\", \
                    \"sharegpt\", \"gryag-compact\", \"suna-llm\"]\n[count]\nencodings = [\"r50k_base\"]\n\
                    [limits]\nmax_reject_ratio = 1.0\n";

fn milled() -> (TestDir, Dataset) {
    let test_dir = TestDir::new();
    for file in FILES {
        test_dir.write(
            &format!("in/{file}"),
            fs::read(samples().join("demo").join(file)).unwrap(),
        );
    }
    // Short chats, some of which end with the person.
    let desk: Vec<Value> = (1..5)
        .map(|number| chat(&format!("desk{number}"), 0, number))
        .collect();
    test_dir.write("in/desk.jsonl", json_lines(&desk));
    test_dir.run("out", PLAN, 1).unwrap();
    let dataset = Dataset::open(&test_dir.path("out")).unwrap();
    (test_dir, dataset)
}

fn plain(dialect: &str) -> ExportRequest {
    ExportRequest::new(dialect, Format::Jsonl)
}

fn enveloped(id: &str) -> ExportRequest {
    let envelope = envelope::find(id).unwrap();
    ExportRequest {
        envelope: Some(envelope),
        ..plain(envelope.dialects[0])
    }
}

fn lines(folder: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(str::to_owned).collect()
}

fn batches(path: &Path) -> Vec<RecordBatch> {
    let file = fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    reader.map(Result::unwrap).collect()
}

/// The contents of a dialect in the dataset.
fn contents(dataset: &Dataset, dialect: &str) -> Vec<String> {
    let mut contents = Vec::new();
    for batch in dataset.batches("renderings", &["dialect", "content"]) {
        let batch = batch.unwrap();
        let (dialects, texts) = (
            batch.column::<Texts>("dialect").unwrap(),
            batch.column::<Texts>("content").unwrap(),
        );
        for row in (0..batch.rows()).filter(|row| dialects.at(*row) == dialect) {
            contents.push(texts.at(row).to_owned());
        }
    }
    contents
}

/// The envelopes of conversations. Those of preferences need a command to make their records, and are tested with it.
fn envelopes_of_conversations() -> impl Iterator<Item = &'static Envelope> {
    let all = ENVELOPES.iter().copied();
    all.filter(|envelope| envelope.preferences == Preferences::None)
}

fn assert_balanced(summary: &ExportSummary) {
    assert_eq!(summary.kept + summary.rows_left_out(), summary.read);
    assert_eq!(
        summary.files.iter().map(|file| file.rows).sum::<u64>(),
        summary.kept
    );
}

#[test]
fn each_envelope_writes_the_golden_lines() {
    let (test_dir, dataset) = milled();
    let golden = samples().join("exports");
    let mut expected_names = BTreeSet::new();
    for envelope in envelopes_of_conversations() {
        let id = envelope.id;
        let out = test_dir.path(&format!("export-{id}"));
        let mut request = enveloped(id);
        request.filters.valid = true;
        let summary = export(&dataset, &request, &out).unwrap();
        assert_balanced(&summary);
        assert!(summary.kept > 0, "{id} keeps nothing: {:?}", summary.left_out);
        let reasons: Vec<String> = summary
            .left_out
            .iter()
            .map(|left| format!("{} {}\n", left.rows, left.reason))
            .collect();
        let mut files = vec![
            (
                format!("{id}.jsonl"),
                fs::read_to_string(out.join("data.jsonl")).unwrap(),
            ),
            (format!("{id}.left-out.txt"), reasons.concat()),
        ];
        if let Some((name, text)) = (envelope.companion)(&summary.files) {
            assert_eq!(fs::read_to_string(out.join(name)).unwrap(), text);
            files.push((format!("{id}.{name}"), text));
        }
        for (name, text) in files {
            assert_golden(&golden.join(&name), &text);
            expected_names.insert(name);
        }
    }
    let found: BTreeSet<String> = fs::read_dir(&golden)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(found, expected_names, "a golden file that no test reads");
}

#[test]
fn an_envelope_of_preferences_takes_no_conversations() {
    let (test_dir, dataset) = milled();
    let error = export(&dataset, &enveloped("trl-dpo"), &test_dir.path("dpo")).unwrap_err();
    assert!(error.to_string().contains("takes rated answers"), "{error}");
    assert!(!test_dir.path("dpo").exists());
}

#[test]
fn without_an_envelope_a_line_is_the_rendering() {
    let (test_dir, dataset) = milled();
    for dialect in ["openai-chat", "gemini-contents", "suna-llm"] {
        let out = test_dir.path(dialect);
        let summary = export(&dataset, &plain(dialect), &out).unwrap();
        assert_balanced(&summary);
        assert_eq!(lines(&out, "data.jsonl"), contents(&dataset, dialect));
    }
    let out = test_dir.path("text");
    export(&dataset, &plain("gryag-compact"), &out).unwrap();
    let texts: Vec<String> = lines(&out, "data.jsonl")
        .iter()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(texts, contents(&dataset, "gryag-compact"));
}

#[test]
fn a_table_has_the_values_of_the_lines_and_null_for_an_absent_key() {
    let (test_dir, dataset) = milled();
    for id in [
        "openai-sft",
        "llama-factory",
        "bedrock-conversation-2024@tools",
        "inspect",
    ] {
        let (as_lines, as_table) = (
            test_dir.path(&format!("{id}-lines")),
            test_dir.path(&format!("{id}-table")),
        );
        let request = enveloped(id);
        export(&dataset, &request, &as_lines).unwrap();
        let table = ExportRequest {
            format: Format::Parquet,
            ..enveloped(id)
        };
        let summary = export(&dataset, &table, &as_table).unwrap();
        let records: Vec<Value> = lines(&as_lines, "data.jsonl")
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(summary.kept, records.len() as u64);
        let keys = envelope::find(id).unwrap().keys;
        let mut row = 0;
        for batch in batches(&as_table.join("data.parquet")) {
            for inner in 0..batch.num_rows() {
                for (key, kind) in keys {
                    let column = batch.column_by_name(key).unwrap().as_string::<i32>();
                    let found = column.is_valid(inner).then(|| column.value(inner));
                    let wanted = records[row].get(*key);
                    match kind {
                        chatmill_dataset::FreeKind::Text => {
                            assert_eq!(found, wanted.map(|text| text.as_str().unwrap()));
                        }
                        _ => assert_eq!(
                            found
                                .map(|json| serde_json::from_str::<Value>(json).unwrap())
                                .as_ref(),
                            wanted
                        ),
                    }
                }
                row += 1;
            }
        }
        assert_eq!(row, records.len());
    }
}

#[test]
fn the_columns_of_a_table_without_an_envelope_are_the_keys_of_its_renderings() {
    let (test_dir, dataset) = milled();
    let cases: [(&str, &[&str]); 4] = [
        ("openai-chat", &["messages", "tools"]),
        ("bedrock-converse", &["messages", "system", "toolConfig"]),
        ("suna-llm", &["content", "assistant_spans", "learned_spans"]),
        ("gryag-compact", &["text", "assistant_spans", "learned_spans"]),
    ];
    for (dialect, keys) in cases {
        let out = test_dir.path(dialect);
        let request = ExportRequest {
            format: Format::Parquet,
            ..plain(dialect)
        };
        export(&dataset, &request, &out).unwrap();
        let batch = &batches(&out.join("data.parquet"))[0];
        let schema = batch.schema();
        let names: Vec<&str> = schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .collect();
        let (front, own) = names.split_at(5);
        assert_eq!(
            front,
            ["conversation_id", "dialect", "profile", "perspective", "ordinal"]
        );
        let own: BTreeSet<&str> = own.iter().copied().collect();
        assert_eq!(own, keys.iter().copied().collect(), "{dialect}");
    }
}

#[test]
fn data_missing_in_the_dataset_is_refused_with_a_remedy() {
    let (test_dir, dataset) = milled();
    let encoding = Filters {
        max_tokens: Some("10@o200k_base".parse().unwrap()),
        ..Filters::default()
    };
    let cases = [
        (
            plain("mistral-chat"),
            "no rendering in the dialect `mistral-chat`",
            "add the dialect to `render.dialects`",
        ),
        (
            plain("hf-messages@string-arguments"),
            "`hf-messages@string-arguments`",
            "hf-messages@document",
        ),
        (
            plain("telepathy"),
            "`telepathy`",
            "take one that it holds: bedrock-converse@document",
        ),
        (
            ExportRequest {
                filters: encoding,
                ..plain("sharegpt")
            },
            "`o200k_base`",
            "--max-tokens 10@r50k_base",
        ),
        (
            ExportRequest {
                dialect: "sharegpt".to_owned(),
                ..enveloped("openai-sft")
            },
            "does not take the dialect `sharegpt`",
            "take `--dialect openai-chat`",
        ),
    ];
    let out = test_dir.path("refused");
    for (request, message_part, step_part) in cases {
        match export(&dataset, &request, &out).unwrap_err() {
            ExportError::ExportRequest { message, step } => {
                assert!(message.contains(message_part), "{message}");
                assert!(step.contains(step_part), "{step}");
            }
            other => panic!("{other}"),
        }
        assert!(!out.exists());
    }
}

#[test]
fn an_existing_folder_is_refused_and_not_changed() {
    let (test_dir, dataset) = milled();
    let out = test_dir.path("kept");
    export(&dataset, &plain("sharegpt"), &out).unwrap();
    let before = fs::read(out.join("data.jsonl")).unwrap();
    for place in [out.clone(), test_dir.path("out"), test_dir.path("in")] {
        let refused = export(&dataset, &plain("openai-chat"), &place).unwrap_err();
        assert!(refused.to_string().contains("cannot be used"), "{refused}");
    }
    assert_eq!(fs::read(out.join("data.jsonl")).unwrap(), before);
    assert!(chatmill_dataset::certify(&test_dir.path("out")).unwrap().holds());
}

#[test]
fn an_envelope_objects_to_too_few_records_and_to_files_that_cannot_be_one_table() {
    let (test_dir, dataset) = milled();
    let out = test_dir.path("few");
    let mut request = enveloped("openai-sft");
    request.filters.max_tokens = Some("60@r50k_base".parse().unwrap());
    let summary = export(&dataset, &request, &out).unwrap();
    let wanted = format!(
        "data.jsonl has {} records, openai-sft needs at least 10",
        summary.kept
    );
    assert_eq!(summary.problems, [wanted]);

    // However the rows are split, one file may have tools or pictures while another has none.
    let mut seen = BTreeSet::new();
    for share in 1..10 {
        let mut request = enveloped("trl-messages");
        let split = format!("train={share},test={}", 10 - share);
        request.split = Some(Split::parse(&split, SplitBy::Hash).unwrap());
        let summary = export(&dataset, &request, &test_dir.path(&split)).unwrap();
        let has = |file: &chatmill_export::FileSummary| {
            ["tools", "images"].map(|key| file.keys.iter().any(|other| other == key))
        };
        let filled: BTreeSet<[bool; 2]> = summary
            .files
            .iter()
            .filter(|file| file.rows > 0)
            .map(has)
            .collect();
        let objects = summary.problems.iter().any(|said| said.contains("has the key `"));
        assert_eq!(objects, filled.len() > 1, "{:?}", summary.problems);
        seen.insert(objects);
    }
    assert_eq!(seen.len(), 2, "no division shows both");
}

#[test]
fn the_same_dataset_gives_the_same_bytes() {
    let (test_dir, dataset) = milled();
    test_dir.run("threads", PLAN, 2).unwrap();
    let other = Dataset::open(&test_dir.path("threads")).unwrap();
    for format in [Format::Jsonl, Format::Parquet] {
        let written: Vec<BTreeMap<String, Vec<u8>>> =
            [("one", &dataset), ("two", &dataset), ("three", &other)]
                .into_iter()
                .map(|(name, dataset)| {
                    let out = test_dir.path(&format!("{name}-{format:?}"));
                    let mut request = enveloped("trl-messages");
                    request.format = format;
                    request.split = Some(Split::parse("train=50,test=50", SplitBy::Hash).unwrap());
                    export(dataset, &request, &out).unwrap();
                    files(&out)
                })
                .collect();
        // Two parts, their assignment, the summary, the card and its picture.
        assert_eq!(written[0].len(), 6);
        assert_eq!(written[0], written[1]);
        assert_eq!(written[0], written[2]);
    }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

/// A group chat of two people that begins on a day and has some messages.
fn chat(id: &str, day: u32, messages: usize) -> Value {
    let list: Vec<Value> = (0..messages)
        .map(|index| {
            json!({
                "message_id": format!("m{index}"),
                "create_time": format!("2026-{:02}-{:02}T03:04:{:02}Z", 1 + day / 28 % 12, 1 + day % 28, index % 60),
                "sender": if index % 2 == 0 { "u1" } else { "b1" },
                "type": "text",
                "content": format!("word {day} {index}"),
                "refer_list": [],
            })
        })
        .collect();
    json!({
        "version": "1.0.0",
        "conversation_meta": {"scene": "group_chat", "scene_desc": {}, "name": "Desk", "group_id": id, "user_details": {
            "u1": {"full_name": "Ann", "role": "user"}, "b1": {"full_name": "Bot", "role": "assistant"}
        }},
        "conversation_list": list,
    })
}

fn json_lines(chats: &[Value]) -> String {
    chats
        .iter()
        .fold(String::new(), |text, chat| text + &chat.to_string() + "\n")
}
