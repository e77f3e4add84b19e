use std::fs;

use serde_json::Value;

use crate::desk::{Desk, end, good_chat};

#[test]
fn the_file_that_init_prints_runs_and_says_what_was_found() {
    let desk = Desk::new();
    desk.write("exports/a.json", &good_chat("a").to_string());
    desk.write("exports/b.jsonl", &format!("{}\n{{\"broken\n", good_chat("b")));
    let init = end(desk.chatmill(&["init", "exports"]));
    assert_eq!(init.code, 0, "{}", init.stderr);
    for said in [
        "# group-chat: 2 files, 2 conversations, 6 messages, 2026-01-02 to 2026-01-02, shapes V1\n",
        "    \"group-chat\",",
        "    # \"tzurot\",",
    ] {
        assert!(init.stdout.contains(said), "{said}\n{}", init.stdout);
    }
    desk.write("exports.toml", &init.stdout);
    let run = end(desk.chatmill(&["run", "exports.toml"]));
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    let manifest: Value =
        serde_json::from_slice(&fs::read(desk.path("out/exports/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["totals"]["conversations"], 2);
    assert_eq!(manifest["verdict"], "complete");
}

#[test]
fn an_input_that_is_refused_whole_gets_no_limit_that_hides_it() {
    let desk = Desk::new();
    desk.write("exports/a.json", &good_chat("a").to_string());
    desk.write("exports/weather.jsonl", &"{\"day\": 1}\n".repeat(30));
    let init = end(desk.chatmill(&["init", "exports"]));
    for said in [
        "# 30 of 31 records cannot be read",
        "# not recognised: exports/weather.jsonl\n",
        "# 1 input is refused whole",
        "\n# [limits]\n# max_reject_ratio = 0.0\n",
    ] {
        assert!(init.stdout.contains(said), "{said}\n{}", init.stdout);
    }
    desk.write("exports.toml", &init.stdout);
    let run = end(desk.chatmill(&["run", "exports.toml"]));
    assert_eq!(run.code, 1, "{}\n{}", run.stdout, run.stderr);
    let manifest: Value =
        serde_json::from_slice(&fs::read(desk.path("out/exports/manifest.json")).unwrap()).unwrap();
    assert_eq!(
        (
            &manifest["totals"]["rejected"],
            &manifest["totals"]["refused_inputs"]
        ),
        (&30.into(), &1.into())
    );
    let lenient = [
        "run",
        "exports.toml",
        "--replace",
        "--set",
        "limits.max_reject_ratio=1.0",
    ];
    let run = end(desk.chatmill(&lenient));
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.contains("1 input refused whole"), "{}", run.stdout);
    let allowed = [&lenient[..], &["--set", "limits.refused_inputs=1"]].concat();
    assert_eq!(end(desk.chatmill(&allowed)).code, 0);
    assert_eq!(end(desk.chatmill(&["certify", "out/exports"])).code, 0);
}

#[test]
fn init_refuses_what_a_run_could_not_read() {
    let desk = Desk::new();
    let stdin = end(desk.chatmill(&["init", "-"]));
    assert_eq!(stdin.code, 2);
    assert!(stdin.stderr.contains("a run reads files"), "{}", stdin.stderr);
    let absent = end(desk.chatmill(&["init", "absent.json"]));
    assert_eq!(absent.code, 2, "{}", absent.stderr);
    assert!(absent.stderr.contains("absent.json"), "{}", absent.stderr);
}
