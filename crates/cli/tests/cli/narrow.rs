//! A terminal of 80 columns: tables fit, and prose is broken between words.

use chatmill_workshop::TestDir;
use unicode_width::UnicodeWidthStr;

use crate::test_dir::{RunChatmill, chat, end, good_chat};

const PRICES: &str = "[[price]]\nmodel = \"a-model-of-a-long-name\"\nencoding = \"r50k_base\"\ncurrency = \"USD\"\n\
                      per_million = 1\ndate = \"2026-11-22\"\nsource = \"invented\"\n\
                      [[price]]\nmodel = \"another-model-of-a-long-name\"\nencoding = \"r50k_base\"\ncurrency = \"USD\"\n\
                      per_million = 2\ndate = \"2026-11-22\"\nsource = \"invented\"\n";

/// A test folder with two datasets, files with long names, and prices.
fn test_dir() -> TestDir {
    let test_dir = TestDir::new();
    let long = "a-chat-with-a-very-long-name-as-exports-like-to-have-them-2026-11-22";
    test_dir.write(&format!("in/{long}.json"), good_chat(long).to_string());
    let other = chat("other", &[("m1", "user_1", "Beans?"), ("m2", "bot_1", "Beans.")]);
    test_dir.write("in/other.json", other.to_string());
    test_dir.write("prices.toml", PRICES);
    test_dir.pipeline();
    for out in ["one", "two"] {
        let encodings = "count.encodings=[\"r50k_base\",\"cl100k_base\",\"o200k_base\"]";
        let run = end(test_dir.chatmill(&["run", "pipeline.toml", "--out", out, "--set", encodings]));
        assert_eq!(run.code, 0, "{}", run.stderr);
        test_dir.write("in/third.json", good_chat("third").to_string());
    }
    test_dir
}

/// The output of a command on a terminal that is 80 columns wide.
fn narrow(test_dir: &TestDir, arguments: &[&str]) -> String {
    let mut command = test_dir.chatmill(arguments);
    command.env("COLUMNS", "80");
    end(command).stdout
}

/// The lines of tables: from the one above a rule to the next blank line.
fn lines_of_tables(text: &str) -> Vec<&str> {
    let blocks = text.split("\n\n");
    let is_rule = |line: &str| line.len() > 10 && line.chars().all(|character| character == '-');
    blocks
        .filter(|block| block.lines().any(is_rule))
        .flat_map(|block| block.lines())
        .collect()
}

#[test]
fn tables_of_every_command_fit_eighty_columns_and_wide_shows_all() {
    let test_dir = test_dir();
    let pipeline = ["run", "pipeline.toml", "--out", "three"];
    for command in [
        &pipeline[..],
        &["diff", "one", "two"],
        &["tokens", "two", "--prices", "prices.toml"],
        &["tokens", "two", "--by", "participant", "--prices", "prices.toml"],
        &[
            "tokens",
            "in",
            "--by",
            "day,participant",
            "--prices",
            "prices.toml",
        ],
        &[
            "tokens",
            "in",
            "--by",
            "conversation,day",
            "--dialect",
            "openai-chat",
            "--prices",
            "prices.toml",
        ],
        &[
            "check",
            "in",
            "--statistics",
            "--for",
            "gemini-contents",
            "--fail-on",
            "never",
        ],
    ] {
        let said = narrow(&test_dir, command);
        let lines = lines_of_tables(&said);
        assert!(lines.len() > 3 || command[0] == "check", "{command:?}: {said}");
        for line in lines {
            assert!(line.trim_end().width() <= 80, "{command:?}: {line}");
        }
    }
    let few = narrow(&test_dir, &["tokens", "two", "--prices", "prices.toml"]);
    let all = narrow(&test_dir, &["tokens", "two", "--prices", "prices.toml", "--wide"]);
    assert!(few.contains("--wide shows all") && !few.contains("p99"), "{few}");
    assert!(!all.contains("--wide") && all.contains("p99"), "{all}");
}

#[test]
fn prose_is_broken_on_a_terminal_and_stays_whole_in_a_pipe() {
    let test_dir = TestDir::new();
    for command in [
        &["explain", "IN009"][..],
        &["rules"],
        &["dialects", "chatml"],
        &["sources", "letta"],
    ] {
        let piped = end(test_dir.chatmill(command)).stdout;
        let narrow = narrow(&test_dir, command);
        assert!(piped.lines().any(|line| line.width() > 80), "{command:?}");
        for line in narrow.lines() {
            // Code and words that are wider than the terminal are not broken.
            let is_free = line.trim().split(' ').count() < 2 || line.starts_with('{');
            assert!(is_free || line.width() <= 80, "{command:?}: {line}");
        }
    }
}
