use std::fs;

use serde_json::Value;

use crate::desk::{Desk, end, good_chat};

#[test]
fn every_registry_is_listed_alike_in_text_and_json() {
    let desk = Desk::new();
    for (command, key) in [
        ("sources", "id"),
        ("dialects", "id"),
        ("rules", "code"),
        ("encodings", "name"),
    ] {
        let text = end(desk.chatmill(&[command])).stdout;
        let json: Value =
            serde_json::from_str(&end(desk.chatmill(&[command, "--format", "json"])).stdout).unwrap();
        let names: Vec<&str> = json
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry[key].as_str().unwrap())
            .collect();
        assert!(!names.is_empty(), "{command}");
        for name in names {
            assert!(
                text.lines().any(|line| line.starts_with(name)),
                "{command}: {name}"
            );
        }
    }
}

#[test]
fn a_dialect_says_what_people_need_to_choose_it() {
    let desk = Desk::new();
    let text = end(desk.chatmill(&["dialects"])).stdout;
    let json: Value =
        serde_json::from_str(&end(desk.chatmill(&["dialects", "--format", "json"])).stdout).unwrap();
    for entry in json.as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        for key in [
            "title",
            "family",
            "media_type",
            "carries",
            "loses",
            "specification",
            "dated",
        ] {
            let said = entry[key].as_str().unwrap_or_default();
            assert!(!said.is_empty() && text.contains(said), "{id}: {key}");
        }
        assert!(!entry["profiles"].as_array().unwrap().is_empty(), "{id}");
        let dated = entry["dated"].as_str().unwrap();
        assert!(
            dated.len() == 10 && dated.starts_with("20"),
            "{id}: {dated} is not a day"
        );
    }
}

#[test]
fn a_code_is_explained_by_its_letters_or_its_name() {
    let desk = Desk::new();
    let by_code = end(desk.chatmill(&["explain", "rf001"]));
    assert_eq!(by_code.code, 0);
    assert!(
        by_code.stdout.starts_with("# RF001 dangling-reference"),
        "{}",
        by_code.stdout
    );
    assert_eq!(
        end(desk.chatmill(&["explain", "dangling-reference"])).stdout,
        by_code.stdout
    );
    let unknown = end(desk.chatmill(&["explain", "dangling-refrence"]));
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("did you mean `dangling-reference`?"),
        "{}",
        unknown.stderr
    );
    let all = end(desk.chatmill(&["explain", "--all"])).stdout;
    assert!(all.contains("# RF001 ") && all.contains("# IN001 "));
}

#[test]
fn every_kind_of_code_is_explained_and_an_unknown_one_names_its_family() {
    let desk = Desk::new();
    for (word, whose) in [
        ("SFT-02", "`openai-sft`"),
        ("TPL-02", "`template`"),
        ("ant-04", "`anthropic-messages`"),
        ("name-inlined", "`openai-chat`"),
        (
            "no-preference: nobody said which answer is better",
            "`export.json`",
        ),
        ("not-valid: OAC-06", "`export.json`"),
    ] {
        let page = end(desk.chatmill(&["explain", word]));
        assert_eq!(page.code, 0, "{word}: {}", page.stderr);
        let (about, advice) = page.stdout.split_once("## What to do\n").expect(word);
        assert!(
            about.contains(whose) && !advice.trim().is_empty(),
            "{word}: {about}"
        );
    }
    let both = end(desk.chatmill(&["explain", "duplicate-result"])).stdout;
    assert!(
        both.contains("# TL004 ") && both.contains("# duplicate-result\n"),
        "{both}"
    );
    let family = end(desk.chatmill(&["explain", "SFT"])).stdout;
    assert!(
        family.contains("# SFT-01\n") && family.contains("# SFT-02\n"),
        "{family}"
    );
    let unknown = end(desk.chatmill(&["explain", "SFT-77"]));
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("did you mean `SFT-0"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn whatever_an_export_leaves_rows_out_for_is_explained() {
    let desk = Desk::new();
    desk.write("chat.json", &good_chat("a").to_string());
    for envelope in ["openai-sft", "trl-dpo", "trl-kto", "trl-messages"] {
        let out = format!("out-{envelope}");
        end(desk.chatmill(&["convert", "chat.json", "--to", envelope, "--out", &out]));
        let summary = fs::read_to_string(desk.path(&out).join("export.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        for left in summary["left_out"].as_array().unwrap() {
            let reason = left["reason"].as_str().unwrap();
            assert_eq!(
                end(desk.chatmill(&["explain", reason])).code,
                0,
                "{envelope}: {reason}"
            );
        }
    }
}

#[test]
fn every_schema_that_is_listed_prints() {
    let desk = Desk::new();
    let names = end(desk.chatmill(&["schema"])).stdout;
    assert!(names.lines().any(|name| name == "renderings"), "{names}");
    for name in names.lines() {
        let schema = end(desk.chatmill(&["schema", name]));
        assert_eq!(schema.code, 0, "{name}");
        if name == "pipeline" {
            let schema: Value = serde_json::from_str(&schema.stdout).unwrap();
            assert!(schema["properties"]["input"].is_object());
        } else if name == "config" {
            let schema: Value = serde_json::from_str(&schema.stdout).unwrap();
            assert!(schema["properties"]["check"].is_object());
        } else if name == "report" {
            let schema: Value = serde_json::from_str(&schema.stdout).unwrap();
            assert!(schema["properties"]["tokens"].is_object());
        } else {
            assert!(schema.stdout.starts_with(&format!("# {name}\n")), "{name}");
        }
    }
    let unknown = end(desk.chatmill(&["schema", "rendering"]));
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("did you mean `renderings`?"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn shells_get_completions_and_commands_get_manual_pages() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let file = end(desk.chatmill(&["completions", shell]));
        assert!(
            file.code == 0 && file.stdout.contains("chatmill") && file.stdout.contains("certify"),
            "{shell}"
        );
    }
    assert!(end(desk.chatmill(&["man"])).stdout.contains(".TH chatmill 1"));
    assert!(
        end(desk.chatmill(&["man", "run"]))
            .stdout
            .contains(".TH chatmill-run 1")
    );
    assert_eq!(end(desk.chatmill(&["man", "rum"])).code, 2);
}

#[test]
fn inspect_names_the_source_and_counts_what_is_there() {
    let desk = Desk::new();
    desk.write("a.json", &good_chat("a").to_string());
    desk.write("b.txt", "no chat at all\n");
    let text = end(desk.chatmill(&["inspect", "a.json", "b.txt"]));
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert!(
        text.stdout.contains("group-chat") && text.stdout.contains("3 messages by 3 participants"),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout.contains("none that chatmill knows"),
        "{}",
        text.stdout
    );
    let json: Value =
        serde_json::from_str(&end(desk.chatmill(&["inspect", "a.json", "--format", "json"])).stdout).unwrap();
    assert_eq!(json["entries"][0]["source"], "group-chat");
    assert_eq!(json["entries"][0]["messages"], 3);
}

/// A desk with a chat and a pipeline that counts in an encoding of its own.
fn desk_with_ranks(ranks: &str, pattern: &str) -> Desk {
    let desk = Desk::new();
    desk.write("in/chat.json", &good_chat("chat").to_string());
    desk.write("small.tiktoken", ranks);
    desk.write(
        "pipeline.toml",
        &format!(
            "name = \"desk\"\n[[input]]\npath = \"in/*\"\n[output]\npath = \"out\"\n[count]\n\
             encodings = [\"r50k_base\", {{ name = \"small\", ranks = \"small.tiktoken\", pattern = '{pattern}' }}]\n"
        ),
    );
    desk
}

const RANKS: &str = include_str!("../../../../data-samples/patterns/small.tiktoken");

#[test]
fn the_encodings_of_a_pipeline_say_how_they_are_counted() {
    for (pattern, counted) in [
        ("llama3", "counted     repeated text once"),
        (r"\w+|\W", "counted     every text whole"),
    ] {
        let desk = desk_with_ranks(RANKS, pattern);
        let listed = end(desk.chatmill(&["encodings", "--pipeline", "pipeline.toml"]));
        assert_eq!(listed.code, 0, "{}", listed.stderr);
        let own = listed.stdout.split("\nsmall: ").nth(1).unwrap();
        assert!(own.contains(counted), "{own}");
        assert!(own.contains("vocabulary  856 tokens"), "{own}");
    }
}

#[test]
fn a_broken_rank_file_ends_the_run_with_its_name_its_line_and_a_next_step() {
    let desk = desk_with_ranks(&RANKS.replace("IQ== 33\n", "IQ== x\n"), "gpt2");
    let ended = end(desk.chatmill(&["run", "pipeline.toml"]));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    for expected in ["small.tiktoken", "line 34", "a rank file has a token in base64"] {
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    assert!(!desk.path("out").exists());
}
