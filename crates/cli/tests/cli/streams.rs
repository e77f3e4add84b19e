//! Output for programs: stderr with an object on every line, and a reader that closes its pipe.

use std::process::{Command, Stdio};

use chatmill_workshop::TestDir;

use crate::test_dir::{RunChatmill, binary, end, good_chat, json_lines};

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let test_dir = TestDir::new();
    let lines: Vec<String> = (0..400)
        .map(|n| format!("{}\n{{broken", good_chat(&format!("c{n}"))))
        .collect();
    let path = test_dir.write("chats.jsonl", lines.join("\n"));
    let path = path.to_str().unwrap();
    for arguments in [
        vec!["render", path, "--dialect", "openai-chat", "-q"],
        vec!["check", path, "--format", "jsonl"],
        vec!["explain", "--all"],
        vec!["rules", "--format", "json"],
    ] {
        let mut command = Command::new(binary())
            .args(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closes the pipe before anything is read from it.
        drop(command.stdout.take());
        let ended = command.wait_with_output().unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}: {stderr}");
        assert!(
            !stderr.contains("error") && !stderr.contains("anic"),
            "{arguments:?}: {stderr}"
        );
    }
}

#[test]
fn every_line_on_stderr_is_an_object_where_that_is_asked_for() {
    let test_dir = TestDir::new();
    test_dir.write("in/one.json", good_chat("one").to_string());
    test_dir.pipeline();
    test_dir.write("in/broken.json", "{\"half\": ");
    let calls: [&[&str]; 8] = [
        &["run", "pipeline.toml", "-vv"],
        &["run", "pipeline.toml"],
        &["run", "nowhere.toml"],
        &["run", "pipeline.toml", "--limit", "1", "--out", "in"],
        &["tokens", "in"],
        &["render", "in/broken.json", "--dialect", "openai-chat"],
        &["night", "pipeline.toml", "--store", "in"],
        &["no-such-command"],
    ];
    for call in calls {
        for style in ["plain", "json", "none"] {
            let arguments = [call, &["--log-format", "json", "--progress", style]].concat();
            let ended = end(test_dir.chatmill(&arguments));
            let lines = json_lines(&ended.stderr);
            let is_told = ended.code < 2 || lines.iter().any(|line| line["level"] == "ERROR");
            assert!(is_told, "{arguments:?}: {}", ended.stderr);
        }
    }
}
