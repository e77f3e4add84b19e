//! `[output] tables`: a dataset with fewer tables is whole, says so, and names what a command misses.

use std::fs;

use serde_json::Value;

use crate::desk::{Desk, end, good_chat};

#[test]
fn a_dataset_with_few_tables_is_certified_and_a_command_says_which_it_misses() {
    let desk = Desk::new();
    desk.write("in/chat.json", &good_chat("one").to_string());
    desk.pipeline();
    let few = "output.tables=[\"conversations\"]";
    let run = end(desk.chatmill(&["run", "pipeline.toml", "--set", few]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("Without  messages, alternatives"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("/renderings/"), "{}", run.stdout);
    assert!(!desk.path("out/renderings").exists());
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);

    let report = end(desk.chatmill(&["report", "out"]));
    assert_eq!(report.code, 0, "{}", report.stderr);
    let json: Value =
        serde_json::from_str(&fs::read_to_string(desk.path("out/report.json")).unwrap()).unwrap();
    assert_eq!(json["run"]["absent_tables"][0], "messages");
    assert_eq!(json["run"]["encodings"][0], "r50k_base");
    assert_eq!(json["run"]["messages"], 3);
    // What was summed up while the run went on is there all the same.
    assert_eq!(json["roles"]["rows"][0]["messages"], 2);
    assert_eq!(json["tokens"]["rows"].as_array().unwrap().len(), 2);
    assert_eq!(json["tokens"]["query"], "");
    for (name, said) in [
        ("report.html", "The pipeline leaves out 7 tables"),
        ("README.md", "The pipeline leaves out `messages`, "),
    ] {
        let text = fs::read_to_string(desk.path("out").join(name)).unwrap();
        assert!(text.contains(said), "{name}");
        assert!(!text.contains("FROM 'messages/*.parquet'"), "{name}");
    }

    for (command, table) in [
        (&["diff", "out", "out"][..], "renderings"),
        (&["tokens", "out"], "renderings"),
        (&["tokens", "out", "--by", "role"], "tool_calls"),
        (&["report", "out", "--against", "out"], "renderings"),
    ] {
        let refused = end(desk.chatmill(command));
        assert_eq!(refused.code, 2, "{command:?}: {}", refused.stderr);
        for part in [&format!("has no table {table}"), "[output]", "--replace"] {
            assert!(refused.stderr.contains(part), "{command:?}: {}", refused.stderr);
        }
    }

    // Without renderings a dialect is made of the other tables, and these are missing too.
    let export = [
        "export",
        "out",
        "--dialect",
        "openai-chat",
        "--format",
        "jsonl",
        "--out",
        "files",
    ];
    let refused = end(desk.chatmill(&export));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    for part in ["the table `messages`", "`output.tables` left out"] {
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }

    // The whole dataset takes its place, and then nothing is missed.
    let again = end(desk.chatmill(&["run", "pipeline.toml", "--replace"]));
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(end(desk.chatmill(&["diff", "out", "out"])).code, 0);
    let wrong = end(desk.chatmill(&["run", "pipeline.toml", "--set", "output.tables=[\"message\"]"]));
    assert_eq!(wrong.code, 2, "{}", wrong.stderr);
    assert!(
        wrong.stderr.contains("did you mean `messages`?"),
        "{}",
        wrong.stderr
    );
}
