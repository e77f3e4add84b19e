//! Properties of all entries of a registry: each is listed alike in text and JSON, has all descriptions, and renders.

use chatmill_workshop::TestDir;
use serde_json::Value;

use crate::test_dir::{RunChatmill, end, good_chat, json_lines};

/// The list that a command prints as JSON.
fn listed(test_dir: &TestDir, command: &str) -> Vec<Value> {
    let listed = end(test_dir.chatmill(&[command, "--format", "json"])).stdout;
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    assert!(!listed.is_empty(), "{command}");
    listed
}

#[test]
fn every_registry_is_listed_alike_in_text_and_json() {
    let test_dir = TestDir::new();
    for (command, key) in [
        ("sources", "id"),
        ("dialects", "id"),
        ("rules", "code"),
        ("encodings", "name"),
    ] {
        let text = end(test_dir.chatmill(&[command])).stdout;
        for entry in listed(&test_dir, command) {
            let name = entry[key].as_str().unwrap();
            assert!(
                text.lines().any(|line| line.starts_with(name)),
                "{command}: {name}"
            );
        }
    }
}

#[test]
fn a_dialect_says_what_people_need_to_choose_it() {
    let test_dir = TestDir::new();
    for entry in listed(&test_dir, "dialects") {
        let id = entry["id"].as_str().unwrap();
        let text = end(test_dir.chatmill(&["dialects", id])).stdout;
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
fn every_dialect_renders() {
    let test_dir = TestDir::new();
    test_dir.write("one.json", good_chat("one").to_string());
    for entry in listed(&test_dir, "dialects") {
        let dialect = entry["id"].as_str().unwrap();
        let render = end(test_dir.chatmill(&["render", "one.json", "--dialect", dialect]));
        assert_eq!(render.code, 0, "{dialect}: {}", render.stderr);
        assert!(
            render.stdout.contains("When do we water the beans?"),
            "{dialect}: {}",
            render.stdout
        );
        if entry["media_type"] == "application/json" {
            assert!(!json_lines(&render.stdout).is_empty(), "{dialect}");
        } else {
            assert!(
                serde_json::from_str::<Value>(&render.stdout).is_err(),
                "{dialect} is text"
            );
        }
    }
}
