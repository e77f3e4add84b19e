//! Recognition of the files in a folder: chats by their sources, rows by one map in every container, and other files not at all.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use chatmill_engine::{Plan, RunOptions, RunSummary, Silent};
use chatmill_workshop::{TestDir, rows};
use parquet::arrow::ArrowWriter;

const PICTURE: &[u8] = b"\x89PNG\r\n\x1A\n not a chat";
const CHAT: &str =
    r#"{"messages":[{"role":"user","content":"Is it open?"},{"role":"assistant","content":"Yes."}]}"#;

/// All texts of a column that are not null.
fn texts(test_dir: &TestDir, table: &str, name: &str) -> Vec<String> {
    let found = rows::texts(&test_dir.path("out"), table, name);
    found.into_iter().flatten().collect()
}

fn run(plan: Plan) -> RunSummary {
    let options = RunOptions {
        threads: 1,
        ..RunOptions::default()
    };
    chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false)).unwrap()
}

/// A tar archive of these files.
pub(super) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in files {
        let mut header = vec![0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        header[136..147].copy_from_slice(b"00000000000");
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
        header[154] = 0;
        out.extend(header);
        out.extend_from_slice(bytes);
        out.resize(out.len().div_ceil(512) * 512, 0);
    }
    out.extend(vec![0; 1024]);
    out
}

#[test]
fn pictures_pages_and_notes_are_passed_over_and_counted_by_kind() {
    let test_dir = TestDir::new();
    test_dir.write("in/chat.json", CHAT);
    test_dir.write("in/README.md", "# Notes\n");
    test_dir.write("in/a.png", PICTURE);
    test_dir.write("in/desktop.ini", "[.ShellClassInfo]\n");
    let files: [(&str, &[u8]); 6] = [
        ("b.png", PICTURE),
        ("c.html", b"<!doctype html>"),
        ("d.json", CHAT.as_bytes()),
        ("__MACOSX/._d.json", b"\0\x05\x16\x07\0\x02\0\0Mac OS X"),
        (".DS_Store", b""),
        ("Thumbs.db", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"),
    ];
    test_dir.write("in/all.tar", tar(&files));
    let summary = test_dir.run("out", "", 1).unwrap();
    assert_eq!((summary.totals.rejected, summary.totals.conversations), (0, 2));
    let mut skipped = std::collections::BTreeMap::new();
    for (kind, files) in summary
        .manifest
        .inputs
        .iter()
        .flat_map(|input| input.skipped_files)
    {
        *skipped.entry(kind).or_insert(0) += files;
    }
    let expected = [("note", 1), ("picture", 2), ("system file", 4), ("web page", 1)];
    let expected = expected.map(|(kind, files)| (kind.to_owned(), files));
    assert_eq!(skipped.into_iter().collect::<Vec<_>>(), expected);
    assert!(
        summary
            .manifest
            .inputs
            .iter()
            .all(|input| input.ledger().balances())
    );
}

#[test]
fn a_picture_that_is_named_alone_is_an_error() {
    let test_dir = TestDir::new();
    let path = test_dir.write("a.png", PICTURE);
    let (findings, verdict) = TestDir::check(&path);
    assert_eq!(verdict.verdict, "unreadable");
    assert_eq!(
        findings[0].located.finding.message,
        "this is a picture and no chat"
    );
    let folder = test_dir.path("");
    assert_eq!(TestDir::check(&folder).1.verdict, "skipped");
}

#[test]
fn excluded_names_are_left_out_inside_archives_too() {
    let test_dir = TestDir::new();
    let files: [(&str, &[u8]); 2] = [("old/a.json", b"{"), ("new/b.json", CHAT.as_bytes())];
    test_dir.write("in/all.tar", tar(&files));
    test_dir.write("in/old/c.json", "{");
    let path = test_dir.path("p.toml");
    let text = format!(
        "name = \"t\"\n[[input]]\npath = \"in/\"\nexclude = [\"old/**\"]\n[output]\npath = {:?}\n",
        test_dir.path("out")
    );
    test_dir.write("p.toml", text);
    let plan = Plan::load(&path, &[], None, &[]).unwrap();
    assert_eq!(plan.inputs.len(), 1);
    let summary = run(plan);
    assert_eq!((summary.totals.rejected, summary.totals.conversations), (0, 1));
    assert_eq!(
        summary
            .manifest
            .inputs
            .get(0)
            .unwrap()
            .skipped_files
            .get("excluded"),
        Some(&1)
    );
}

#[test]
fn one_map_reads_rows_in_an_array_in_lines_and_in_csv_alike() {
    const MAP: &str = "[table_map.desk]\ntable = \"posts\"\nconversation = \"room\"\nrole = \"bot\"\ncontent = \"body\"\n\
                       roles = { true = \"assistant\", false = \"user\" }\nfilter = { gone = [\"no\"] }\n";
    let lines = "{\"room\":\"r\",\"bot\":false,\"body\":\"Is it open?\",\"gone\":\"no\"}\n\
                 {\"room\":\"r\",\"bot\":true,\"body\":\"Yes.\",\"gone\":\"no\"}\n\
                 {\"room\":\"r\",\"bot\":true,\"body\":\"Hm.\",\"gone\":\"yes\"}\n";
    let array = format!("[{}]", lines.trim_end().replace('\n', ","));
    let csv = "room,bot,body,gone\nr,false,Is it open?,no\nr,t,Yes.,no\nr,t,Hm.,yes\n";
    for (name, text) in [("a.jsonl", lines), ("a.json", array.as_str()), ("a.csv", csv)] {
        let test_dir = TestDir::new();
        test_dir.write(&format!("in/{name}"), text);
        let summary = test_dir.run("out", MAP, 1).unwrap();
        assert_eq!(summary.totals.rejected, 0, "{name}");
        assert_eq!(
            texts(&test_dir, "messages", "role"),
            ["user", "assistant"],
            "{name}"
        );
        assert_eq!(
            texts(&test_dir, "messages", "text"),
            ["Is it open?", "Yes."],
            "{name}"
        );
        assert_eq!(
            texts(&test_dir, "conversations", "conversation_id"),
            ["r"],
            "{name}"
        );
    }
}

#[test]
fn rows_with_the_default_names_need_no_map() {
    let csv = "conversation;role;content\nr;user;Is it open?\ns;user;Hello\n";
    let array = r#"[{"conversation":"r","role":"user","content":"x"},{"conversation":"s","role":"user","content":"y"}]"#;
    for (name, text) in [("a.csv", csv), ("a.json", array)] {
        let test_dir = TestDir::new();
        let path = test_dir.write(name, text);
        let (findings, verdict) = TestDir::check(&path);
        assert_eq!(verdict.source, Some("table-rows"), "{name}: {findings:?}");
        assert_eq!(verdict.conversations, 2, "{name}");
    }
}

#[test]
fn a_field_map_reads_values_at_its_paths_and_reports_paths_without_a_value() {
    let test_dir = TestDir::new();
    test_dir.write(
        "in/a.json",
        r#"{"key":"k1","data":{"turns":[{"who":"guest","body":"Is it open?"},{"who":"desk","body":"Yes."}]}}"#,
    );
    let text = format!(
        "name = \"t\"\n[[input]]\npath = \"in/\"\nsource = \"mapped\"\n[field_map]\nconversation = \"$.key\"\n\
         messages = \"$.data.turns\"\nrole = \"$.who\"\ntext = \"$.body\"\ntime = \"$.at\"\n\
         roles = {{ desk = \"assistant\" }}\n[output]\npath = {:?}\n",
        test_dir.path("out")
    );
    let path = test_dir.write("p.toml", text);
    let plan = Plan::load(&path, &[], None, &[]).unwrap();
    let summary = run(plan);
    assert_eq!(summary.totals.conversations, 1);
    assert_eq!(texts(&test_dir, "conversations", "conversation_id"), ["k1"]);
    assert_eq!(texts(&test_dir, "messages", "role"), ["user", "assistant"]);
    assert_eq!(texts(&test_dir, "findings", "code"), ["SR024"]);
    assert!(texts(&test_dir, "findings", "message")[0].contains("there are $.body, $.who"));
}

#[test]
fn a_field_map_reads_the_rows_of_a_parquet_file() {
    let column = |texts: [&str; 3]| Arc::new(StringArray::from(texts.to_vec())) as ArrayRef;
    let columns = [
        ("room", column(["r1", "r2", "r1"])),
        ("who", column(["guest", "guest", "desk"])),
        ("body", column(["Is it open?", "Is it far?", "Until four."])),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let test_dir = TestDir::new();
    test_dir.write("in/rows.parquet", bytes);
    let text = format!(
        "name = \"t\"\n[[input]]\npath = \"in/\"\nsource = \"mapped\"\n[field_map]\nconversation = \"$.room\"\n\
         messages = \"$\"\nrole = \"$.who\"\ntext = \"$.body\"\n\
         roles = {{ guest = \"user\", desk = \"assistant\" }}\n[output]\npath = {:?}\n",
        test_dir.path("out")
    );
    let path = test_dir.write("p.toml", text);
    let summary = run(Plan::load(&path, &[], None, &[]).unwrap());
    assert_eq!((summary.totals.conversations, summary.totals.rejected), (2, 0));
    let mut said = texts(&test_dir, "messages", "text");
    said.sort();
    assert_eq!(said, ["Is it far?", "Is it open?", "Until four."]);
    let mut rooms = texts(&test_dir, "conversations", "conversation_id");
    rooms.sort();
    assert_eq!(rooms, ["r1", "r2"]);
}

#[test]
fn corruption_is_located_at_its_place() {
    let test_dir = TestDir::new();
    let broken =
        "{\n  \"messages\": [\n    {\"role\": \"user\", \"content\": \"x\"},\n<<<<<<< HEAD\n  ]\n}\n";
    let open = "{\n  \"messages\": [\n    {\"role\": \"user\", \"content\": \"x\"}\n}\n";
    let cut = "{\n  \"messages\": [\n    {\"role\": \"user\", \"con";
    for (name, text, code, place) in [
        ("broken.json", broken, "invalid-json", (4, 1)),
        ("open.json", open, "invalid-json", (4, 1)),
        ("cut.json", cut, "truncated-stream", (3, 26)),
    ] {
        let path = test_dir.write(name, text);
        let (findings, _) = TestDir::check(&path);
        let located = &findings[0].located;
        assert_eq!(located.finding.code.name, code, "{name}");
        assert_eq!(located.line_column, Some(place), "{name}");
    }
}

#[test]
fn an_unknown_file_is_reported_as_the_format_it_resembles() {
    let test_dir = TestDir::new();
    let text = r#"{"userId":"8:ann","conversations":[{"id":"1","MessageList":[{"id":"2","from":"8:ann","content":"x"}]}]}"#;
    let path = test_dir.write("messages.json", text);
    let (findings, _) = TestDir::check(&path);
    let message = &findings[0].located.finding.message;
    assert!(
        message.contains("this looks like a Microsoft Teams export"),
        "{message}"
    );
    let fault = chatmill_engine::source("teams", std::path::Path::new(""))
        .err()
        .unwrap()
        .to_string();
    assert!(fault.contains("did you mean `mapped`"), "{fault}");
}
