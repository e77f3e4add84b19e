//! Columns that are added to records, and parts that consist of several files.

use chatmill_dataset::Dataset;
use chatmill_export::{ExportRequest, ExportSummary, Format, NestedAs, Split, SplitBy, export};
use chatmill_workshop::TestDir;
use serde_json::Value;

use super::splits::conversations;
use super::{assert_balanced, batches, chat, enveloped, json_lines, lines, plain};

const PLAN: &str =
    "[render]\ndialects = [\"hf-messages\", \"openai-chat\"]\n[count]\nencodings = [\"r50k_base\"]\n";

/// A dataset of thirty short chats.
fn short_chats() -> (TestDir, Dataset) {
    let test_dir = TestDir::new();
    let chats: Vec<Value> = (0..30).map(|day| chat(&format!("t{day}"), day, 4)).collect();
    test_dir.write("in/1.jsonl", json_lines(&chats));
    test_dir.run("out", PLAN, 1).unwrap();
    let dataset = Dataset::open(&test_dir.path("out")).unwrap();
    (test_dir, dataset)
}

#[test]
fn a_part_in_several_files_holds_the_rows_of_one_in_their_order() {
    let (test_dir, dataset) = short_chats();
    let written = |name: &str, request: &ExportRequest| -> (Vec<String>, ExportSummary) {
        let out = test_dir.path(name);
        let summary = export(&dataset, request, &out).unwrap();
        assert_balanced(&summary);
        let rows = summary.files.iter().flat_map(|file| match request.format {
            Format::Jsonl | Format::Markdown => lines(&out, &file.name),
            Format::Parquet => conversations(&out.join(&file.name)),
        });
        (rows.collect(), summary)
    };
    for (number, (format, shuffle)) in [
        (Format::Jsonl, None),
        (Format::Jsonl, Some(1)),
        (Format::Parquet, None),
    ]
    .into_iter()
    .enumerate()
    {
        let one = ExportRequest {
            format,
            shuffle,
            columns: vec!["source".to_owned()],
            split: Some(Split::parse("train=80,test=20", SplitBy::Hash).unwrap()),
            ..enveloped("trl-messages")
        };
        let (rows, whole) = written(&format!("one{number}"), &one);
        let several = ExportRequest {
            shard_bytes: Some(1000),
            ..one
        };
        let (sharded_rows, sharded) = written(&format!("several{number}"), &several);
        assert_eq!(sharded_rows, rows, "{format:?} {shuffle:?}");
        for (part, file) in [("train", &whole.files[0]), ("test", &whole.files[1])] {
            let shards: Vec<_> = sharded.files.iter().filter(|shard| shard.part == part).collect();
            assert!(shards.len() > 1, "{part}");
            for (place, shard) in shards.iter().enumerate() {
                let (count, suffix) = (shards.len(), file.name.rsplit('.').next().unwrap());
                assert_eq!(shard.name, format!("{part}-{place:05}-of-{count:05}.{suffix}"));
                assert!(shard.bytes <= 1000 || format == Format::Parquet, "{shard:?}");
                assert_eq!(shard.keys, file.keys);
            }
            let conversations: u64 = shards.iter().map(|shard| shard.conversations).sum();
            assert_eq!(conversations, file.conversations, "{part}");
        }
    }
}

#[test]
fn added_columns_have_the_types_of_their_tables_and_lines_the_same_values() {
    let (test_dir, dataset) = short_chats();
    let columns = [
        "conversation_id",
        "started_at",
        "valid",
        "loss_codes",
        "tokens_r50k_base",
        "participants",
    ];
    let wanted = ["Timestamp(µs, \"UTC\")", "Boolean", "Int64", "Utf8"];
    for nested in [NestedAs::Json, NestedAs::Struct] {
        let request = ExportRequest {
            format: Format::Parquet,
            nested,
            columns: columns.map(str::to_owned).to_vec(),
            ..plain("openai-chat")
        };
        let out = test_dir.path(&format!("{nested:?}"));
        export(&dataset, &request, &out).unwrap();
        let batch = &batches(&out.join("data.parquet"))[0];
        let schema = batch.schema();
        let kind = |name: &str| schema.field_with_name(name).unwrap().data_type().to_string();
        let found = ["started_at", "valid", "tokens_r50k_base", "participants"].map(kind);
        assert_eq!(found, wanted);
        assert!(kind("loss_codes").starts_with("List("));
        // The key of the row is in front, only once.
        assert_eq!(
            schema
                .fields()
                .iter()
                .filter(|field| field.name() == "conversation_id")
                .count(),
            1
        );
    }
    let request = ExportRequest {
        columns: columns.map(str::to_owned).to_vec(),
        ..plain("openai-chat")
    };
    let out = test_dir.path("lines");
    export(&dataset, &request, &out).unwrap();
    let first: Value = serde_json::from_str(&lines(&out, "data.jsonl")[0]).unwrap();
    assert_eq!(first["conversation_id"], "t0");
    assert_eq!(first["started_at"], "2026-01-01T03:04:00Z");
    assert_eq!(first["valid"], true);
    assert!(first["tokens_r50k_base"].is_u64() && first["participants"].is_array());
}
