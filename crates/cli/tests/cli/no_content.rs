use std::fs;
use std::path::Path;

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
    for format in ["text", "json", "jsonl", "csv", "junit", "sarif"] {
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

fn assert_file_silent(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let found = bytes
        .windows(CANARY.len())
        .any(|window| window == CANARY.as_bytes());
    assert!(!found, "{} quotes the chat", path.display());
}
