//! Envelopes of preferences: answers that somebody judged, out of a dataset's table `alternatives`.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, end, json_lines};

const PAIRS: &str = concat!(
    r#"{"prompt":"What is a quay?","chosen":"A wall where ships lie.","rejected":"A key."}"#,
    "\n",
    r#"{"prompt":"What is a buoy?","chosen":"A mark that floats.","rejected":"A mark that floats."}"#,
    "\n",
    r#"{"prompt":[{"role":"system","content":"Be short."},{"role":"user","content":"And a mole?"}],"chosen":[{"role":"assistant","content":"A long pier."}],"rejected":[{"role":"assistant","content":"An animal."}]}"#,
    "\n",
);
const LABELLED: &str = concat!(
    r#"{"prompt":[{"role":"user","content":"What is a lock?"}],"completion":[{"role":"assistant","content":"A lift for ships."}],"label":true}"#,
    "\n",
    r#"{"prompt":[{"role":"user","content":"What is a lee?"}],"completion":[{"role":"assistant","content":"A letter."}],"label":false}"#,
    "\n",
);

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("in/pairs.jsonl", PAIRS);
    desk.write("in/labelled.jsonl", LABELLED);
    desk
}

/// The records and the summary of a conversion.
fn converted(desk: &Desk, to: &str) -> (Vec<Value>, Value) {
    let arguments = ["convert", "in", "--to", to, "--format", "jsonl", "--out", to];
    let ended = end(desk.chatmill(&arguments));
    assert!(ended.code < 2, "{to}: {}", ended.stderr);
    let read = |name: &str| fs::read_to_string(desk.path(to).join(name)).unwrap();
    (
        json_lines(&read("data.jsonl")),
        serde_json::from_str(&read("export.json")).unwrap(),
    )
}

fn left_out(summary: &Value) -> Vec<(&str, u64)> {
    let left = summary["left_out"].as_array().unwrap().iter();
    left.map(|left| {
        let reason = left["reason"].as_str().unwrap();
        (reason.split(':').next().unwrap(), left["rows"].as_u64().unwrap())
    })
    .collect()
}

#[test]
fn pairs_of_answers_become_preferences_of_trl() {
    let desk = desk();
    let (records, summary) = converted(&desk, "trl-dpo");
    let said = |text: &str| json!([{"role": "assistant", "content": text}]);
    assert!(records.contains(&json!({
        "prompt": [{"role": "user", "content": "What is a quay?"}],
        "chosen": said("A wall where ships lie."),
        "rejected": said("A key."),
    })));
    assert!(records.contains(&json!({
        "prompt": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "And a mole?"}],
        "chosen": said("A long pier."),
        "rejected": said("An animal."),
    })));
    assert_eq!(records.len(), 2, "{records:?}");
    // Nobody compared the labelled answers with others.
    assert!(left_out(&summary).contains(&("no-preference", 2)), "{summary}");
    let rows: u64 = left_out(&summary).iter().map(|(_, rows)| rows).sum();
    assert_eq!(
        summary["read"].as_u64().unwrap(),
        rows + summary["kept"].as_u64().unwrap()
    );
}

#[test]
fn labelled_answers_and_sides_of_pairs_become_labels() {
    let desk = desk();
    let (records, summary) = converted(&desk, "trl-kto");
    let labels = |text: &str| -> Vec<bool> {
        let is_it = |record: &&Value| record["completion"][0]["content"] == text;
        let found = records.iter().filter(is_it);
        found.map(|record| record["label"].as_bool().unwrap()).collect()
    };
    assert_eq!(labels("A lift for ships."), [true]);
    assert_eq!(labels("A letter."), [false]);
    assert_eq!(labels("A wall where ships lie."), [true]);
    assert_eq!(labels("A key."), [false]);
    assert_eq!(summary["kept"], records.len());
}

#[test]
fn the_other_readers_get_them_in_their_words() {
    let desk = desk();
    let (records, summary) = converted(&desk, "openai-dpo");
    assert_eq!(records.len(), 2);
    assert!(records.contains(&json!({
        "input": {"messages": [{"role": "user", "content": "What is a quay?"}]},
        "preferred_output": [{"role": "assistant", "content": "A wall where ships lie."}],
        "non_preferred_output": [{"role": "assistant", "content": "A key."}],
    })));
    assert!(summary["objections"][0].as_str().unwrap().contains("10 at least"));
    let (records, _) = converted(&desk, "llama-factory-ranking");
    assert!(records.contains(&json!({
        "conversations": [{"from": "human", "value": "What is a quay?"}],
        "chosen": {"from": "gpt", "value": "A wall where ships lie."},
        "rejected": {"from": "gpt", "value": "A key."},
    })));
    let info = fs::read_to_string(desk.path("llama-factory-ranking/dataset_info.json")).unwrap();
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["data"]["ranking"], true);
    assert_eq!(info["data"]["columns"]["chosen"], "chosen");
}

#[test]
fn structures_hold_them_too_and_a_dataset_without_the_table_is_refused_by_name() {
    let desk = desk();
    for to in ["trl-dpo", "trl-kto", "llama-factory-ranking"] {
        let arguments = [
            "convert", "in", "--to", to, "--format", "parquet", "--nested", "struct", "--out", to,
        ];
        let ended = end(desk.chatmill(&arguments));
        assert_eq!(ended.code, 0, "{to}: {}", ended.stderr);
    }
    let keep = [
        "convert",
        "in",
        "--to",
        "hf-messages",
        "--out",
        "plain",
        "--keep",
        "--set",
        "output.tables=[\"conversations\",\"messages\",\"message_references\",\"renderings\"]",
    ];
    assert!(end(desk.chatmill(&keep)).code < 2);
    let export = [
        "export",
        "plain.dataset",
        "--dialect",
        "hf-messages",
        "--envelope",
        "trl-dpo",
        "--format",
        "jsonl",
        "--out",
        "none",
    ];
    let ended = end(desk.chatmill(&export));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("no table `alternatives`"),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_is_said_of_preferences_are_pairs_and_answers_and_no_turns() {
    let desk = desk();
    for (to, words) in [
        (
            "trl-dpo",
            "2 pairs to learn from: a better answer and a worse one",
        ),
        ("trl-kto", "labelled answers to learn from: each good or bad"),
    ] {
        let ended = end(desk.chatmill(&["convert", "in", "--to", to, "--out", to]));
        assert!(ended.stdout.contains(words), "{to}: {}", ended.stdout);
        assert!(!ended.stdout.contains("turn"), "{to}: {}", ended.stdout);
        let summary = fs::read_to_string(desk.path(to).join("export.json")).unwrap();
        assert!(!summary.contains("\"turns\""), "{to}: {summary}");
    }
}
