use std::process::{Command, Stdio};

use crate::desk::{Desk, binary, end, good_chat, json_lines};

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = Desk::new();
    let lines: Vec<String> = (0..400)
        .map(|n| format!("{}\n{{broken", good_chat(&format!("c{n}"))))
        .collect();
    let path = desk.write("chats.jsonl", &lines.join("\n"));
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
        // Closes the pipe before anything has been read from it.
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
fn json_progress_is_one_object_a_line_and_leaves_stdout_alone() {
    let desk = Desk::new();
    desk.write("in/a.json", &good_chat("a").to_string());
    desk.pipeline();
    let run = end(desk.chatmill(&["run", "pipeline.toml", "--progress", "json"]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let stages: Vec<_> = json_lines(&run.stderr)
        .into_iter()
        .filter(|line| line["event"] == "stage")
        .map(|line| line["stage"].as_str().unwrap().to_owned())
        .collect();
    assert!(stages.contains(&"render".to_owned()), "{stages:?}");
    assert!(!run.stdout.contains("\"event\""));
}

#[test]
fn quiet_runs_print_nothing_on_stderr() {
    let desk = Desk::new();
    desk.write("in/a.json", &good_chat("a").to_string());
    desk.pipeline();
    let run = end(desk.chatmill(&["run", "pipeline.toml", "--quiet"]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn usage_errors_exit_2() {
    let desk = Desk::new();
    for arguments in [
        vec![],
        vec!["render"],
        vec!["run"],
        vec!["check", "x", "--format", "yaml"],
        vec!["-q", "-v", "rules"],
    ] {
        let ended = end(desk.chatmill(&arguments));
        assert_eq!(ended.code, 2, "{arguments:?}");
        assert!(
            ended.stdout.is_empty() && !ended.stderr.is_empty(),
            "{arguments:?}"
        );
    }
    let version = end(desk.chatmill(&["--version"]));
    assert_eq!(
        (version.code, version.stdout.trim()),
        (0, concat!("chatmill ", env!("CARGO_PKG_VERSION")))
    );
}
