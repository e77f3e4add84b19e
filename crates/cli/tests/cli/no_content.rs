//! Commands under `--no-content` quote nothing; some commands are drawn. Their whole output is in the transcripts of `../cases/masks/`.

use chatmill_drawn::{cases, random};
use chatmill_workshop::TestDir;

use crate::test_dir::{RunChatmill, end};

/// A word in every place where chat text, a name or an address can be.
const CANARY: &str = "Xanthoria";

fn assert_silent(what: &str, text: &str) {
    assert!(!text.contains(CANARY), "{what} quotes:\n{text}");
}

/// Of the groupings of bills, one is drawn; `CHATMILL_DRAWS=6` takes all.
#[test]
fn commands_on_files_and_datasets_quote_nothing_when_asked() {
    let test_dir = TestDir::new();
    test_dir.write(
        "in/chat.jsonl",
        include_str!("../cases/masks/files/in/chat.jsonl"),
    );
    test_dir.pipeline();
    assert_eq!(end(test_dir.chatmill(&["run", "pipeline.toml"])).code, 1);
    let later = [
        "run",
        "pipeline.toml",
        "--out",
        "later",
        "--set",
        "select.limit=2",
    ];
    assert!(end(test_dir.chatmill(&later)).code < 2);
    let loud = end(test_dir.chatmill(&["tokens", "out", "--by", "tool"]));
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
        vec!["show", "in", "--dialect", "openai-chat"],
        vec!["show", "in", "--code", "RF", "--to", "trl-messages"],
        vec!["show", "out", "--dialect", "openai-chat"],
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
        let ended = end(test_dir.chatmill(&arguments));
        assert!(ended.code < 2, "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stdout.is_empty(), "{arguments:?}");
        assert_silent(&arguments.join(" "), &ended.stdout);
        assert_silent(&arguments.join(" "), &ended.stderr);
    }
}
