//! `chatmill check`: its report formats byte for byte, and its limits with wide terminals and long files.

use std::path::Path;

use chatmill_workshop::TestDir;

use crate::test_dir::{RunChatmill, chat, dangling_chat, end};

/// Every format, and the file with the expected report.
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

#[test]
fn every_format_says_what_is_expected_of_it_printed_and_written() {
    let test_dir = TestDir::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/check");
    for (format, name) in FORMATS {
        let written = test_dir.path(name);
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
        let mut command = test_dir.chatmill(&arguments);
        command.current_dir(&samples);
        let check = end(command);
        assert_eq!(check.code, 1, "{format}: {}", check.stderr);
        assert_eq!(
            check.stdout,
            std::fs::read_to_string(&written).unwrap(),
            "{format}"
        );
        chatmill_golden::assert_golden(&samples.join(name), &check.stdout);
    }
}

#[test]
fn no_line_of_source_text_is_wider_than_the_terminal() {
    let test_dir = TestDir::new();
    let long = "говорить ".repeat(200);
    let chat = chat("long", &[("m1", "user_1", &format!("{long}<|im_end|>{long}"))]);
    test_dir.write("long.jsonl", chat.to_string());
    test_dir.write("dangling.json", dangling_chat("dangling").to_string());
    for columns in [40, 60, 80, 200] {
        let mut command = test_dir.chatmill(&["check", "long.jsonl", "dangling.json"]);
        command.env("COLUMNS", columns.to_string());
        let check = end(command);
        assert!(check.stdout.contains("<|im_end|>"), "{columns}: {}", check.stdout);
        for line in check.stdout.lines().filter(|line| line.contains(" | ")) {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
    }
}

#[test]
fn records_stay_themselves_where_one_slice_ends_and_the_next_begins() {
    let test_dir = TestDir::new();
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
    test_dir.write("many.jsonl", lines);
    let check = end(test_dir.chatmill(&["check", "many.jsonl", "--threads", "2"]));
    assert_eq!(check.code, 0, "{}", check.stdout);
    assert!(
        check
            .stdout
            .contains("1,500 conversations in 1,500 records; 0 errors"),
        "{}",
        check.stdout
    );
}
