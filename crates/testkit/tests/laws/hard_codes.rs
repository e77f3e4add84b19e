//! Codes that no checked-in file can raise: each is raised here, and its sample folder refers to the test.

use std::sync::atomic::AtomicBool;

use chatmill_diag::codes::CODES;
use chatmill_engine::check::CheckOptions;
use chatmill_engine::{RunOptions, RunSummary, Silent, Templates};
use chatmill_testkit::samples::samples;
use chatmill_workshop::{TestDir, rows};

const BARE: &str = "[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n";

fn chat(id: &str) -> String {
    format!(
        r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"{id}","name":"n","scene":"group_chat","scene_desc":{{}},"user_details":{{"u1":{{"full_name":"Ann","role":"user"}}}}}},"conversation_list":[{{"message_id":"m1","create_time":"2026-01-01T00:00:00Z","sender":"u1","role":"user","type":"text","content":"hi","refer_list":[]}}]}}"#
    )
}

fn found(summary: &RunSummary, name: &str) -> u64 {
    let counts = summary.totals.findings.values();
    counts
        .filter(|count| count.name == name)
        .map(chatmill_engine::FindingCount::total)
        .sum()
}

#[cfg(unix)]
#[test]
fn a_path_that_leads_nowhere_is_unreadable_and_costs_only_itself() {
    let shop = TestDir::new();
    shop.write("in/a.json", chat("a"));
    let link = shop.path("b.json");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let more = format!("{BARE}\n[[input]]\npath = \"{}\"\n", link.display());
    let summary = shop.run("out", &more, 1).unwrap();
    assert_eq!(
        (found(&summary, "unreadable-input"), summary.totals.rejected),
        (1, 1)
    );
    assert_eq!(
        summary.totals.framed, 2,
        "an unreadable input counts as one record"
    );
    assert_eq!(
        rows::texts(&shop.path("out"), "conversations", "conversation_id"),
        [Some("a".to_owned())]
    );
}

#[cfg(unix)]
#[test]
fn a_file_without_the_right_to_read_is_unreadable() {
    use std::os::unix::fs::PermissionsExt;
    let shop = TestDir::new();
    shop.write("in/a.json", chat("a"));
    let shut = shop.write("in/b.json", chat("b"));
    std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&shut).is_ok() {
        eprintln!("SKIPPED: this user may read everything");
        return;
    }
    let summary = shop.run("out", BARE, 1).unwrap();
    assert_eq!(
        (found(&summary, "unreadable-input"), summary.totals.conversations),
        (1, 1)
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_no_regular_file_and_is_not_waited_for() {
    let shop = TestDir::new();
    shop.write("in/a.json", chat("a"));
    let made = std::process::Command::new("mkfifo")
        .arg(shop.path("in/pipe.json"))
        .status()
        .unwrap();
    assert!(made.success());
    let summary = shop.run("out", BARE, 1).unwrap();
    assert_eq!(
        (found(&summary, "not-a-regular-file"), summary.totals.rejected),
        (1, 1)
    );
    assert_eq!(summary.totals.conversations, 1);
}

#[test]
fn conversations_with_one_id_are_all_retained_under_different_ids() {
    let shop = TestDir::new();
    shop.write(
        "in/a.jsonl",
        format!("{}\n{}\n{}\n", chat("x"), chat("y"), chat("x")),
    );
    shop.write("in/b.json", chat("x"));
    let summary = shop.run("out", BARE, 2).unwrap();
    assert_eq!(
        (
            found(&summary, "duplicate-conversation-id"),
            summary.totals.rejected
        ),
        (2, 0)
    );
    let mut ids = rows::texts(&shop.path("out"), "conversations", "conversation_id");
    assert_eq!(ids[..3], ["x", "y", "x~2"].map(|id| Some(id.to_owned())));
    let other = ids.pop().unwrap().unwrap();
    assert!(other.starts_with("x~") && other.len() == 8, "{other}");
    let own = rows::texts(&shop.path("out"), "conversations", "source_conversation_id");
    assert_eq!(own, ["x", "y", "x", "x"].map(|id| Some(id.to_owned())));
}

#[test]
fn a_named_source_that_the_content_contradicts_is_a_finding() {
    let others: Vec<_> = chatmill_source::SOURCES
        .iter()
        .filter(|source| source.id() != "group-chat")
        .collect();
    assert!(!others.is_empty(), "a mismatch takes two sources");
    for place in chatmill_drawn::some_of(0..others.len(), 20) {
        let source = others[place];
        let shop = TestDir::new();
        shop.write("in/a.json", chat("a"));
        let pipeline = format!(
            "name = \"t\"\n[[input]]\npath = \"in/a.json\"\nsource = {:?}\n[field_map]\nmessages = \"$.list\"\n[output]\npath = \"out\"\n[limits]\nmax_reject_ratio = 1.0\n{BARE}",
            source.id()
        );
        let path = shop.write("pipeline.toml", pipeline);
        let plan = chatmill_engine::Plan::load(&path, &[], None, &[]).unwrap();
        let options = RunOptions {
            threads: 1,
            ..RunOptions::default()
        };
        let summary = chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false)).unwrap();
        assert_eq!(found(&summary, "source-mismatch"), 1, "{}", source.id());
    }
    let shop = TestDir::new();
    shop.write("in/a.json", chat("a"));
    assert_eq!(found(&shop.run("out", BARE, 1).unwrap(), "source-mismatch"), 0);
}

#[test]
fn a_journal_that_was_not_read_is_noted() {
    let shop = TestDir::new();
    let database = std::fs::read(samples().join("dumps/chat.db")).unwrap();
    shop.write("in/chat.db", &database);
    shop.write("in/chat.db-wal", "");
    assert_eq!(found(&shop.run("alone", BARE, 1).unwrap(), "unread-journal"), 0);
    shop.write("in/chat.db-wal", "rows");
    let summary = shop.run("beside", BARE, 1).unwrap();
    assert_eq!(found(&summary, "unread-journal"), 1);
}

#[test]
fn errors_of_a_dialect_are_found_when_that_dialect_is_checked() {
    let shop = TestDir::new();
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let path = shop.write(
        "in/a.jsonl",
        format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"now\"}},{call},{{\"role\":\"user\",\"content\":\"well?\"}}]}}\n"),
    );
    let refused = |targets: &[&str]| {
        let options = CheckOptions {
            paths: vec![path.to_string_lossy().into_owned()],
            targets: targets
                .iter()
                .map(|word| Templates::default().find(word).unwrap())
                .collect(),
            ..CheckOptions::default()
        };
        let mut messages = Vec::new();
        let never = AtomicBool::new(false);
        chatmill_engine::check::check(&options, &Silent, &never, &mut |checked| {
            if checked.located.finding.code.name == "not-accepted" {
                messages.push(checked.located.finding.message);
            }
        })
        .unwrap();
        messages
    };
    assert!(refused(&[]).is_empty());
    let told = refused(&["openai-chat", "tzurot"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("openai-chat would refuse it"), "{told:?}");
}

#[test]
fn a_sample_folder_without_a_bad_file_names_a_test_that_exists() {
    let mut tests = Vec::new();
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = vec![crates.join("testkit/tests"), crates.join("cli/tests/cases")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                Some(extension) if extension == "rs" => tests.push(std::fs::read_to_string(path).unwrap()),
                // A transcript is named by its file.
                Some(extension) if extension == "md" => {
                    tests.push(format!("fn {}()", path.file_stem().unwrap().display()));
                }
                _ if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    let mut named = 0;
    for code in CODES {
        let Ok(text) = std::fs::read_to_string(samples().join("rules").join(code.name).join("README.md"))
        else {
            continue;
        };
        let quoted: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        let functions: Vec<&&str> = quoted
            .iter()
            .filter(|word| tests.iter().any(|test| test.contains(&format!("fn {word}()"))))
            .collect();
        assert!(
            !functions.is_empty(),
            "{}: README.md names no test: {quoted:?}",
            code.name
        );
        named += functions.len();
    }
    assert!(named > 8, "{named}");
}
