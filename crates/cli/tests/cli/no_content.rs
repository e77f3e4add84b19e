use std::fs;
use std::path::{Path, PathBuf};

use chatmill_drawn::{cases, random};
use serde_json::json;

use crate::desk::{Desk, dangling_chat, end};

/// A word that stands in every place where chat text, a name or an address can stand.
const CANARY: &str = "Xanthoria";

/// Chats that raise findings of many kinds, and a line that is broken in the middle of text.
fn desk() -> Desk {
    let desk = Desk::new();
    let mut chat = dangling_chat("one");
    chat["conversation_meta"]["name"] = json!(format!("{CANARY} room"));
    chat["conversation_meta"]["default_timezone"] = json!(format!("{CANARY}/Zone"));
    let people = &mut chat["conversation_meta"]["user_details"];
    people["user_1"] = json!({"full_name": CANARY, "role": "user", "email": format!("{CANARY}@example.com"), "extra": {"x": CANARY}});
    let list = &mut chat["conversation_list"];
    for index in 0..3 {
        list[index]["content"] = json!(format!("I saw {CANARY} <|im_start|> \u{0} on the wall"));
    }
    list[0]["create_time"] = json!(format!("{CANARY} o'clock"));
    list[0]["type"] = json!(format!("{CANARY}-kind"));
    list[1]["message_id"] = json!("m1");
    list[1]["create_time"] = json!("2020-01-01T00:00:00Z");
    list[1]["extra"] = json!({"tool_calls": [{"id": "c1", "type": "function", "function": {"name": CANARY, "arguments": CANARY}}]});
    list[2]["refer_list"] =
        json!([{"message_id": "m1", "content": format!("{CANARY} said otherwise"), "sender": CANARY}]);
    list[2]["sender"] = json!("stranger");
    let whole = chat.to_string();
    let broken = whole
        .get(..whole.rfind(CANARY).unwrap() + CANARY.len())
        .unwrap()
        .to_owned();
    let surrogate = whole.replacen(&format!("{CANARY} room"), &format!("{CANARY} \\ud83d"), 1);
    let twice = whole.replacen(
        "\"refer_list\"",
        &format!("\"{CANARY} Smith\":1,\"{CANARY} Smith\":2,\"refer_list\""),
        1,
    );
    desk.write(
        "in/chat.jsonl",
        &format!("{whole}\n{broken}\n{surrogate}\n{twice}\n{{\"content\": \"{CANARY}\" \"{CANARY}\"}}\n"),
    );
    desk.pipeline();
    desk
}

fn assert_silent(what: &str, text: &str) {
    assert!(!text.contains(CANARY), "{what} quotes:\n{text}");
}

#[test]
fn no_stream_of_check_and_inspect_quotes_the_chat() {
    let desk = desk();
    let loud = end(desk.chatmill(&["check", "in", "--format", "text"]));
    assert!(
        loud.stdout.contains(CANARY),
        "the chat must be worth hiding:\n{}",
        loud.stdout
    );
    for format in FORMATS.into_iter().filter(|format| !WRITTEN.contains(format)) {
        let write = format!("{format}=report");
        let arguments = [
            "check",
            "in",
            "--for",
            "openai-chat",
            "--for",
            "chatml",
            "--format",
            format,
            "--write",
            &write,
            "--no-content",
            "-vv",
        ];
        let check = end(desk.chatmill(&arguments));
        assert_eq!(check.code, 1, "{format}");
        let told = if format == "csv" { "errors" } else { "DI004" };
        assert!(check.stdout.contains(told), "{format}: {}", check.stdout);
        assert_file_silent(&desk.path("report"));
        assert_silent(format, &check.stdout);
        assert_silent(format, &check.stderr);
    }
    let inspect = end(desk.chatmill(&["inspect", "in", "--no-content", "-vv"]));
    assert!(inspect.stdout.contains("group-chat"));
    assert_silent("inspect", &inspect.stdout);
    assert_silent("inspect", &inspect.stderr);
}

#[test]
fn a_run_quotes_the_chat_only_where_the_chat_itself_is_kept() {
    let desk = desk();
    let run = end(desk.chatmill(&[
        "run",
        "pipeline.toml",
        "--no-content",
        "-vv",
        "--set",
        "output.compression=none",
    ]));
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_silent("stdout", &run.stdout);
    assert_silent("stderr", &run.stderr);
    let out = desk.path("out");
    for table in ["findings", "rejects"] {
        for file in fs::read_dir(out.join(table)).unwrap() {
            assert_file_silent(&file.unwrap().path());
        }
    }
    let report = end(desk.chatmill(&["report", "out"]));
    assert_eq!(report.code, 0, "{}", report.stderr);
    for file in [
        "manifest.json",
        "run.json",
        "report.html",
        "report.json",
        "README.md",
    ] {
        assert_file_silent(&out.join(file));
    }
}

#[test]
fn a_report_of_a_run_that_may_quote_is_silent_when_asked() {
    let desk = desk();
    let run = end(desk.chatmill(&["run", "pipeline.toml"]));
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(end(desk.chatmill(&["report", "out"])).code, 0);
    let page = desk.path("out/report.html");
    assert!(fs::read_to_string(&page).unwrap().contains(CANARY));
    assert_eq!(end(desk.chatmill(&["report", "out", "--no-content"])).code, 0);
    for file in ["report.html", "report.json", "README.md"] {
        assert_file_silent(&desk.path("out").join(file));
    }
}

/// Of the bills by each sum one is drawn; `CHATMILL_DRAWS=6` takes all.
#[test]
fn commands_on_files_and_datasets_quote_nothing_when_asked() {
    let desk = desk();
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml"])).code, 1);
    let later = [
        "run",
        "pipeline.toml",
        "--out",
        "later",
        "--set",
        "select.limit=2",
    ];
    assert!(end(desk.chatmill(&later)).code < 2);
    let loud = end(desk.chatmill(&["tokens", "out", "--by", "tool"]));
    assert!(
        loud.stdout.contains(CANARY),
        "the chat must be worth hiding:\n{}",
        loud.stdout
    );
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["init", "in"],
        vec!["report", "out", "--against", "later", "--times"],
        vec![
            "export",
            "out",
            "--dialect",
            "openai-chat",
            "--format",
            "jsonl",
            "--out",
            "files",
        ],
        vec!["certify", "out"],
        vec!["tokens", "in"],
    ];
    let mut random = random(2);
    for by in ["source", "conversation", "participant", "role", "tool", "day"] {
        let mut bills = Vec::new();
        for format in ["table", "json", "csv"] {
            bills.push(vec!["tokens", "in", "--by", by, "--format", format]);
            bills.push(vec!["tokens", "out", "--by", by, "--format", format]);
        }
        for _ in 0..cases(1).min(6) {
            commands.push(bills.swap_remove(random.below(bills.len())));
        }
    }
    for format in ["text", "json", "markdown"] {
        let condition = ["--fail-if", "conversations > 0"];
        commands.push(
            [
                &["diff", "later", "out", "--format", format],
                condition.as_slice(),
            ]
            .concat(),
        );
    }
    for command in commands {
        let arguments = [command.as_slice(), &["--no-content", "-vv"]].concat();
        let ended = end(desk.chatmill(&arguments));
        assert!(ended.code < 2, "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stdout.is_empty(), "{arguments:?}");
        assert_silent(&arguments.join(" "), &ended.stdout);
        assert_silent(&arguments.join(" "), &ended.stderr);
    }
}

#[test]
fn a_run_that_replaces_names_writes_neither_them_nor_its_key_anywhere() {
    const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    let desk = desk();
    desk.write("redaction.key", KEY);
    // Tools keep their names, whoever is called like them.
    let chat = fs::read_to_string(desk.path("in/chat.jsonl")).unwrap();
    let named = format!("\"function\":{{\"name\":\"{CANARY}\"");
    assert!(chat.contains(&named), "{chat}");
    desk.write(
        "in/chat.jsonl",
        &chat.replace(&named, "\"function\":{\"name\":\"lookup\""),
    );
    let pipeline = fs::read_to_string(desk.path("pipeline.toml")).unwrap();
    let section = "[redact]\nmode = \"replace\"\nkey_file = \"redaction.key\"\n";
    desk.write(
        "pipeline.toml",
        &format!("{pipeline}compression = \"none\"\n{section}"),
    );
    let run = end(desk.chatmill(&[
        "run",
        "pipeline.toml",
        "-v",
        "--log-format",
        "json",
        "--progress",
        "json",
    ]));
    assert_eq!(run.code, 1, "{}", run.stderr);
    let report = fs::read_to_string(desk.path("out/report.json")).unwrap();
    assert!(
        report.contains("PT004") && report.contains("\"redacted\""),
        "{report}"
    );
    let told = [("stdout", &run.stdout), ("stderr", &run.stderr)];
    for (stream, text) in told {
        assert_silent(stream, text);
        assert!(!text.contains(KEY), "{stream} has the key:\n{text}");
    }
    let mut files = 0;
    for entry in walk(&desk.path("out")) {
        assert_file_silent(&entry);
        let bytes = fs::read(&entry).unwrap();
        let has_key = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!has_key, "{} has the key", entry.display());
        files += 1;
    }
    assert!(files > 10, "only {files} files");
}

/// Every file below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

fn assert_file_silent(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let found = bytes
        .windows(CANARY.len())
        .any(|window| window == CANARY.as_bytes());
    assert!(!found, "{} quotes the chat", path.display());
}

/// Chats in which the canary is every id, a version, a field that no format has, and the name of a file.
fn desk_of_ids() -> Desk {
    let desk = Desk::new();
    let id = |number: u32| format!("{CANARY}-{number}");
    let mut chat = dangling_chat(&id(1));
    chat["version"] = json!(id(2));
    let people = &mut chat["conversation_meta"]["user_details"];
    people[id(3)] = json!({"full_name": "Ann", "role": "user"});
    people[id(4)] = json!({"full_name": 7});
    let list = &mut chat["conversation_list"];
    for index in 0..3 {
        list[index]["message_id"] = json!(id(10 + index as u32));
        list[index]["sender"] = json!(id(3 + index as u32));
        list[index]["sender_name"] = json!("Bea");
        list[index][CANARY] = json!({CANARY: "\u{0}", "x": "caf\u{fffd}"});
    }
    list[0]["extra"] = json!({"tool_calls": [
        {"id": id(20), "type": "function", "function": {"name": id(21), "arguments": "{"}},
        {"id": id(20), "type": "function", "function": {"name": id(21), "arguments": "[]"}},
    ]});
    list[0]["role"] = json!("assistant");
    list[1]["extra"] = json!({"tool_call_id": id(22), "name": id(23)});
    list[1]["role"] = json!("tool");
    list[2]["refer_list"] = json!([id(30), id(12), {"message_id": id(31)}]);
    let other = chat
        .to_string()
        .replace("Ann", "Bo")
        .replace("At six.", "At seven.");
    desk.write(&format!("in/{CANARY}.json"), &chat.to_string());
    desk.write(&format!("in/{CANARY}-2.json"), &chat.to_string());
    desk.write("in/other.json", &other);
    desk.pipeline();
    desk
}

/// Formats that are written to files alone.
const WRITTEN: [&str; 2] = ["manifest", "html"];

const FORMATS: [&str; 12] = [
    "full", "concise", "grouped", "json", "jsonl", "csv", "junit", "sarif", "github", "gitlab", "manifest",
    "html",
];

#[test]
fn no_id_version_or_field_of_the_input_is_in_any_report_of_a_check() {
    let desk = desk_of_ids();
    let loud = end(desk.chatmill(&["check", "in", "--format", "json"]));
    for code in [
        "AS004", "AS005", "IN029", "PT001", "PT006", "PT007", "RF001", "SR005", "TL002", "IN022",
    ] {
        assert!(loud.stdout.contains(code), "no {code} in {}", loud.stdout);
    }
    for format in FORMATS {
        let write = format!("{format}=report");
        let arguments = [
            "check",
            "in",
            "--for",
            "openai-chat",
            "--format",
            format,
            "--write",
            &write,
            "--no-content",
            "--no-paths",
            "-vv",
        ];
        let check = end(desk.chatmill(&arguments));
        assert_eq!(check.code, 1, "{format}: {}", check.stderr);
        assert_silent(format, &check.stdout);
        assert_silent(format, &check.stderr);
        assert_file_silent(&desk.path("report"));
    }
    // With paths, nothing but paths.
    let paths = end(desk.chatmill(&["check", "in", "--format", "jsonl", "--no-content"]));
    let pathless = paths.stdout.replace(&format!("in/{CANARY}"), "in/x");
    assert_silent("all but paths", &pathless);
    assert_ne!(pathless, paths.stdout);
}

#[test]
fn masks_differ_from_report_to_report_unless_a_key_is_given() {
    let desk = desk_of_ids();
    desk.write("mask.key", "0f1e2d3c4b5a69788796a5b4c3d2e1f0");
    let ids = |more: &[&str]| {
        let arguments = [&["check", "in", "--format", "json", "--no-content"], more].concat();
        let report: serde_json::Value = serde_json::from_str(&end(desk.chatmill(&arguments)).stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let ids: Vec<String> = findings
            .filter_map(|finding| Some(finding["conversation_id"].as_str()?.to_owned()))
            .collect();
        assert!(ids.iter().all(|id| id.starts_with("id-")), "{ids:?}");
        ids
    };
    assert_ne!(ids(&[]), ids(&[]));
    let keyed = ids(&["--mask-key", "mask.key"]);
    assert_eq!(keyed, ids(&["--mask-key", "mask.key"]));
    let known = desk.chatmill(&[
        "check",
        "in",
        "--no-content",
        "--mask-key",
        "mask.key",
        "--write",
        "jsonl=known.jsonl",
    ]);
    assert_eq!(end(known).code, 1);
    let again = end(desk.chatmill(&[
        "check",
        "in",
        "--no-content",
        "--mask-key",
        "mask.key",
        "--baseline",
        "known.jsonl",
        "--format",
        "jsonl",
    ]));
    assert_eq!(again.stdout, "", "all of them are known");
}

#[test]
fn a_key_of_masks_that_is_none_is_refused() {
    let desk = desk_of_ids();
    desk.write("short.key", "0f1e");
    for (arguments, said) in [
        (
            ["--no-content", "--mask-key", "short.key"].as_slice(),
            "shorter than 32 bytes",
        ),
        (&["--no-content", "--mask-key", "none.key"], "none.key"),
        (&["--mask-key", "short.key"], "--no-content"),
        (&["--no-paths"], "--no-content"),
    ] {
        let refused = end(desk.chatmill(&[&["check", "in"], arguments].concat()));
        assert_eq!(refused.code, 2, "{arguments:?}");
        assert!(refused.stderr.contains(said), "{arguments:?}: {}", refused.stderr);
    }
}

#[test]
fn bills_by_id_mask_their_ids() {
    let desk = desk_of_ids();
    for by in ["conversation", "participant", "tool"] {
        let bill = end(desk.chatmill(&["tokens", "in", "--by", by, "--no-content", "--format", "csv"]));
        assert!(bill.stdout.contains("id-"), "{}", bill.stdout);
        let pathless = bill.stderr.replace(&format!("in/{CANARY}"), "in/x");
        assert_silent(by, &bill.stdout);
        assert_silent(by, &pathless);
    }
}
