//! Grouping of conversations with rows that are far apart: the same result for any container, memory limit and number of threads.

use std::fmt::Write;

use chatmill_workshop::{TestDir, rows as columns};
use serde_json::{Value, json};

const THREADS: usize = 20;
const ROWS: usize = 640;

const BARE: &str = "[render]\ndialects = [\"suna-llm\"]\n[count]\nencodings = []\n";

const COLUMNS: [&str; 7] = [
    "message_id",
    "thread_id",
    "type",
    "is_llm_message",
    "content",
    "metadata",
    "created_at",
];

/// The rows of many threads in turn; every third row is a call, and the next one in its thread the result.
fn rows() -> Vec<Value> {
    (0..ROWS)
        .map(|row| {
            let thread = row % THREADS;
            let turn = row / THREADS;
            let id = format!("r{row:05}");
            let (kind, content) = match turn % 4 {
                0 => ("user", json!({"role": "user", "content": format!("Question {turn} of {thread}:\n\"{}\"", "why\\ ".repeat(turn))})),
                1 => (
                    "assistant",
                    json!({"role": "assistant", "content": "I look.", "tool_calls": [
                        {"id": format!("c{row}"), "type": "function", "function": {"name": "look", "arguments": "{\"at\": \"x\ty\"}"}}]}),
                ),
                2 => (
                    "tool",
                    json!({"role": "tool", "tool_call_id": format!("c{}", row - THREADS), "name": "look", "content": "found 12"}),
                ),
                _ => ("assistant", json!({"role": "assistant", "content": format!("Answer {turn}, шановні: {}", "так ".repeat(thread))})),
            };
            json!({
                "message_id": id,
                "thread_id": format!("t{thread}"),
                "type": kind,
                "is_llm_message": true,
                "content": content,
                "metadata": {"run": turn},
                "created_at": format!("2026-01-01T{:02}:{:02}:{:02}+00:00", row / 3600, row / 60 % 60, row % 60),
            })
        })
        .collect()
}

fn cell(row: &Value, column: &str) -> String {
    match &row[column] {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "t" } else { "f" }.to_owned(),
        other => other.to_string(),
    }
}

fn copy(rows: &[Value]) -> String {
    let mut dump = "--\n-- PostgreSQL database dump\n--\n\nSET client_encoding = 'UTF8';\n\n\
                    CREATE TABLE public.threads (thread_id text);\n\nCOPY public.threads (thread_id) FROM stdin;\nt0\nt1\n\\.\n\n"
        .to_owned();
    writeln!(dump, "COPY public.messages ({}) FROM stdin;", COLUMNS.join(", ")).unwrap();
    for row in rows {
        let cells = COLUMNS.map(|column| {
            cell(row, column)
                .replace('\\', "\\\\")
                .replace('\n', "\\n")
                .replace('\t', "\\t")
        });
        writeln!(dump, "{}", cells.join("\t")).unwrap();
    }
    dump.push_str("\\.\n\n--\n-- PostgreSQL database dump complete\n--\n");
    dump
}

fn inserts(rows: &[Value]) -> String {
    let mut dump = "--\n-- PostgreSQL database dump\n--\n\n".to_owned();
    for pair in rows.chunks(2) {
        let tuples: Vec<String> = pair
            .iter()
            .map(|row| {
                let cells = COLUMNS.map(|column| format!("'{}'", cell(row, column).replace('\'', "''")));
                format!("\t({})", cells.join(", "))
            })
            .collect();
        writeln!(
            dump,
            "INSERT INTO public.messages ({}) VALUES\n{};",
            COLUMNS.join(", "),
            tuples.join(",\n")
        )
        .unwrap();
    }
    dump.push_str("\n--\n-- PostgreSQL database dump complete\n--\n");
    dump
}

fn csv(rows: &[Value]) -> String {
    let mut text = format!("{}\n", COLUMNS.join(","));
    for row in rows {
        let cells = COLUMNS.map(|column| format!("\"{}\"", cell(row, column).replace('"', "\"\"")));
        writeln!(text, "{}", cells.join(",")).unwrap();
    }
    text
}

fn lines(rows: &[Value]) -> String {
    rows.iter().fold(String::new(), |mut text, row| {
        writeln!(text, "{row}").unwrap();
        text
    })
}

fn texts(test_dir: &TestDir, table: &str, column: &str) -> Vec<String> {
    let found = columns::texts(&test_dir.path("out"), table, column);
    found.into_iter().map(Option::unwrap).collect()
}

/// The ids and contents of a dataset's conversations, in the order of their ids.
fn conversations(test_dir: &TestDir, out: &str) -> Vec<(Option<String>, Option<String>)> {
    let ids = columns::texts(&test_dir.path(out), "conversations", "conversation_id");
    let hashes = columns::texts(&test_dir.path(out), "conversations", "content_hash");
    let mut found: Vec<_> = ids.into_iter().zip(hashes).collect();
    found.sort();
    found
}

#[test]
fn rows_make_the_same_conversations_in_any_container() {
    let rows = rows();
    let mut newest_first = rows.clone();
    newest_first.reverse();
    let pages: Vec<(String, String)> = newest_first
        .chunks(100)
        .enumerate()
        .map(|(page, rows)| {
            (
                format!("in/page-{page:02}.json"),
                json!({"messages": rows}).to_string(),
            )
        })
        .collect();
    let forms: Vec<(&str, Vec<(String, String)>)> = vec![
        ("copy", vec![("in/dump.sql".to_owned(), copy(&rows))]),
        ("inserts", vec![("in/dump.sql".to_owned(), inserts(&rows))]),
        ("csv", vec![("in/messages.csv".to_owned(), csv(&rows))]),
        ("lines", vec![("in/messages.jsonl".to_owned(), lines(&rows))]),
        (
            "array",
            vec![(
                "in/messages.json".to_owned(),
                Value::from(newest_first).to_string(),
            )],
        ),
        ("pages", pages),
    ];
    let mut first = None;
    for (form, files) in forms {
        let test_dir = TestDir::new();
        for (name, text) in files {
            test_dir.write(&name, text);
        }
        let summary = test_dir.run("out", BARE, 2).unwrap();
        let totals = &summary.totals;
        assert_eq!(
            (totals.framed, totals.accepted),
            (ROWS as u64, ROWS as u64),
            "{form}"
        );
        assert_eq!(
            (totals.conversations, totals.messages),
            (THREADS as u64, ROWS as u64),
            "{form}"
        );
        let found = conversations(&test_dir, "out");
        let expected = first.get_or_insert_with(|| found.clone());
        assert_eq!(&found, expected, "{form}");
        let statuses = texts(&test_dir, "tool_calls", "status");
        assert!(
            !statuses.is_empty() && statuses.iter().all(|status| status == "paired"),
            "{form}"
        );
    }
}

#[test]
fn threads_memory_and_spilling_to_disk_change_no_byte() {
    let test_dir = TestDir::new();
    test_dir.write("in/dump.sql", copy(&rows()));
    // The limit is far below the length of the dump, so rows go to disk, and partitions are split again.
    let small = format!("{BARE}[limits]\npartition = 3_000\n");
    let summary = test_dir.run("one", &small, 1).unwrap();
    assert!(summary.manifest.tables[0].files.len() > 10);
    assert_eq!(summary.totals.conversations, THREADS as u64);
    for threads in [2, 7] {
        let out = format!("threads-{threads}");
        test_dir.run(&out, &small, threads).unwrap();
        assert_eq!(test_dir.hashes("one"), test_dir.hashes(&out), "{threads} threads");
    }
    test_dir.run("roomy", BARE, 2).unwrap();
    assert_eq!(conversations(&test_dir, "one"), conversations(&test_dir, "roomy"));
}

#[test]
fn files_of_one_input_are_merged_and_repeats_dropped_by_default() {
    let rows = rows();
    let test_dir = TestDir::new();
    // The pages overlap, as the pages of a growing list do.
    test_dir.write("in/a.json", json!({"messages": &rows[..350]}).to_string());
    test_dir.write("in/b.json", json!({"messages": &rows[250..]}).to_string());
    let merged = test_dir.run("merged", BARE, 2).unwrap();
    assert_eq!(merged.totals.conversations, THREADS as u64);
    assert_eq!(merged.totals.messages, ROWS as u64);
    let repeated: u64 = merged
        .manifest
        .inputs
        .iter()
        .map(|input| input.rows.repeated)
        .sum();
    assert_eq!(repeated, 100);

    let apart = test_dir.path("apart.toml");
    std::fs::write(
        &apart,
        format!(
            "name = \"apart\"\n[[input]]\npath = \"in/*\"\nmerge = false\n[output]\npath = \"apart\"\n{BARE}"
        ),
    )
    .unwrap();
    let plan = chatmill_engine::Plan::load(&apart, &[], None, &[]).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let summary = chatmill_engine::run(
        plan,
        chatmill_engine::RunOptions::default(),
        &chatmill_engine::Silent,
        &stop,
    )
    .unwrap();
    assert_eq!(summary.totals.conversations, 2 * THREADS as u64);
}
