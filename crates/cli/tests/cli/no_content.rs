//! Commands that quote nothing when asked, some of them drawn. What each says is a transcript in `../cases/masks/`.

use chatmill_drawn::{cases, random};
use chatmill_workshop::Workshop;

use crate::desk::{Desk, end};

/// A word that stands in every place where chat text, a name or an address can stand.
const CANARY: &str = "Xanthoria";

fn assert_silent(what: &str, text: &str) {
    assert!(!text.contains(CANARY), "{what} quotes:\n{text}");
}

/// Of the bills by each sum one is drawn; `CHATMILL_DRAWS=6` takes all.
#[test]
fn commands_on_files_and_datasets_quote_nothing_when_asked() {
    let desk = Workshop::new();
    desk.write(
        "in/chat.jsonl",
        include_str!("../cases/masks/files/in/chat.jsonl"),
    );
    desk.pipeline();
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml"])).code, 1);
    let later = [
        "run",
        "pipeline.toml",
        "--out",
        "later",
        "--set",
        "select.limit=2",
    ];
    assert!(end(desk.chatmill(&later)).code < 2);
    let loud = end(desk.chatmill(&["tokens", "out", "--by", "tool"]));
    assert!(
        loud.stdout.contains(CANARY),
        "the chat must be worth hiding:\n{}",
        loud.stdout
    );
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["init", "in"],
        vec!["report", "out", "--against", "later", "--times"],
        vec![
            "export",
            "out",
            "--dialect",
            "openai-chat",
            "--format",
            "jsonl",
            "--out",
            "files",
        ],
        vec!["certify", "out"],
        vec!["tokens", "in"],
    ];
    let mut random = random(2);
    for by in ["source", "conversation", "participant", "role", "tool", "day"] {
        let mut bills = Vec::new();
        for format in ["table", "json", "csv"] {
            bills.push(vec!["tokens", "in", "--by", by, "--format", format]);
            bills.push(vec!["tokens", "out", "--by", by, "--format", format]);
        }
        for _ in 0..cases(1).min(6) {
            commands.push(bills.swap_remove(random.below(bills.len())));
        }
    }
    for format in ["text", "json", "markdown"] {
        let condition = ["--fail-if", "conversations > 0"];
        commands.push(
            [
                &["diff", "later", "out", "--format", format],
                condition.as_slice(),
            ]
            .concat(),
        );
    }
    for command in commands {
        let arguments = [command.as_slice(), &["--no-content", "-vv"]].concat();
        let ended = end(desk.chatmill(&arguments));
        assert!(ended.code < 2, "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stdout.is_empty(), "{arguments:?}");
        assert_silent(&arguments.join(" "), &ended.stdout);
        assert_silent(&arguments.join(" "), &ended.stderr);
    }
}
