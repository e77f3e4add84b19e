//! What programs read: the last event, the summary as JSON, and stderr on which every line is an object.

use serde_json::Value;

use crate::desk::{Desk, dangling_chat, end, good_chat, json_lines};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("in/one.json", &good_chat("one").to_string());
    desk.pipeline();
    desk
}

#[test]
fn the_last_event_says_how_a_run_ended() {
    let desk = desk();
    let run = end(desk.chatmill(&["run", "pipeline.toml", "--progress", "json"]));
    let last = json_lines(&run.stderr).pop().unwrap();
    assert_eq!(last["event"], "ended");
    assert_eq!(
        (&last["exit_code"], &last["verdict"]),
        (&Value::from(0), &Value::from("complete"))
    );
    assert_eq!(last["dataset"], "out");
    let refused = end(desk.chatmill(&["run", "nowhere.toml", "--progress", "json"]));
    let last = refused.stderr.lines().last().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(
        (&last["event"], &last["exit_code"]),
        (&Value::from("ended"), &Value::from(2))
    );
}

#[test]
fn the_last_event_says_how_a_night_ended() {
    let desk = desk();
    let arguments = [
        "night",
        "pipeline.toml",
        "--store",
        "nights",
        "--progress",
        "json",
    ];
    let night = end(desk.chatmill(&arguments));
    let last = json_lines(&night.stderr).pop().unwrap();
    assert_eq!(
        (&last["event"], &last["state"]),
        (&Value::from("ended"), &Value::from("good"))
    );
    assert!(last["note"].as_str().unwrap().ends_with("night.md"), "{last}");
}

#[test]
fn the_summary_of_a_run_is_an_object() {
    let desk = desk();
    desk.write("in/two.json", &dangling_chat("two").to_string());
    let run = end(desk.chatmill(&["run", "pipeline.toml", "--format", "json"]));
    let summary: Value = serde_json::from_str(&run.stdout).expect(&run.stderr);
    assert_eq!(summary["conversations"], 2);
    assert_eq!(summary["exit_code"], run.code);
    assert_eq!(summary["dataset"], "out");
    assert!(summary["findings"]["RF001"].is_object(), "{summary}");
    assert!(summary["seconds"].is_number());
}

#[test]
fn every_line_on_stderr_is_an_object_where_that_is_asked_for() {
    let desk = desk();
    desk.write("in/broken.json", "{\"half\": ");
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
            let ended = end(desk.chatmill(&arguments));
            for line in ended.stderr.lines() {
                assert!(
                    serde_json::from_str::<Value>(line).is_ok(),
                    "{arguments:?}: {line}"
                );
            }
            if ended.code > 1 {
                assert!(
                    ended.stderr.contains("\"ERROR\""),
                    "{arguments:?}: {}",
                    ended.stderr
                );
            }
        }
    }
}
