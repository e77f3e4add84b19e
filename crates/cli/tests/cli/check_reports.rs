use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::desk::{Desk, binary, chat, dangling_chat, end, good_chat, json_lines};

/// Every format and the file that holds what is expected of it.
const FORMATS: [(&str, &str); 10] = [
    ("full", "expected.txt"),
    ("concise", "expected.concise.txt"),
    ("grouped", "expected.grouped.txt"),
    ("github", "expected.github.txt"),
    ("gitlab", "expected.gitlab.json"),
    ("json", "expected.json"),
    ("jsonl", "expected.jsonl"),
    ("csv", "expected.csv"),
    ("junit", "expected.xml"),
    ("sarif", "expected.sarif"),
];

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/check")
}

/// A request for tools without the answer of the tool.
fn unanswered() -> String {
    let call = r#"{"id":"c1","type":"function","function":{"name":"gate","arguments":"{}"}}"#;
    format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"Is it shut?\"}},\
         {{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{call}]}},\
         {{\"role\":\"user\",\"content\":\"Well?\"}}]}}\n"
    )
}

#[test]
fn every_format_says_what_is_expected_of_it_printed_and_written() {
    let desk = Desk::new();
    for (format, name) in FORMATS {
        let written = desk.path(name);
        let write = format!("{format}={}", written.display());
        let arguments = [
            "check",
            "input",
            "--for",
            "sharegpt",
            "--for",
            "chatml",
            "--output-format",
            format,
            "--write",
            &write,
        ];
        let mut command = desk.chatmill(&arguments);
        command.current_dir(samples());
        let check = end(command);
        assert_eq!(check.code, 1, "{format}: {}", check.stderr);
        assert_eq!(check.stdout, fs::read_to_string(&written).unwrap(), "{format}");
        chatmill_golden::assert_golden(&samples().join(name), &check.stdout);
    }
}

#[test]
fn results_of_a_sarif_log_point_to_their_rules_and_the_rest_is_counted() {
    let desk = Desk::new();
    desk.write(
        "many.jsonl",
        &format!("{}\n{}", dangling_chat("one"), "{\"broken\": \n".repeat(260)),
    );
    let check = end(desk.chatmill(&["check", "many.jsonl", "--format", "sarif"]));
    let log: Value = serde_json::from_str(&check.stdout).unwrap();
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!((rules.len(), results.len()), (2, 251));
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    let told = &run["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(told[0]["associatedRule"]["id"], "IN001");
    assert!(
        told[0]["message"]["text"].as_str().unwrap().contains("10 more"),
        "{told}"
    );
}

#[test]
fn a_junit_case_fails_exactly_when_the_exit_code_does() {
    let desk = Desk::new();
    desk.write("dangling.json", &dangling_chat("one").to_string());
    desk.write("good.json", &good_chat("two").to_string());
    for (fail_on, code, failures) in [("error", 0, 0), ("warning", 1, 1), ("never", 0, 0)] {
        let arguments = [
            "check",
            "dangling.json",
            "good.json",
            "--format",
            "junit",
            "--fail-on",
            fail_on,
        ];
        let check = end(desk.chatmill(&arguments));
        assert_eq!(check.code, code, "{fail_on}");
        let root =
            format!("<testsuites name=\"chatmill check\" tests=\"2\" failures=\"{failures}\" errors=\"0\">");
        assert!(check.stdout.contains(&root), "{fail_on}: {}", check.stdout);
        assert_eq!(check.stdout.matches("<failure ").count(), failures, "{fail_on}");
    }
}

#[test]
fn a_baseline_leaves_only_what_is_new() {
    let desk = Desk::new();
    let broken = "{\"broken\": \n";
    desk.write(
        "in/log.jsonl",
        &format!("{}\n{broken}{}\n", good_chat("one"), dangling_chat("two")),
    );
    for form in ["json", "jsonl"] {
        let write = format!("{form}=known.{form}");
        assert_eq!(end(desk.chatmill(&["check", "in", "--write", &write])).code, 1);
    }
    let check = |form: &str, path: &str| {
        let baseline = format!("known.{form}");
        end(desk.chatmill(&["check", path, "--baseline", &baseline, "--format", "json"]))
    };
    for form in ["json", "jsonl"] {
        // The path may be typed in another way.
        for path in ["in", "./in/log.jsonl", "in/*.jsonl"] {
            let same = check(form, path);
            assert_eq!(same.code, 0, "{form} {path}: {}", same.stdout);
            let report: Value = serde_json::from_str(&same.stdout).unwrap();
            assert_eq!(report["findings"], Value::Array(Vec::new()), "{form} {path}");
            assert_eq!(report["summary"]["known"], 2, "{form} {path}");
        }
    }
    // Lines shift, one more line is broken, and one more reply leads nowhere.
    desk.write(
        "in/log.jsonl",
        &format!(
            "{}\n{broken}{}\n{broken}{}\n",
            good_chat("zero"),
            dangling_chat("two"),
            dangling_chat("three")
        ),
    );
    let more = check("jsonl", "in");
    assert_eq!(more.code, 1, "{}", more.stdout);
    let report: Value = serde_json::from_str(&more.stdout).unwrap();
    let found: Vec<(&str, Option<&str>)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            (
                finding["code"].as_str().unwrap(),
                finding["conversation_id"].as_str(),
            )
        })
        .collect();
    assert_eq!(found, [("IN001", None), ("RF001", Some("three"))]);
    assert_eq!(report["files"][0]["errors"], 1);
}

#[test]
fn a_baseline_that_is_none_is_a_wrong_request() {
    let desk = Desk::new();
    desk.write("good.json", &good_chat("one").to_string());
    for baseline in ["good.json", "nowhere.json"] {
        let check = end(desk.chatmill(&["check", "good.json", "--baseline", baseline]));
        assert_eq!(check.code, 2, "{}", check.stderr);
        assert!(check.stderr.contains(baseline), "{}", check.stderr);
        assert!(check.stderr.contains("--write jsonl=FILE"), "{}", check.stderr);
    }
}

#[test]
fn a_dialect_says_what_it_would_refuse_of_each_file() {
    let desk = Desk::new();
    desk.write("calls.jsonl", &unanswered());
    desk.write("good.json", &good_chat("one").to_string());
    let arguments = ["check", "calls.jsonl", "good.json", "--format", "json"];
    assert_eq!(end(desk.chatmill(&arguments)).code, 0, "nobody judges");
    let judged = [
        &arguments[..],
        &["--for", "openai-chat", "--for", "mistral-chat@v3"],
    ]
    .concat();
    let check = end(desk.chatmill(&judged));
    assert_eq!(check.code, 1, "{}", check.stderr);
    let report: Value = serde_json::from_str(&check.stdout).unwrap();
    let refusals: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["code"] == "DI004")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    assert_eq!(refusals.len(), 2, "{refusals:?}");
    assert!(
        refusals[0].starts_with("openai-chat would refuse it: "),
        "{refusals:?}"
    );
    assert!(
        refusals[1].starts_with("mistral-chat@v3 would refuse it: "),
        "{refusals:?}"
    );
    let judgement = |file: usize, target: usize| {
        let judgement = &report["files"][file]["for"][target];
        (judgement["accepted"].as_u64(), judgement["refused"].as_u64())
    };
    assert_eq!(judgement(0, 0), (Some(0), Some(1)));
    assert_eq!(judgement(1, 1), (Some(1), Some(0)));
    let unknown = end(desk.chatmill(&["check", "good.json", "--for", "openai-chaat"]));
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("did you mean `openai-chat`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_report_that_is_not_for_a_terminal_has_no_colours() {
    let desk = Desk::new();
    desk.write("dangling.json", &dangling_chat("one").to_string());
    let check = end(desk.chatmill(&["check", "dangling.json"]));
    assert!(!check.stdout.contains('\u{1b}'), "{}", check.stdout);
    let mut forced = desk.chatmill(&["check", "dangling.json", "--write", "full=plain.txt"]);
    forced.env("CLICOLOR_FORCE", "1");
    let forced = end(forced);
    assert!(
        forced.stdout.contains("\u{1b}[1;33mwarning\u{1b}[0m["),
        "{}",
        forced.stdout
    );
    assert_eq!(fs::read_to_string(desk.path("plain.txt")).unwrap(), check.stdout);
}

#[test]
fn every_style_of_progress_leaves_stdout_alone_and_names_the_stage() {
    let desk = Desk::new();
    let lines: String = (0..200)
        .map(|n| chat(&format!("room-{n}"), &[("m1", "user_1", "Hello")]).to_string() + "\n")
        .collect();
    desk.write("many.jsonl", &lines);
    let mut printed = Vec::new();
    for style in ["auto", "bar", "plain", "json", "none"] {
        let check = end(desk.chatmill(&["check", "many.jsonl", "--progress", style]));
        assert_eq!(check.code, 0, "{style}: {}", check.stderr);
        if style == "json" {
            let first = &json_lines(&check.stderr)[0];
            assert_eq!(
                (&first["event"], &first["stage"]),
                (&"stage".into(), &"check".into())
            );
            assert_eq!(first["bytes_total"], lines.len());
        } else {
            assert_eq!(check.stderr, "", "{style}: a short check has nothing to tell");
        }
        printed.push(check.stdout);
    }
    printed.dedup();
    assert_eq!(printed.len(), 1);
}

#[test]
fn a_written_report_never_takes_the_place_of_an_input_or_of_a_link() {
    use std::os::unix::fs::symlink;
    let desk = Desk::new();
    let input = desk.path("i.json");
    fs::write(&input, good_chat("a").to_string()).unwrap();
    symlink("i.json", desk.path("link.json")).unwrap();
    fs::hard_link(&input, desk.path("same.json")).unwrap();
    fs::write(desk.path("other.json"), "mine").unwrap();
    symlink("other.json", desk.path("to-other.json")).unwrap();
    let before = fs::read(&input).unwrap();
    for (read, written) in [
        ("i.json", "i.json"),
        ("i.json", "./i.json"),
        ("i.json", "link.json"),
        ("link.json", "i.json"),
        ("i.json", "same.json"),
        ("i.json", "to-other.json"),
    ] {
        let check = end(desk.chatmill(&["check", read, "--write", &format!("json={written}")]));
        assert_eq!(check.code, 2, "{read} to {written}: {}", check.stderr);
        assert!(fs::read(&input).unwrap() == before, "{read} to {written}");
    }
    assert_eq!(fs::read(desk.path("other.json")).unwrap(), b"mine");
    let twice = end(desk.chatmill(&["check", "i.json", "--write", "json=r", "--write", "csv=./r"]));
    assert_eq!(twice.code, 2, "{}", twice.stderr);
    assert!(!desk.path("r").exists());
    let whole = end(desk.chatmill(&["check", "i.json", "--write", "json=r"]));
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    assert!(fs::read_to_string(desk.path("r")).unwrap().starts_with('{'));
}

#[test]
fn a_check_that_ends_early_keeps_the_report_that_was_there() {
    let desk = Desk::new();
    fs::write(desk.path("i.json"), dangling_chat("a").to_string()).unwrap();
    fs::write(desk.path("r.json"), "earlier").unwrap();
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else {
        eprintln!("SKIPPED: this system has no /dev/full");
        return;
    };
    let output = std::process::Command::new(binary())
        .args(["check", "i.json", "--format", "jsonl", "--write", "json=r.json"])
        .current_dir(desk.path(""))
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(fs::read_to_string(desk.path("r.json")).unwrap(), "earlier");
    let left = fs::read_dir(desk.path("")).unwrap();
    let left = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .ends_with(".new")
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn a_manifest_holds_length_hash_and_verdict_of_every_file() {
    let desk = Desk::new();
    let good = good_chat("good").to_string();
    let bad = dangling_chat("bad").to_string();
    desk.write("in/good.json", &good);
    desk.write("in/bad.json", &bad);
    desk.write("in/empty.json", "");
    fs::create_dir(desk.path("in/gone")).unwrap();
    std::os::unix::fs::symlink("nowhere", desk.path("in/gone/link.json")).unwrap();
    for arguments in [
        ["check", "in", "--write", "manifest=files.jsonl"],
        ["check", "in", "--output-format", "manifest"],
    ] {
        let ended = end(desk.chatmill(&arguments));
        let text = match fs::read_to_string(desk.path("files.jsonl")) {
            Ok(written) if arguments[2] == "--write" => written,
            _ => ended.stdout,
        };
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let line = |name: &str| {
            lines
                .iter()
                .find(|line| line["path"] == format!("in/{name}").as_str())
                .unwrap()
        };
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
        assert_eq!(line("good.json")["blake3"], hash(&good).as_str());
        assert_eq!(line("good.json")["bytes"], good.len());
        assert_eq!(line("good.json")["verdict"], "valid");
        assert_eq!(line("bad.json")["blake3"], hash(&bad).as_str());
        assert_eq!(line("bad.json")["verdict"], "warnings");
        assert_eq!(line("empty.json")["verdict"], "empty");
        assert_eq!(line("gone/link.json")["blake3"], Value::Null);
        assert_eq!(lines.len(), 4, "{text}");
    }
}
