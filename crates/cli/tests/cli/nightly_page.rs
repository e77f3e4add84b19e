//! What docs/nightly.md shows is run, or says that it is not and why.

use chatmill_workshop::Workshop;
use serde_json::Value;

use crate::desk::{Desk, binary, end, good_chat};

const PAGE: &str = include_str!("../../../../docs/nightly.md");
const NOT_RUN: &str = "<!-- not run: ";

/// A fenced block of the page.
struct Block {
    language: String,
    text: String,
    is_run: bool,
}

fn blocks() -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut before = "";
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block {
                language: language.to_owned(),
                text: text.join("\n"),
                is_run: !before.starts_with(NOT_RUN),
            });
        }
        before = line;
    }
    blocks
}

#[test]
fn every_example_of_the_page_is_run_or_says_why_not() {
    let desk = Workshop::new();
    desk.write("in/one.json", good_chat("one").to_string());
    let bare = "name = \"nightly\"\n[[input]]\npath = \"in/*\"\n[render]\ndialects = [\"openai-chat\"]\n[count]\n\
                encodings = [\"r50k_base\"]\n[output]\npath = \"out\"\n";
    desk.write("nightly.toml", bare);
    let folder = std::path::Path::new(binary()).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut run = 0;
    for block in blocks().iter().filter(|block| block.is_run) {
        match block.language.as_str() {
            "sh" => {
                let output = std::process::Command::new("sh")
                    .args(["-e", "-c", &block.text])
                    .current_dir(desk.path("."))
                    .env("PATH", &path)
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{}\n{said}", block.text);
            }
            "toml" => {
                desk.write("nightly.toml", format!("{bare}{}", block.text));
                let ended = end(desk.chatmill(&["night", "nightly.toml", "--store", "nights"]));
                assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
            }
            "json" => {
                for line in block.text.lines() {
                    assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
                }
            }
            // The shape of the store, which the tests of nights look at.
            "text" => {}
            other => panic!("a block of {other} is neither run nor marked:\n{}", block.text),
        }
        run += 1;
    }
    assert!(run > 4, "only {run} blocks");
}
