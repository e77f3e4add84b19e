//! Rows of conversations that lie far apart: gathered, the same whatever they came in, whatever the memory and the threads.

use std::fmt::Write;

use chatmill_workshop::{Workshop, rows as columns};
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

/// Rows of many threads in turn; every third is a call, the one after it in its thread the result.
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

fn texts(workshop: &Workshop, table: &str, column: &str) -> Vec<String> {
    let found = columns::texts(&workshop.path("out"), table, column);
    found.into_iter().map(Option::unwrap).collect()
}

/// Ids and contents of a dataset's conversations, in the order of their ids.
fn conversations(workshop: &Workshop, out: &str) -> Vec<(Option<String>, Option<String>)> {
    let ids = columns::texts(&workshop.path(out), "conversations", "conversation_id");
    let hashes = columns::texts(&workshop.path(out), "conversations", "content_hash");
    let mut found: Vec<_> = ids.into_iter().zip(hashes).collect();
    found.sort();
    found
}

#[test]
fn rows_make_the_same_conversations_whatever_they_came_in() {
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
        let workshop = Workshop::new();
        for (name, text) in files {
            workshop.write(&name, text);
        }
        let summary = workshop.run("out", BARE, 2).unwrap();
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
        let found = conversations(&workshop, "out");
        let expected = first.get_or_insert_with(|| found.clone());
        assert_eq!(&found, expected, "{form}");
        let statuses = texts(&workshop, "tool_calls", "status");
        assert!(
            !statuses.is_empty() && statuses.iter().all(|status| status == "paired"),
            "{form}"
        );
    }
}

#[test]
fn threads_memory_and_spilling_to_disk_change_no_byte() {
    let workshop = Workshop::new();
    workshop.write("in/dump.sql", copy(&rows()));
    // Far less than the dump: rows go to disk, and partitions are spread again.
    let small = format!("{BARE}[limits]\npartition = 3_000\n");
    let summary = workshop.run("one", &small, 1).unwrap();
    assert!(summary.manifest.tables[0].files.len() > 10);
    assert_eq!(summary.totals.conversations, THREADS as u64);
    for threads in [2, 7] {
        let out = format!("threads-{threads}");
        workshop.run(&out, &small, threads).unwrap();
        assert_eq!(workshop.hashes("one"), workshop.hashes(&out), "{threads} threads");
    }
    workshop.run("roomy", BARE, 2).unwrap();
    assert_eq!(conversations(&workshop, "one"), conversations(&workshop, "roomy"));
}

#[test]
fn files_of_one_input_are_merged_and_repeats_dropped_unless_the_request_says_otherwise() {
    let rows = rows();
    let workshop = Workshop::new();
    // The pages overlap, as pages of a list that grows do.
    workshop.write("in/a.json", json!({"messages": &rows[..350]}).to_string());
    workshop.write("in/b.json", json!({"messages": &rows[250..]}).to_string());
    let merged = workshop.run("merged", BARE, 2).unwrap();
    assert_eq!(merged.totals.conversations, THREADS as u64);
    assert_eq!(merged.totals.messages, ROWS as u64);
    let repeated: u64 = merged
        .manifest
        .inputs
        .iter()
        .map(|input| input.rows.repeated)
        .sum();
    assert_eq!(repeated, 100);

    let apart = workshop.path("apart.toml");
    std::fs::write(
        &apart,
        format!(
            "name = \"apart\"\n[[input]]\npath = \"in/*\"\nmerge = false\n[output]\npath = \"apart\"\n{BARE}"
        ),
    )
    .unwrap();
    let plan = chatmill_engine::Plan::load(&apart, &[], None).unwrap();
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

#[test]
fn a_broken_row_costs_itself_and_is_placed_where_it_stands() {
    let mut dump = lines(&rows());
    let at = dump.find('{').unwrap();
    assert_eq!(at, 0);
    let second = dump.find('\n').unwrap() + 1;
    dump.insert_str(
        second,
        "{\"message_id\": broken}\n17\n{\"message_id\":\"lonely\"}\n",
    );
    let workshop = Workshop::new();
    let path = workshop.write("in/messages.jsonl", &dump);
    let summary = workshop
        .run("out", &format!("{BARE}[limits]\nmax_reject_ratio = 1.0\n"), 2)
        .unwrap();
    let totals = &summary.totals;
    assert_eq!((totals.accepted, totals.rejected), (ROWS as u64, 3));
    let (findings, verdict) = Workshop::check(&path);
    assert_eq!(verdict.records, ROWS as u64 + 3);
    let mut rejected: Vec<(u64, u64)> = findings
        .iter()
        .filter(|checked| checked.located.finding.severity == chatmill_diag::Severity::Error)
        .map(|checked| (checked.record.unwrap(), checked.located.line_column.unwrap().0))
        .collect();
    rejected.sort_unstable();
    assert_eq!(rejected, [(1, 2), (2, 3), (3, 4)]);
}

#[test]
fn a_limit_keeps_whole_conversations_and_a_selection_counts_every_row() {
    let workshop = Workshop::new();
    workshop.write("in/dump.sql", copy(&rows()));
    let limited = workshop
        .run("limited", &format!("{BARE}[select]\nlimit = 5\n"), 2)
        .unwrap();
    let per_thread = (ROWS / THREADS) as u64;
    assert_eq!(limited.totals.conversations, 5);
    assert_eq!(limited.totals.accepted, 5 * per_thread);
    assert_eq!(limited.totals.filtered, ROWS as u64 - 5 * per_thread);
    let chosen = workshop
        .run(
            "chosen",
            &format!("{BARE}[select]\nconversations = [\"t7\", \"t9\"]\n"),
            2,
        )
        .unwrap();
    assert_eq!(
        (chosen.totals.conversations, chosen.totals.accepted),
        (2, 2 * per_thread)
    );
    assert_eq!(
        chosen.totals.filtered_by["conversations"],
        ROWS as u64 - 2 * per_thread
    );
}

#[test]
fn a_strangers_table_is_read_through_a_map_and_other_tables_are_counted() {
    let workshop = Workshop::new();
    let mut dump = "--\n-- PostgreSQL database dump\n--\n\nCOPY auth.users (id, password) FROM stdin;\nu1\thunter2\n\\.\n\n\
                    COPY public.posts (post, room, author, said, kind, at, gone) FROM stdin;\n"
        .to_owned();
    for post in 0..6 {
        let kind = if post % 2 == 0 { "human" } else { "bot" };
        let gone = if post == 4 { "t" } else { "f" };
        writeln!(
            dump,
            "p{post}\troom {}\tann\tword {post}\\nnext\t{kind}\t2026-01-01 10:00:0{post}+00\t{gone}",
            post % 3 / 2
        )
        .unwrap();
    }
    dump.push_str("\\.\n\n--\n-- PostgreSQL database dump complete\n--\n");
    workshop.write("in/dump.sql", &dump);
    let map = format!(
        "{BARE}[table_map.desk]\ntable = \"posts\"\nid = \"post\"\nconversation = \"room\"\nsender = \"author\"\ncontent = \"said\"\n\
         role = \"kind\"\ncreated_at = \"at\"\nfilter = {{ gone = [\"f\"] }}\n"
    );
    let summary = workshop.run("out", &map, 1).unwrap();
    assert_eq!((summary.totals.framed, summary.totals.conversations), (5, 2));
    let input = &summary.manifest.inputs.get(0).unwrap();
    assert_eq!(input.source.as_deref(), Some("table-rows"));
    assert_eq!(input.skipped_tables["auth.users"], 1);
    assert_eq!(input.skipped_tables["public.posts"], 1);
    let mut said = texts(&workshop, "messages", "text");
    said.sort();
    assert_eq!(said[0], "word 0\nnext");
    let roles = texts(&workshop, "messages", "role");
    assert!(roles.iter().any(|role| role == "assistant") && roles.iter().any(|role| role == "user"));
    for table in ["conversations", "messages", "findings", "rejects"] {
        let root = workshop.path("out");
        let manifest = chatmill_dataset::read_manifest(&root).unwrap();
        for file in manifest
            .tables
            .iter()
            .filter(|found| found.name == table)
            .flat_map(|table| &table.files)
        {
            let bytes = std::fs::read(root.join(&file.path)).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{table}");
        }
    }
}

#[test]
fn a_dump_that_names_no_column_is_read_with_the_definition_of_its_table() {
    let rows = rows();
    let unnamed = inserts(&rows).replace(&format!(" ({})", COLUMNS.join(", ")), "");
    let workshop = Workshop::new();
    let path = workshop.write("in/dump.sql", unnamed);
    let (findings, verdict) = Workshop::check(&path);
    assert_eq!((verdict.verdict, verdict.records), ("unreadable", ROWS as u64));
    assert!(
        findings
            .iter()
            .all(|checked| checked.located.finding.code.name == "columns-unknown")
    );
    let map = format!(
        "{BARE}[table_map.threads]\ntable = \"messages\"\nsource = \"suna-rows\"\ndefinition = {COLUMNS:?}\n"
    );
    let summary = workshop.run("out", &map, 2).unwrap();
    assert_eq!(
        (summary.totals.conversations, summary.totals.messages),
        (THREADS as u64, ROWS as u64)
    );
}

#[test]
fn a_database_without_a_mapped_table_says_which_tables_it_saw() {
    let workshop = Workshop::new();
    let path = workshop.write(
        "in/dump.sql",
        "--\n-- PostgreSQL database dump\n--\n\nCOPY public.posts (post, said) FROM stdin;\n1\thi\n\\.\n\n--\n-- PostgreSQL database dump complete\n--\n",
    );
    let (findings, verdict) = Workshop::check(&path);
    assert_eq!(verdict.errors, 1);
    let message = &findings[0].located.finding.message;
    assert!(
        message.contains("public.posts") && message.contains("table_map"),
        "{message}"
    );
}

#[test]
fn findings_about_rows_of_a_database_file_have_no_line_and_no_bytes() {
    let workshop = Workshop::new();
    let database = std::fs::read(chatmill_testkit::samples::samples().join("demo/courtyard-bot.db")).unwrap();
    workshop.write("in/courtyard-bot.db", database);
    let plan = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n";
    workshop.run("out", plan, 1).unwrap();
    let out = workshop.path("out");
    let records = columns::numbers(&out, "findings", "record");
    assert!(records.len() > 3, "{records:?}");
    for column in ["line_number", "column_number", "byte_start", "byte_end"] {
        let places = columns::numbers(&out, "findings", column);
        assert!(places.iter().all(Option::is_none), "{column}: {places:?}");
    }
}

/// Presence as a channel of a project tells it, without the channel.
const PRESENCE: &str = concat!(
    r#"{"userId": "u2", "username": "bob", "isAgent": true, "agentName": "Coder", "agentInstructions": "You code", "#,
    r#""machineName": "dev-server"}"#,
    "\n"
);

#[test]
fn presence_without_a_project_is_in_the_roster_of_every_conversation_of_its_input() {
    let mut events = String::new();
    for number in 0..60 {
        let event = json!({"from": "u1", "fromUsername": "alice", "projectId": format!("p{}", number % 20),
            "text": "@Coder x", "messageId": format!("m{number}"), "type": "message"});
        writeln!(events, "{event}").unwrap();
    }
    let workshop = Workshop::new();
    workshop.write("in/a.jsonl", events);
    workshop.write("in/b.jsonl", PRESENCE.repeat(2));
    let few = "[render]\ndialects = [\"jaibber-events\"]\n[count]\nencodings = []\n[limits]\n";
    let summary = workshop
        .run("out", &format!("{few}partition = 3_000\n"), 1)
        .unwrap();
    assert_eq!((summary.totals.conversations, summary.totals.accepted), (20, 62));
    let people = columns::numbers(&workshop.path("out"), "conversations", "participant_count");
    assert_eq!(people, [Some(3); 20]);
    let mentions = columns::lists(&workshop.path("out"), "messages", "mentions");
    assert!(
        mentions.iter().all(|mentions| mentions == &["u2/Coder"]),
        "{mentions:?}"
    );
    workshop
        .run("threads", &format!("{few}partition = 3_000\n"), 3)
        .unwrap();
    assert_eq!(workshop.hashes("out"), workshop.hashes("threads"));
}

#[test]
fn a_file_of_nothing_but_presence_is_not_silent() {
    let workshop = Workshop::new();
    let path = workshop.write("in/b.jsonl", PRESENCE.repeat(2));
    let (findings, verdict) = Workshop::check(&path);
    assert_eq!((verdict.records, verdict.conversations), (2, 0));
    let found: Vec<_> = findings
        .iter()
        .map(|checked| {
            (
                checked.located.finding.code.name,
                checked.located.finding.severity,
            )
        })
        .collect();
    assert_eq!(found, [("empty-conversation", chatmill_diag::Severity::Warning)]);
    assert_eq!(findings[0].record, Some(0));
}

#[test]
fn a_row_of_several_conversations_that_cannot_be_read_is_rejected_once() {
    let workshop = Workshop::new();
    let said = |session: &str| {
        json!({"type": "user", "uuid": session, "parentUuid": null, "sessionId": session, "isSidechain": false,
               "timestamp": "2026-02-01T08:00:00Z", "message": {"role": "user", "content": format!("Who is {session}?")}})
    };
    let nobodys = json!("a line that is no object, and names no session");
    let lines = [said("one"), said("two"), nobodys].map(|line| line.to_string());
    workshop.write("in/sessions.jsonl", lines.join("\n"));
    let more = format!("{BARE}[limits]\nmax_reject_ratio = 1.0\n");
    let summary = workshop.run("out", &more, 1).unwrap();
    assert_eq!(summary.totals.conversations, 2);
    let out = workshop.path("out");
    let levels = columns::texts(&out, "rejects", "level");
    assert_eq!(levels, [Some("frame".to_owned())]);
    let certificate = chatmill_dataset::certify(&out).unwrap();
    assert_eq!(certificate.faults, Vec::<String>::new());
}
