use std::fs;

use serde_json::Value;

use crate::desk::{Desk, Ended, end, good_chat, json_lines};

/// A desk with some chats that end with a person, milled into `out`.
fn milled() -> Desk {
    let desk = Desk::new();
    let chats: Vec<String> = (0..4)
        .map(|number| good_chat(&format!("c{number}")).to_string())
        .collect();
    desk.write("in/chats.jsonl", &chats.join("\n"));
    desk.pipeline();
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml"])).code, 0);
    desk
}

fn export(desk: &Desk, more: &[&str]) -> Ended {
    let mut arguments = vec!["export", "out", "--format", "jsonl", "--out", "files"];
    arguments.extend(more);
    end(desk.chatmill(&arguments))
}

#[test]
fn an_export_says_what_it_kept_and_the_summary_says_the_same() {
    let desk = milled();
    let ended = export(
        &desk,
        &["--dialect", "openai-chat", "--split", "train=50,test=50"],
    );
    assert!(ended.code < 2, "{}", ended.stderr);
    assert!(
        ended.stdout.contains("kept 4 of 4 renderings"),
        "{}",
        ended.stdout
    );
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(desk.path("files/export.json")).unwrap()).unwrap();
    let mut rows = 0;
    for file in summary["files"].as_array().unwrap() {
        let name = file["name"].as_str().unwrap();
        let text = fs::read_to_string(desk.path("files").join(name)).unwrap();
        assert!(json_lines(&text).iter().all(|line| line["messages"].is_array()));
        assert_eq!(text.lines().count() as u64, file["rows"].as_u64().unwrap());
        rows += file["rows"].as_u64().unwrap();
    }
    assert_eq!(rows, 4);
    assert_eq!(summary["split_by"], "hash");
}

#[test]
fn a_seed_divides_otherwise_and_the_same_each_time() {
    let desk = Desk::new();
    let chats: Vec<String> = (0..40)
        .map(|number| good_chat(&format!("c{number}")).to_string())
        .collect();
    desk.write("in/chats.jsonl", &chats.join("\n"));
    desk.pipeline();
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml"])).code, 0);
    let test = |seed: &str, out: &str| {
        let arguments = [
            "export",
            "out",
            "--dialect",
            "openai-chat",
            "--format",
            "jsonl",
            "--split",
            "train=50,test=50",
            "--split-seed",
            seed,
            "--out",
            out,
        ];
        assert!(end(desk.chatmill(&arguments)).code < 2);
        let read = |name: &str| fs::read_to_string(desk.path(out).join(name)).unwrap();
        (
            read("split.assigned"),
            serde_json::from_str::<Value>(&read("export.json")).unwrap(),
        )
    };
    let (first, summary) = test("0", "a");
    assert_eq!(summary.get("split_seed"), None);
    let (other, summary) = test("7", "b");
    assert_eq!(summary["split_seed"], 7);
    assert_ne!(other, first);
    assert_eq!(test("7", "c").0, other);
}

#[test]
fn an_envelope_that_would_be_refused_exits_1_with_its_reasons() {
    let desk = milled();
    let ended = export(&desk, &["--dialect", "openai-chat", "--envelope", "openai-sft"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("SFT-02"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("objection: data.jsonl is empty"),
        "{}",
        ended.stdout
    );
    assert!(desk.path("files/export.json").is_file());
}

#[test]
fn a_wrong_request_exits_2_names_the_next_step_and_writes_nothing() {
    let desk = milled();
    let cases: [(&[&str], &str); 6] = [
        (
            &["--dialect", "openai-chat", "--envelope", "openai-stf"],
            "`openai-sft`",
        ),
        (
            &["--dialect", "openai-chat", "--without", "name-inlind"],
            "`name-inlined`",
        ),
        (&["--dialect", "tzurot"], "records of its own system"),
        (
            &["--dialect", "gryag-compact", "--envelope", "axolotl"],
            "help: take `--dialect hf-messages`",
        ),
        (
            &["--dialect", "openai-chat", "--split", "train"],
            "help: write for example",
        ),
        (&["--dialect", "openai-chat", "--max-tokens", "9"], "N@ENCODING"),
    ];
    for (arguments, said) in cases {
        let ended = export(&desk, arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
        assert!(!desk.path("files").exists());
    }
}

#[test]
fn a_dialect_that_the_run_did_not_render_is_made_of_its_tables() {
    let desk = milled();
    let ended = export(
        &desk,
        &["--dialect", "sharegpt", "--max-tokens", "9000@r50k_base"],
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text = fs::read_to_string(desk.path("files/data.jsonl")).unwrap();
    assert!(
        json_lines(&text)
            .iter()
            .all(|line| line["conversations"].is_array())
    );
    let set = "render.dialects=[\"sharegpt\"]";
    let run = ["run", "pipeline.toml", "--set", set, "--out", "other"];
    assert_eq!(end(desk.chatmill(&run)).code, 0);
    let other = [
        "export",
        "other",
        "--dialect",
        "sharegpt",
        "--format",
        "jsonl",
        "--out",
        "same",
    ];
    assert_eq!(end(desk.chatmill(&other)).code, 0);
    assert_eq!(fs::read_to_string(desk.path("same/data.jsonl")).unwrap(), text);
}

#[test]
fn a_folder_that_exists_and_what_is_no_dataset_are_refused() {
    let desk = milled();
    desk.write("files/mine.txt", "mine");
    let ended = export(&desk, &["--dialect", "openai-chat"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("it is not empty"), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(desk.path("files/mine.txt")).unwrap(), "mine");
    let other = end(desk.chatmill(&[
        "export",
        "in",
        "--dialect",
        "openai-chat",
        "--format",
        "jsonl",
        "--out",
        "new",
    ]));
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("not a dataset"), "{}", other.stderr);
}
