use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::desk::{Desk, chat, dangling_chat, end, good_chat, json_lines};

/// Columns of the findings table, as the contract lists them.
const COLUMNS: [&str; 18] = [
    "code",
    "name",
    "severity",
    "count",
    "key",
    "input",
    "entry",
    "record",
    "conversation_id",
    "position",
    "message_id",
    "line_number",
    "column_number",
    "byte_start",
    "byte_end",
    "json_path",
    "message",
    "help",
];

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("good.json", &good_chat("good").to_string());
    desk.write(
        "dangling.json",
        &serde_json::to_string_pretty(&dangling_chat("dangling")).unwrap(),
    );
    desk.write(
        "broken.jsonl",
        &format!("{}\n{{\"broken\": \n{}\n", good_chat("one"), good_chat("two")),
    );
    desk
}

#[test]
fn the_form_of_the_report_never_changes_the_exit_code() {
    let desk = desk();
    for format in ["text", "json", "jsonl"] {
        let check = |path: &str, more: &[&str]| {
            let arguments = [&["check", path, "--format", format], more].concat();
            end(desk.chatmill(&arguments)).code
        };
        assert_eq!(check("good.json", &[]), 0, "{format}");
        assert_eq!(check("broken.jsonl", &[]), 1, "{format}");
        assert_eq!(check("broken.jsonl", &["--fail-on", "never"]), 0, "{format}");
        assert_eq!(check("dangling.json", &[]), 0, "{format}");
        assert_eq!(check("dangling.json", &["--fail-on", "warning"]), 1, "{format}");
    }
}

#[test]
fn a_text_finding_shows_its_place_its_source_and_what_to_do() {
    let desk = desk();
    let check = end(desk.chatmill(&["check", "dangling.json"]));
    let source = fs::read_to_string(desk.path("dangling.json")).unwrap();
    let line = 1 + source.lines().position(|line| line.contains("nowhere")).unwrap();
    let expected = format!("--> dangling.json:{line}:");
    let lines: Vec<&str> = check.stdout.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.trim_start().starts_with(&expected))
        .expect(&check.stdout);
    assert!(
        lines[at - 1].starts_with("warning[RF001 dangling-reference]: "),
        "{}",
        check.stdout
    );
    assert!(lines[at + 1].contains("\"nowhere\""), "{}", check.stdout);
    let caret = lines[at + 2].find('^').unwrap();
    assert_eq!(lines[at + 1].as_bytes()[caret], b'"', "{}", check.stdout);
    assert!(
        lines[at + 2].ends_with("^ $.conversation_list[2].refer_list[0]"),
        "{}",
        check.stdout
    );
    assert!(lines[at + 3].trim().starts_with("= help: "), "{}", check.stdout);
    assert!(!check.stdout.contains("dangling.json: "), "{}", check.stdout);
    let verbose = end(desk.chatmill(&["check", "dangling.json", "-v"]));
    let verdict = "dangling.json: warnings (group-chat, 1 record, 1 conversation, 1 warning)";
    assert!(verbose.stdout.contains(verdict), "{}", verbose.stdout);
}

#[test]
fn json_is_one_object_with_the_columns_of_the_findings_table() {
    let desk = desk();
    let check = end(desk.chatmill(&[
        "check",
        "good.json",
        "dangling.json",
        "broken.jsonl",
        "--format",
        "json",
    ]));
    let report: Value = serde_json::from_str(&check.stdout).unwrap();
    let verdicts: Vec<(&str, &str)> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["verdict"].as_str().unwrap()))
        .collect();
    let expected = [
        ("good.json", "valid"),
        ("dangling.json", "warnings"),
        ("broken.jsonl", "errors"),
    ];
    assert_eq!(verdicts, expected);
    let findings = report["findings"].as_array().unwrap();
    let codes: BTreeSet<&str> = findings
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, BTreeSet::from(["IN001", "RF001"]));
    for finding in findings {
        let keys: Vec<&str> = finding.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, COLUMNS);
    }
    assert_eq!(report["summary"]["files"], 3);
    assert_eq!(report["summary"]["errors"], 1);
    assert_eq!(report["summary"]["records"], 5);
    assert_eq!(report["summary"]["codes"]["RF001"]["warnings"], 1);
}

#[test]
fn jsonl_has_the_same_findings_as_json() {
    let desk = desk();
    let report =
        |format: &str| end(desk.chatmill(&["check", "dangling.json", "broken.jsonl", "--format", format]));
    let whole: Value = serde_json::from_str(&report("json").stdout).unwrap();
    let lines = json_lines(&report("jsonl").stdout);
    assert_eq!(lines.len(), 2);
    assert_eq!(whole["findings"], Value::Array(lines));
}

#[test]
fn a_clean_file_gives_a_whole_json_object_too() {
    let check = end(desk().chatmill(&["check", "good.json", "--format", "json"]));
    let report: Value = serde_json::from_str(&check.stdout).unwrap();
    assert_eq!(report["findings"], Value::Array(Vec::new()));
    assert_eq!(report["files"][0]["verdict"], "valid");
}

#[test]
fn ignored_and_unselected_codes_count_for_nothing() {
    let desk = desk();
    for options in [
        ["--ignore", "IN"],
        ["--ignore", "invalid-json"],
        ["--select", "RF"],
    ] {
        let arguments = [
            &["check", "dangling.json", "broken.jsonl", "--format", "json"],
            options.as_slice(),
        ]
        .concat();
        let check = end(desk.chatmill(&arguments));
        assert_eq!(check.code, 0, "{options:?}");
        let report: Value = serde_json::from_str(&check.stdout).unwrap();
        assert_eq!(report["summary"]["errors"], 0, "{options:?}");
        assert_eq!(report["summary"]["warnings"], 1, "{options:?}");
        assert_eq!(report["findings"].as_array().unwrap().len(), 1, "{options:?}");
    }
    let unknown = end(desk.chatmill(&["check", "good.json", "--select", "danglin-reference"]));
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("`dangling-reference`"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn that_nobody_reads_a_file_is_told_once_and_counted_for_each_of_its_records() {
    let desk = Desk::new();
    desk.write("weather.jsonl", &"{\"day\":1}\n".repeat(30));
    desk.write("blooms.csv", "sepal,petal\n1,2\n3,4\n");
    let check = end(desk.chatmill(&["check", "weather.jsonl", "blooms.csv", "--format", "concise"]));
    assert_eq!(check.code, 1);
    let told: Vec<&str> = check
        .stdout
        .lines()
        .filter(|line| line.contains(": error[SR003"))
        .collect();
    assert_eq!(told.len(), 2, "{}", check.stdout);
    for said in [
        "29 more findings of SR003",
        "1 more finding of SR003",
        "0 conversations in 32 records; 32 errors",
    ] {
        assert!(check.stdout.contains(said), "{said}: {}", check.stdout);
    }
    let all = end(desk.chatmill(&[
        "check",
        "weather.jsonl",
        "--format",
        "concise",
        "--max-findings",
        "0",
    ]));
    assert_eq!(all.stdout.matches(": error[SR003").count(), 30, "{}", all.stdout);
}

#[test]
fn the_first_ten_of_a_code_in_a_file_are_printed_and_the_rest_is_counted() {
    let desk = desk();
    desk.write(
        "many.jsonl",
        &format!("{}\n{}", good_chat("one"), "{\"broken\": \n".repeat(13)),
    );
    desk.write(
        "more.jsonl",
        &format!("{}\n{}", good_chat("two"), "{\"broken\": \n".repeat(11)),
    );
    for (most, shown, printed) in [("0", 24, 24), ("1", 2, 2), ("12", 23, 23)] {
        let arguments = ["check", "many.jsonl", "more.jsonl", "--max-findings", most];
        let check = |format: &'static str| {
            end(desk.chatmill(&[&arguments[..], &["--output-format", format]].concat()))
        };
        assert_eq!(
            check("concise").stdout.matches("error[IN001").count(),
            shown,
            "{most}"
        );
        assert_eq!(json_lines(&check("jsonl").stdout).len(), printed, "{most}");
    }
    let check = end(desk.chatmill(&["check", "many.jsonl"]));
    assert_eq!(check.stdout.matches("error[IN001 invalid-json]").count(), 10);
    let more = "many.jsonl: and 3 more findings of IN001 invalid-json\n";
    assert!(check.stdout.contains(more), "{}", check.stdout);
    assert!(check.stdout.contains("13 errors"), "{}", check.stdout);
    let counted = end(desk.chatmill(&["check", "many.jsonl", "--statistics"]));
    assert!(!counted.stdout.contains("error[IN001"), "{}", counted.stdout);
    let row = counted
        .stdout
        .lines()
        .find(|line| line.contains("IN001 invalid-json"))
        .unwrap();
    assert_eq!(
        row.split_whitespace().skip(2).collect::<Vec<_>>(),
        ["13", "0", "0", "13"]
    );
}

#[test]
fn further_reports_are_written_beside_the_printed_one() {
    let desk = desk();
    let check = end(desk.chatmill(&[
        "check",
        "broken.jsonl",
        "--write",
        "jsonl=found.jsonl",
        "--write",
        "json=all.json",
    ]));
    assert_eq!(check.code, 1);
    assert_eq!(
        json_lines(&fs::read_to_string(desk.path("found.jsonl")).unwrap()).len(),
        1
    );
    let report: Value = serde_json::from_str(&fs::read_to_string(desk.path("all.json")).unwrap()).unwrap();
    assert_eq!(report["summary"]["errors"], 1);
    assert!(check.stdout.contains("error[IN001 invalid-json]"));
    let nowhere = end(desk.chatmill(&["check", "broken.jsonl", "--write", "json=no/such/folder/x.json"]));
    assert_eq!(nowhere.code, 3);
    assert!(
        nowhere.stderr.contains("no/such/folder/x.json"),
        "{}",
        nowhere.stderr
    );
}

/// A chat with a note and a chat with a warning.
fn noted() -> Desk {
    let desk = desk();
    let text = good_chat("noted").to_string();
    desk.write("noted.json", &format!("\u{feff}{text}"));
    desk
}

#[test]
fn notes_are_shown_only_to_who_asks_for_them() {
    let desk = noted();
    let check = |more: &[&str]| {
        let arguments = [&["check", "good.json", "noted.json", "dangling.json"], more].concat();
        end(desk.chatmill(&arguments)).stdout
    };
    let plain = check(&[]);
    assert!(plain.starts_with("warning[RF001"), "{plain}");
    assert!(!plain.contains("note["), "{plain}");
    assert!(
        plain.contains("3 files: 1 clean, 1 with notes, 1 with warnings\n"),
        "{plain}"
    );
    assert!(plain.contains("1 note is not shown: `-v`"), "{plain}");
    let quiet = check(&["-q"]);
    assert!(
        quiet.starts_with("warning[RF001") && !quiet.contains("3 files"),
        "{quiet}"
    );
    let verbose = check(&["-v"]);
    assert!(
        verbose.contains("note[IN016") && verbose.contains("good.json: valid"),
        "{verbose}"
    );
    for (least, note, warning) in [("note", 1, 1), ("warning", 0, 1), ("error", 0, 0)] {
        for format in ["full", "concise", "jsonl"] {
            let listed = check(&["--min-severity", least, "--output-format", format, "-q"]);
            let listed = (listed.matches("IN016").count(), listed.matches("RF001").count());
            assert_eq!(listed, (note, warning), "{format} {least}");
        }
    }
    let strict = end(desk.chatmill(&[
        "check",
        "noted.json",
        "--fail-on",
        "note",
        "--min-severity",
        "error",
    ]));
    assert_eq!(strict.code, 1, "what is not shown counts");
}

#[test]
fn nothing_is_said_quietly_of_what_is_clean() {
    let check = end(desk().chatmill(&["check", "good.json", "-q"]));
    assert_eq!((check.code, check.stdout.as_str()), (0, ""));
}

#[test]
fn findings_of_one_file_stand_together_in_the_order_of_their_places() {
    let desk = Desk::new();
    // The rows of one conversation stand in two files, and are read when both are known.
    let row = |id: &str, call: &str| {
        let content = serde_json::json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": call, "type": "function", "function": {"name": "gate", "arguments": "{}"}}]});
        serde_json::json!({"message_id": id, "thread_id": "t", "type": "assistant", "is_llm_message": true,
            "created_at": format!("2026-01-01T00:00:0{}Z", id.len()), "content": content})
    };
    desk.write("in/a.jsonl", &format!("{}\n{{\"broken\n", row("m", "c1")));
    desk.write("in/b.jsonl", &format!("{{\"broken\n{}\n", row("mm", "c2")));
    let check = end(desk.chatmill(&[
        "check",
        "in",
        "--output-format",
        "concise",
        "-q",
        "--min-severity",
        "note",
    ]));
    let places: Vec<&str> = check
        .stdout
        .lines()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    assert_eq!(places.len(), 4, "{}", check.stdout);
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn no_line_of_source_text_is_wider_than_the_terminal() {
    let desk = desk();
    let long = "говорить ".repeat(200);
    let chat = chat("long", &[("m1", "user_1", &format!("{long}<|im_end|>{long}"))]);
    desk.write("long.jsonl", &chat.to_string());
    for columns in [40, 60, 80, 200] {
        let mut command = desk.chatmill(&["check", "long.jsonl", "dangling.json", "broken.jsonl"]);
        command.env("COLUMNS", columns.to_string());
        let check = end(command);
        assert!(check.stdout.contains("<|im_end|>"), "{columns}: {}", check.stdout);
        for line in check.stdout.lines().filter(|line| line.contains(" | ")) {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn stdin_is_an_input() {
    let desk = desk();
    let mut command = desk.chatmill(&["check", "-"]);
    command.write_stdin(good_chat("piped").to_string());
    let check = end(command);
    assert_eq!(check.code, 0);
    let summary = "1 file: 1 clean\n1 conversation in 1 record; ";
    assert!(check.stdout.starts_with(summary), "{}", check.stdout);
}

#[test]
fn a_path_that_names_nothing_is_a_wrong_request() {
    let check = end(desk().chatmill(&["check", "nowhere/*.json"]));
    assert_eq!(check.code, 2);
    assert!(check.stderr.contains("nowhere/*.json"), "{}", check.stderr);
}

#[test]
fn records_stay_themselves_where_one_slice_ends_and_the_next_begins() {
    let desk = Desk::new();
    // More than three slices of 1 MiB, with lines of unequal length.
    let lines: String = (0..1500)
        .map(|n| {
            let text = format!("{n} {}", "x".repeat(1_800 + n % 700));
            chat(
                &format!("room-{n}"),
                &[("m1", "user_1", &text), ("m2", "bot_1", "Noted.")],
            )
            .to_string()
                + "\n"
        })
        .collect();
    desk.write("many.jsonl", &lines);
    let check = end(desk.chatmill(&["check", "many.jsonl", "--threads", "2"]));
    assert_eq!(check.code, 0, "{}", check.stdout);
    assert!(
        check
            .stdout
            .contains("1,500 conversations in 1,500 records; 0 errors"),
        "{}",
        check.stdout
    );
}

/// Rows of a thread, the second of which makes a call that nobody answers; the third goes on.
fn rows_with_a_call() -> [String; 3] {
    let row = |id: &str, role: &str, content: &Value| {
        serde_json::json!({
            "message_id": id, "thread_id": "t1", "type": role, "is_llm_message": true, "content": content,
            "metadata": {}, "created_at": "2025-06-01T09:00:00+00:00",
        })
        .to_string()
    };
    let call = serde_json::json!([
        {"id": "call_skua", "type": "function", "function": {"name": "ask", "arguments": "{}"}}
    ]);
    [
        row(
            "r1",
            "user",
            &serde_json::json!({"role": "user", "content": "Is the \"Skua\" late?"}),
        ),
        row(
            "r2",
            "assistant",
            &serde_json::json!({"role": "assistant", "content": "The \"Skua\"?", "tool_calls": call}),
        ),
        row(
            "r3",
            "user",
            &serde_json::json!({"role": "user", "content": "Well?"}),
        ),
    ]
}

#[test]
fn a_place_in_a_line_with_the_escapes_of_copy_is_the_one_in_the_line() {
    let request = |id: &str| {
        serde_json::json!({"messages": [
            {"role": "user", "content": "Is the \"Skua\" late?"},
            {"role": "assistant", "content": "The \"Skua\"?", "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "ask", "arguments": "{}"}},
            ]},
        ]})
        .to_string()
    };
    let requests = ["call_1", "call_skua"].map(request).to_vec();
    for lines in [rows_with_a_call().to_vec(), requests] {
        let desk = Desk::new();
        let text = (lines.join("\n") + "\n").replace('\\', "\\\\");
        desk.write("in.jsonl", &text);
        let check = end(desk.chatmill(&["check", "in.jsonl", "--format", "jsonl"]));
        let found = json_lines(&check.stdout);
        let call = found
            .iter()
            .rfind(|finding| finding["code"] == "TL002")
            .unwrap_or_else(|| panic!("{}", check.stdout));
        let start = text.find("\"call_skua\"").unwrap();
        let column = start - text.find('\n').unwrap();
        assert_eq!(call["line_number"], 2, "{call}");
        assert_eq!(call["column_number"], column, "{call}");
        let span = [&call["byte_start"], &call["byte_end"]].map(|at| at.as_u64().unwrap() as usize);
        assert_eq!(span, [start, start + "\"call_skua\"".len()], "{call}");
    }
}

#[test]
fn what_a_dialect_refuses_of_a_call_is_placed_at_the_call() {
    let desk = Desk::new();
    desk.write("in/rows.jsonl", &rows_with_a_call().join("\n"));
    let mut chat = chat("c", &[("m1", "bot_1", "Let me ask."), ("m2", "ann", "Well?")]);
    chat["conversation_list"][0]["extra"] = serde_json::json!({"tool_calls": [
        {"id": "call_skua", "type": "function", "function": {"name": "ask", "arguments": "{}"}},
    ]});
    desk.write("in/chat.json", &chat.to_string());
    let arguments = [
        "check",
        "in",
        "--for",
        "openai-chat",
        "--select",
        "DI004",
        "--format",
        "jsonl",
    ];
    let check = end(desk.chatmill(&arguments));
    let found = json_lines(&check.stdout);
    let of_calls = found.iter().filter(|finding| {
        let message = finding["message"].as_str().unwrap();
        message.contains("has no result")
    });
    let paths: Vec<&str> = of_calls
        .map(|finding| finding["json_path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "$.conversation_list[0].extra.tool_calls[0].id",
            "$.content.tool_calls[0].id"
        ],
        "{}",
        check.stdout
    );
    let shown = end(desk.chatmill(&[
        "check",
        "in/rows.jsonl",
        "--for",
        "openai-chat",
        "--select",
        "DI004",
    ]));
    assert!(shown.stdout.contains("^^^^^^^^^^^"), "{}", shown.stdout);
}

#[test]
fn a_document_that_is_cut_off_is_shown_where_it_ends() {
    let desk = Desk::new();
    let whole = serde_json::to_string_pretty(&good_chat("cut")).unwrap();
    let cut = whole.rfind("\"content\"").unwrap();
    desk.write("in.json", whole.get(..cut + "\"content\"".len()).unwrap());
    let check = end(desk.chatmill(&["check", "in.json"]));
    assert!(check.stdout.contains("IN008"), "{}", check.stdout);
    let line = 1 + whole.get(..cut).unwrap().matches('\n').count();
    let shown = check
        .stdout
        .lines()
        .find(|text| text.starts_with(&format!("{line} | ")));
    assert!(
        shown.is_some_and(|text| text.contains("\"content\"")),
        "{}",
        check.stdout
    );
    let hidden = end(desk.chatmill(&["check", "in.json", "--no-content"]));
    assert!(!hidden.stdout.contains("\"content\""), "{}", hidden.stdout);
}
