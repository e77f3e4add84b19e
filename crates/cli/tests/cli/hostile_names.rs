//! Names that could control a terminal, break a line or run in a spreadsheet: no command prints them unescaped.

use chatmill_diag::visible::is_hidden;
use chatmill_workshop::TestDir;
use serde_json::json;

use crate::test_dir::{RunChatmill, end, good_chat};

/// Clears the screen, reorders the following text, breaks the line and looks like a formula.
const NAME: &str = "=x\u{1b}[2J\u{9b}\u{202e}\u{2028}\u{7}y";

fn test_dir() -> TestDir {
    let test_dir = TestDir::new();
    let mut chat = good_chat(&format!("{NAME}\nforged: valid"));
    chat["conversation_meta"]["user_details"]["user_1"]["full_name"] = json!(NAME);
    chat["conversation_list"][1]["refer_list"] = json!([NAME]);
    chat["conversation_list"][2]["content"] = json!(NAME);
    test_dir.write(&format!("in/{NAME}.jsonl"), format!("{chat}\n{{\"{NAME}\n"));
    test_dir.write(
        "pipeline.toml",
        format!(
            "name = {}\n[[input]]\npath = \"in/*\"\n[render]\ndialects = [\"openai-chat\", \"gryag-compact\"]\n\
             [count]\nencodings = [\"r50k_base\"]\n[output]\npath = {}\n[limits]\nmax_reject_ratio = 1.0\n",
            serde_json::to_string(NAME).unwrap().replace('\u{9b}', "\\u009b"),
            serde_json::to_string(&format!("out{NAME}")).unwrap().replace('\u{9b}', "\\u009b"),
        ),
    );
    test_dir
}

#[track_caller]
fn assert_nothing_hidden(text: &str, arguments: &[&str]) {
    for line in text.lines() {
        let found = line
            .chars()
            .find(|character| is_hidden(*character) && *character != '\t');
        assert_eq!(found, None, "{arguments:?}: {line:?}");
        assert!(!line.starts_with("forged"), "{arguments:?}: {text:?}");
    }
}

#[test]
fn no_command_prints_a_hidden_character() {
    let test_dir = test_dir();
    let out = format!("out{NAME}");
    let file = format!("in/{NAME}.jsonl");
    let (out, file) = (out.as_str(), file.as_str());
    for arguments in [
        &["run", "pipeline.toml", "-v"][..],
        &[
            "run",
            "pipeline.toml",
            "--progress",
            "json",
            "--log-format",
            "json",
            "-vv",
        ],
        &["certify", out],
        &["report", out],
        &["diff", out, out],
        &["diff", out, out, "--format", "markdown"],
        &[
            "export",
            out,
            "--dialect",
            "openai-chat",
            "--format",
            "jsonl",
            "--out",
            &format!("ex{NAME}"),
        ],
        &["check", "in"],
        &["check", "in", "--statistics"],
        &["check", "in", "--format", "json"],
        &["check", "in", "--format", "jsonl"],
        &["check", "in", "--format", "csv"],
        &["check", "in", "--format", "junit"],
        &["check", "in", "--format", "sarif"],
        &["check", "in", "--output-format", "concise"],
        &["check", "in", "--output-format", "grouped", "-v"],
        &["check", "in", "--output-format", "github"],
        &["check", "in", "--output-format", "gitlab"],
        &["inspect", file],
        &["inspect", file, "--format", "json"],
        &["init", file],
        &["tokens", file, "--by", "conversation", "--dialect", "openai-chat"],
        &["tokens", file, "--by", "participant"],
        &[
            "tokens",
            file,
            "--by",
            "conversation",
            "--dialect",
            "openai-chat",
            "--format",
            "csv",
        ],
        &[
            "tokens",
            file,
            "--by",
            "conversation",
            "--dialect",
            "openai-chat",
            "--format",
            "json",
        ],
        &["render", file, "--dialect", NAME],
        &["render", file, "--dialect", "openai-chat", "--conversation", NAME],
        &["show", file, "--dialect", "openai-chat"],
        &["show", file, "--to", "trl-messages", "--no-content"],
        &["show", out, "--dialect", "chatml"],
        &["show", file, "--find", NAME],
        &["check", NAME],
        &["run", NAME],
        &["explain", NAME],
        &["schema", NAME],
        &[NAME],
        &["run", "pipeline.toml", "--limit", NAME],
        &["run", "pipeline.toml", "--set", NAME],
    ] {
        let ended = end(test_dir.chatmill(arguments));
        assert_ne!(ended.code, 101, "{arguments:?}: {}", ended.stderr);
        assert_nothing_hidden(&ended.stdout, arguments);
        assert_nothing_hidden(&ended.stderr, arguments);
    }
    let card = std::fs::read_to_string(test_dir.path(out).join("README.md")).unwrap();
    assert_nothing_hidden(&card, &["README.md"]);
}

#[test]
fn no_cell_of_a_spreadsheet_is_a_formula() {
    let test_dir = test_dir();
    let file = format!("in/{NAME}.jsonl");
    for arguments in [
        &["check", "in", "--format", "csv"][..],
        &[
            "tokens",
            &file,
            "--by",
            "conversation",
            "--dialect",
            "openai-chat",
            "--format",
            "csv",
        ],
        &["tokens", &file, "--by", "participant", "--format", "csv"],
    ] {
        let ended = end(test_dir.chatmill(arguments));
        let mut lines = ended.stdout.lines();
        let width = lines.next().unwrap().split(',').count();
        assert!(
            ended.stdout.lines().count() > 1,
            "{arguments:?}: {}",
            ended.stderr
        );
        for line in lines {
            assert!(!line.starts_with(['=', '+', '-', '@']), "{line}");
            assert_eq!(line.split(',').count(), width, "{line}");
        }
    }
}
