//! Unknown data outside records is reported: a column that no format has, in every container of rows, and a member of
//! an archive that is no chat. The tests of the sources cover unknown fields in records.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use chatmill_workshop::TestDir;
use parquet::arrow::ArrowWriter;
use serde_json::Value;

use super::recognition::tar;

const WORDS: &str = "yellow bird sings";

/// The examples of a source.
fn examples(source: &str) -> Vec<PathBuf> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let entries = fs::read_dir(samples.join(source).join("example")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The cells of an example's rows, beginning with the column names, each row with one more cell.
fn table(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let read = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let rows = read.flat_map(|value| match value.unwrap() {
        Value::Array(rows) => rows,
        row => vec![row],
    });
    let rows: Vec<Value> = rows.collect();
    let mut names: Vec<String> = Vec::new();
    for name in rows.iter().flat_map(|row| row.as_object().unwrap().keys()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let cell = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let cells = |row: &Value| {
        names
            .iter()
            .map(|name| cell(row.get(name)))
            .chain([WORDS.to_owned()])
            .collect()
    };
    let mut table: Vec<Vec<String>> = rows.iter().map(cells).collect();
    table.insert(0, names.iter().cloned().chain(["canary".to_owned()]).collect());
    table
}

fn separated(table: &[Vec<String>], separator: &str) -> Vec<u8> {
    let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
    let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(separator);
    table.iter().map(line).collect::<Vec<_>>().join("\n").into_bytes()
}

fn dumped(table: &[Vec<String>]) -> Vec<u8> {
    let quoted = |cell: &String| format!("'{}'", cell.replace('\'', "''"));
    let row = |row: &Vec<String>| format!("({})", row.iter().map(quoted).collect::<Vec<_>>().join(","));
    let rows: Vec<String> = table.iter().skip(1).map(row).collect();
    let names = table[0].join(",");
    format!("INSERT INTO messages ({names}) VALUES {};\n", rows.join(",")).into_bytes()
}

fn columns(table: &[Vec<String>]) -> Vec<u8> {
    let column = |(at, name): (usize, &String)| {
        let cells = table
            .iter()
            .skip(1)
            .map(|row| Some(row[at].as_str()).filter(|cell| !cell.is_empty()));
        (name.clone(), Arc::new(cells.collect::<StringArray>()) as ArrayRef)
    };
    let batch = RecordBatch::try_from_iter(table[0].iter().enumerate().map(column)).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn an_unknown_column_is_reported_in_every_container_of_rows() {
    let test_dir = TestDir::new();
    for source in ["suna-rows", "gryag-db", "table-rows"] {
        let table = table(&examples(source)[0]);
        let mut containers = vec![
            ("rows.csv", separated(&table, ",")),
            ("rows.tsv", separated(&table, "\t")),
            ("rows.parquet", columns(&table)),
        ];
        // A dump is read by the names of its tables.
        containers.extend((source == "suna-rows").then(|| ("rows.sql", dumped(&table))));
        for (name, bytes) in containers {
            let (findings, verdict) = TestDir::check(&test_dir.write(name, bytes));
            assert_eq!(verdict.source, Some(source), "{name}");
            let path = |checked: &&_| json_path(checked).is_some_and(|path| path.ends_with(".canary"));
            let told = findings
                .iter()
                .find(path)
                .unwrap_or_else(|| panic!("{source} {name}"));
            assert_eq!(
                told.located.finding.count,
                table.len() as u64 - 1,
                "{source} {name}"
            );
        }
    }
}

#[test]
fn a_member_that_is_no_chat_is_named_beside_every_example() {
    let test_dir = TestDir::new();
    for source in chatmill_source::SOURCES {
        for path in examples(source.id()) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let chat = fs::read(&path).unwrap();
            for member in [
                "canary.md",
                "canary.yaml",
                "canary.html",
                "canary.txt",
                "canary.json",
            ] {
                let archive = tar(&[(name, &chat), (member, WORDS.as_bytes())]);
                let (findings, _) = TestDir::check(&test_dir.write("all.tar", archive));
                let is_named = findings.iter().any(|checked| checked.entry == member);
                assert!(is_named, "{} {member}", source.id());
            }
        }
    }
}

fn json_path(checked: &chatmill_engine::check::Checked) -> Option<&str> {
    checked.located.json_path.as_deref()
}
