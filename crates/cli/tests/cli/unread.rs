//! What cannot be read, is empty, or is in doubt: every command says so, with file and line, and by its exit code.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, end, good_chat};

/// One good record and one broken line in the same file.
fn half_broken() -> Desk {
    let desk = Desk::new();
    desk.write("in/half.jsonl", &format!("{}\n{{\"broken\n", good_chat("a")));
    desk
}

#[test]
fn a_bill_names_file_and_line_of_what_it_did_not_count_and_exits_1() {
    let desk = half_broken();
    let arguments = ["tokens", "in/half.jsonl", "--dialect", "openai-chat"];
    let table = end(desk.chatmill(&arguments));
    assert_eq!(table.code, 1);
    assert!(
        table
            .stderr
            .contains("warning: not counted: in/half.jsonl:2: IN001"),
        "{}",
        table.stderr
    );
    let json = end(desk.chatmill(&[&arguments[..], &["--format", "json"]].concat()));
    let bill: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, &bill["not_counted"]["count"]), (1, &Value::from(1)));
    let first = &bill["not_counted"]["first"][0];
    assert_eq!(
        (&first["path"], &first["line"]),
        (&"in/half.jsonl".into(), &2.into())
    );
    let csv = end(desk.chatmill(&[&arguments[..], &["--format", "csv"]].concat()));
    let lines: Vec<Vec<&str>> = csv.stdout.lines().map(|line| line.split(',').collect()).collect();
    let column = lines[0].iter().position(|name| *name == "not_counted").unwrap();
    assert_eq!((csv.code, lines[1][column]), (1, "1"));
}

#[test]
fn a_complete_bill_exits_0() {
    let desk = Desk::new();
    desk.write("in/a.json", &good_chat("a").to_string());
    let bill = end(desk.chatmill(&["tokens", "in", "--dialect", "openai-chat"]));
    assert_eq!((bill.code, bill.stderr.as_str()), (0, ""));
}

#[test]
fn an_input_that_cannot_be_opened_is_named_by_every_command() {
    let desk = Desk::new();
    desk.write("in/a.json", &good_chat("a").to_string());
    // A link without a target: what even the superuser cannot open.
    std::os::unix::fs::symlink("nowhere", desk.path("gone.json")).unwrap();
    for arguments in [
        &["tokens", "in/a.json", "gone.json", "--dialect", "openai-chat"][..],
        &["inspect", "gone.json"],
        &["inspect", "in/a.json", "gone.json"],
        &["render", "gone.json", "--dialect", "openai-chat"],
        &["check", "gone.json"],
    ] {
        let ended = end(desk.chatmill(arguments));
        assert_eq!(ended.code, 1, "{arguments:?}");
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(
            told.contains("gone.json") && told.contains("not found"),
            "{arguments:?}: {told}"
        );
    }
}

#[test]
fn nothing_to_read_is_an_objection_of_every_command() {
    let desk = Desk::new();
    desk.pipeline();
    for (name, text) in [("in/empty.jsonl", ""), ("in/empty.jsonl", " \n\t\n")] {
        desk.write(name, text);
        for arguments in [
            &["check", "in"][..],
            &["tokens", "in"],
            &["inspect", "in"],
            &["render", "in/empty.jsonl", "--dialect", "openai-chat"],
            &["run", "pipeline.toml", "--replace"],
        ] {
            let ended = end(desk.chatmill(arguments));
            assert_eq!(ended.code, 1, "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        }
    }
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(desk.path("out/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["verdict"], "nothing-read");
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
}

#[test]
fn one_empty_file_among_others_is_a_warning() {
    let desk = Desk::new();
    desk.write("in/a.json", &good_chat("a").to_string());
    desk.write("in/b.json", "");
    let check = end(desk.chatmill(&["check", "in", "--format", "csv"]));
    assert_eq!(check.code, 0);
    assert!(
        check.stdout.contains("in/b.json,,empty,0,0,0,1,0\n"),
        "{}",
        check.stdout
    );
    assert_eq!(
        end(desk.chatmill(&["check", "in", "--fail-on", "warning"])).code,
        1
    );
    assert_eq!(
        end(desk.chatmill(&["tokens", "in", "--dialect", "openai-chat"])).code,
        0
    );
}

#[test]
fn neither_a_selection_nor_a_baseline_hides_an_unreadable_file() {
    let desk = Desk::new();
    desk.write("in/good.json", &good_chat("a").to_string());
    desk.write("in/bad.json", "{\"broken");
    desk.write("in/half.jsonl", &format!("{}\n{{\"broken\n", good_chat("b")));
    assert_eq!(
        end(desk.chatmill(&["check", "in", "--write", "jsonl=known"])).code,
        1
    );
    for arguments in [
        &["check", "in", "--format", "csv", "--select", "RF"][..],
        &["check", "in", "--format", "csv", "--ignore", "IN,SR,PT"],
        &["check", "in", "--format", "csv", "--baseline", "known"],
    ] {
        let ended = end(desk.chatmill(arguments));
        assert_eq!(ended.code, 1, "{arguments:?}");
        assert!(
            ended.stdout.contains("in/bad.json,,unreadable,"),
            "{}",
            ended.stdout
        );
    }
    let known = end(desk.chatmill(&["check", "in/half.jsonl", "--write", "jsonl=known"]));
    assert_eq!(known.code, 1);
    let again = end(desk.chatmill(&["check", "in/half.jsonl", "--baseline", "known", "--format", "csv"]));
    assert_eq!(again.code, 0, "nothing is new");
    assert!(
        again.stdout.contains("in/half.jsonl,group-chat,known,"),
        "{}",
        again.stdout
    );
}

#[test]
fn a_journal_beside_a_database_is_told_by_every_command() {
    let desk = Desk::new();
    let example = end(desk.chatmill(&["example", "table-rows"]));
    assert_eq!(example.code, 0);
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data-samples");
    let database = walk(samples.as_ref())
        .into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "db" || e == "sqlite"));
    let database = database.expect("a database among the samples");
    fs::copy(database, desk.path("chat.db")).unwrap();
    desk.write("chat.db-wal", "rows that nobody reads");
    for arguments in [
        &["tokens", "chat.db", "--dialect", "openai-chat"][..],
        &["inspect", "chat.db"],
        &["render", "chat.db", "--dialect", "openai-chat"],
        &["check", "chat.db"],
    ] {
        let ended = end(desk.chatmill(arguments));
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(
            told.contains("IN028") && told.contains("chat.db"),
            "{arguments:?}: {told}"
        );
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn error_findings_beyond_their_limit_publish_the_dataset_and_exit_1() {
    let desk = Desk::new();
    let mut chat = good_chat("a");
    chat["conversation_list"][1]["sender"] = "nobody".into();
    desk.write("in/a.json", &chat.to_string());
    desk.pipeline();
    let run = end(desk.chatmill(&["run", "pipeline.toml"]));
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.contains("limits.max_error_findings allows 0"),
        "{}",
        run.stdout
    );
    let again = end(desk.chatmill(&["run", "pipeline.toml"]));
    assert_eq!(again.code, 1, "the verdict is in the manifest");
    let allowed = [
        "run",
        "pipeline.toml",
        "--out",
        "other",
        "--set",
        "limits.max_error_findings=1",
    ];
    assert_eq!(end(desk.chatmill(&allowed)).code, 0);
}

#[test]
fn inputs_that_are_typed_replace_those_of_the_file_and_start_where_one_stands() {
    let desk = Desk::new();
    let pipeline = desk.pipeline();
    fs::create_dir_all(desk.path("elsewhere")).unwrap();
    fs::rename(pipeline, desk.path("elsewhere/pipeline.toml")).unwrap();
    for name in ["a", "b", "c"] {
        desk.write(&format!("mine/{name}.json"), &good_chat(name).to_string());
    }
    let arguments = [
        "run",
        "elsewhere/pipeline.toml",
        "--out",
        "out",
        "--input",
        "mine/a.json",
        "--input",
        "mine/[bc].json",
    ];
    let run = end(desk.chatmill(&arguments));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(desk.path("out/manifest.json")).unwrap()).unwrap();
    let paths: Vec<&str> = manifest["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| input["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["a.json", "b.json", "c.json"]);
    assert!(
        !manifest.to_string().contains("mine"),
        "where they stood is nobody's business"
    );
}

#[test]
fn what_is_no_local_file_is_refused_in_one_sentence() {
    let desk = Desk::new();
    desk.write("in/a.json", &good_chat("a").to_string());
    desk.pipeline();
    for (arguments, expected) in [
        (
            &["run", "pipeline.toml", "--out", "-"][..],
            "output.path: a dataset is a folder",
        ),
        (
            &["run", "pipeline.toml", "--input", "-"],
            "input.path: a run reads its inputs more than once",
        ),
        (
            &["run", "pipeline.toml", "--set", "input=[{path='-'}]"],
            "input.path: a run reads",
        ),
        (
            &["run", "pipeline.toml", "--out", "s3://b/x"],
            "upload the dataset",
        ),
        (
            &["run", "pipeline.toml", "--input", "s3://b/x"],
            "download it first",
        ),
        (
            &["check", "s3://b/x"],
            "`s3://b/x` is an address, and chatmill reads local files; download it first",
        ),
        (&["inspect", "https://chats.example/a.json"], "download it first"),
        (&["tokens", "s3://b/*.json"], "download it first"),
    ] {
        let ended = end(desk.chatmill(arguments));
        assert_eq!(ended.code, 2, "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(expected), "{arguments:?}: {}", ended.stderr);
    }
    assert!(!desk.path("-").exists() && !desk.path("s3:").exists());
}

#[test]
fn a_file_most_of_whose_records_are_misread_is_told_once_by_run_and_check() {
    let desk = Desk::new();
    desk.pipeline();
    let good = r#"{"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello."}]}"#;
    let odd = r#"{"conversations":"Hi"}"#;
    // A broken line says nothing of the format of the others.
    for (name, lines) in [
        ("in/broken.jsonl", &[good, "{", "{", "{"][..]),
        ("in/half.jsonl", &[good, odd]),
        ("in/most.jsonl", &[good, odd, odd]),
    ] {
        desk.write(name, &lines.join("\n"));
    }
    let check = end(desk.chatmill(&["check", "in", "--select", "SR035", "--format", "concise"]));
    assert_eq!(check.code, 1);
    let told: Vec<&str> = check
        .stdout
        .lines()
        .filter(|line| line.contains("SR035"))
        .collect();
    assert!(
        told[0].starts_with(
            "in/most.jsonl: error[SR035 misrecognised-input]: sharegpt cannot read 2 of 3 records"
        ) && told[0].contains("--source"),
        "{}",
        check.stdout
    );
    assert_eq!(check.stdout.matches("error[SR035").count(), 1, "{}", check.stdout);
    let run = end(desk.chatmill(&["run", "pipeline.toml", "--format", "json"]));
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["findings"]["SR035"]["errors"], 1, "{}", run.stdout);
    let errors = |input: usize| json["inputs"][input]["errors"].as_u64().unwrap();
    assert_eq!([errors(0), errors(1), errors(2)], [3, 1, 3]);
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
    let named = end(desk.chatmill(&[
        "check",
        "in/half.jsonl",
        "--source",
        "suna-rows",
        "--select",
        "SR035",
    ]));
    assert!(
        named.stdout.contains("suna-rows cannot read 2 of 2"),
        "{}",
        named.stdout
    );
}
