//! The tables of a plan without a dataset: over files, over data in memory, and over records, one per line.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::tables::{TablesError, tables};
use crate::{Plan, Silent, pipeline};
use chatmill_dataset::{MemoryTable, TABLES};
use chatmill_intake::{Input, MemoryForm, MemoryInput};

const LEAST: &str = "name = \"t\"\n[[input]]\npath = \"held\"\n[render]\ndialects = [\"chatml\", \"openai-chat\"]\n[output]\npath = \"o\"\n";

fn plan(path: &Path, input: Option<&Input>) -> Plan {
    let overrides = [format!("input=[{{path = \"{}\"}}]", path.display())];
    let pipeline = pipeline::parse(LEAST, &overrides, Path::new("options")).unwrap();
    Plan::for_tables(pipeline, Path::new("."), input).unwrap()
}

/// Returns the wanted tables of a plan, slice by slice.
fn read(plan: &Plan, wanted: &[&str], threads: usize) -> Vec<MemoryTable> {
    let mut all = Vec::new();
    let stop = AtomicBool::new(false);
    tables(plan, wanted, threads, &Silent, &stop, &mut |tables| {
        all.extend(tables);
        true
    })
    .unwrap();
    all
}

fn rows(tables: &[MemoryTable], name: &str) -> usize {
    let of_name = tables.iter().filter(|table| table.name() == name);
    let batches = of_name.flat_map(|table| table.clone().into_batches());
    batches.map(|batch| batch.unwrap().num_rows()).sum()
}

fn demo() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/demo");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn in_memory(bytes: &[u8], form: MemoryForm, name: &str) -> Input {
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    Input::in_memory(name, MemoryInput::new(Arc::new(bytes), form))
}

#[test]
fn bytes_in_memory_are_read_like_a_file() {
    let mut conversations = 0;
    for path in demo() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let input = in_memory(&fs::read(&path).unwrap(), MemoryForm::File, name);
        let of_file = read(&plan(&path, None), TABLES, 1);
        let of_memory = read(&plan(&path, Some(&input)), TABLES, 2);
        assert!(of_file == of_memory, "{name}");
        conversations += rows(&of_file, "conversations");
    }
    assert_eq!(conversations, 29);
}

#[test]
fn records_keep_their_numbers_with_framing_errors_between_them() {
    let lines = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\nnull\n\"\"\n[1]\n{\"messages\":[{\"role\":\"user\",\"content\":\"b\"}]}\n";
    let input = in_memory(lines.as_bytes(), MemoryForm::Lines, "held");
    let tables = read(&plan(Path::new("held"), Some(&input)), TABLES, 1);
    assert_eq!(rows(&tables, "conversations"), 2);
    assert_eq!(rows(&tables, "rejects"), 3);
    assert_eq!(rows(&tables, "renderings"), 4);
}

#[test]
fn only_wanted_tables_have_rows() {
    let path = demo().remove(2);
    let tables = read(&plan(&path, None), &["messages", "losses"], 1);
    assert!(rows(&tables, "messages") > 0 && rows(&tables, "losses") > 0);
    let others = tables
        .iter()
        .filter(|table| !["messages", "losses"].contains(&table.name()));
    assert!(others.into_iter().all(MemoryTable::is_empty));
}

#[test]
fn a_plan_without_dialects_renders_nothing_and_reads_all_the_same() {
    let path = demo().remove(2);
    let whole = read(&plan(&path, None), &["messages", "findings"], 1);
    let mut reading = plan(&path, None);
    reading.targets.clear();
    assert!(whole == read(&reading, &["messages", "findings"], 1));
    assert_eq!(rows(&read(&reading, TABLES, 1), "renderings"), 0);
}

#[test]
fn tables_end_when_the_reader_wants_no_more_and_are_an_error_when_stopped() {
    let record = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}\n",
        "word ".repeat(300)
    );
    let input = in_memory(record.repeat(6000).as_bytes(), MemoryForm::Lines, "held");
    let plan = plan(Path::new("held"), Some(&input));
    let mut delivered = 0;
    let stop = AtomicBool::new(false);
    let ended = tables(&plan, &["messages"], 1, &Silent, &stop, &mut |_| {
        delivered += 1;
        false
    });
    assert!(ended.is_ok());
    assert_eq!(delivered, 1, "of several slices");
    let stop = AtomicBool::new(true);
    let ended = tables(&plan, &["messages"], 1, &Silent, &stop, &mut |_| true);
    assert!(matches!(ended, Err(TablesError::Read(_))));
}

#[test]
fn an_input_that_cannot_be_merged_gives_no_table() {
    let chat =
        r#"{"messages":[{"role":"user","content":"Is it open?"},{"role":"assistant","content":"Yes."}]}"#;
    let input = in_memory(chat.as_bytes(), MemoryForm::File, "chat.json");
    let overrides = ["input=[{path = \"held\", merge = true}]".to_owned()];
    let pipeline = pipeline::parse(LEAST, &overrides, Path::new("options")).unwrap();
    let plan = Plan::for_tables(pipeline, Path::new("."), Some(&input)).unwrap();
    let stop = AtomicBool::new(false);
    let refused = tables(&plan, TABLES, 1, &Silent, &stop, &mut |_| panic!("a table"));
    let message = refused.unwrap_err().to_string();
    assert!(
        message.starts_with("input.merge: records of openai-messages as `chat.json` has them"),
        "{message}"
    );
}
