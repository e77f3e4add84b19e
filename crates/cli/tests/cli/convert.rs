//! `chatmill convert`: archives in, files for a trainer out, and nothing else.

use std::fs;

use crate::desk::{Desk, Ended, chat, end, good_chat, json_lines};

fn desk() -> Desk {
    let desk = Desk::new();
    let mut chats: Vec<String> = (0..4)
        .map(|number| good_chat(&format!("c{number}")).to_string())
        .collect();
    // Nobody answers here.
    chats.push(chat("silent", &[("m1", "user_1", "Anybody here?")]).to_string());
    desk.write("in/chats.jsonl", &chats.join("\n"));
    desk
}

fn convert(desk: &Desk, more: &[&str]) -> Ended {
    end(desk.chatmill(&[&["convert", "in"], more].concat()))
}

/// The names in the folder of a desk.
fn names(desk: &Desk) -> Vec<String> {
    let names = fs::read_dir(desk.path("")).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn archives_become_files_of_a_trainer_and_nothing_stays_beside_them() {
    let desk = desk();
    let arguments = ["--to", "trl-messages", "--format", "jsonl", "--out", "train"];
    let ended = convert(&desk, &arguments);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for said in ["5 conversations", "accepted", "train: kept 4 of", "TRL-03"] {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
    assert_eq!(names(&desk), ["in", "train"]);
    let rows = json_lines(&fs::read_to_string(desk.path("train/data.jsonl")).unwrap());
    assert_eq!(rows.len(), 4);

    // What is there is replaced only where somebody asks, and only where it is ours.
    let ended = convert(&desk, &arguments);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("not empty"), "{}", ended.stderr);
    let split = [&arguments[..], &["--replace", "--split", "train=50,test=50"]].concat();
    let ended = convert(&desk, &split);
    assert!(ended.code < 2, "{}", ended.stderr);
    assert!(!desk.path("train/data.jsonl").exists());
    desk.write("train/mine.txt", "mine");
    let ended = convert(&desk, &[&arguments[..], &["--replace"]].concat());
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("mine.txt"), "{}", ended.stderr);
    assert_eq!(names(&desk), ["in", "train"]);
}

#[test]
fn the_files_are_those_of_run_and_export_one_by_one() {
    let desk = desk();
    let ended = convert(&desk, &["--to", "trl-messages", "--out", "short", "--keep"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(names(&desk), ["in", "short", "short.dataset"]);
    let export = [
        "export",
        "short.dataset",
        "--dialect",
        "hf-messages",
        "--envelope",
        "trl-messages",
        "--format",
        "parquet",
        "--valid",
        "--out",
        "long",
    ];
    assert_eq!(end(desk.chatmill(&export)).code, 0);
    let read = |name: &str| fs::read(desk.path(name)).unwrap();
    assert_eq!(read("short/data.parquet"), read("long/data.parquet"));
    assert_eq!(end(desk.chatmill(&["certify", "short.dataset"])).code, 0);
}

#[test]
fn a_dialect_and_a_key_of_the_pipeline_may_be_named() {
    let desk = desk();
    let ended = convert(
        &desk,
        &["--to", "chatml", "--set", "select.min_turns=3", "--out", "text"],
    );
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("1 by select.min_turns"), "{}", ended.stdout);
    assert!(
        fs::read_to_string(desk.path("text/data.jsonl"))
            .unwrap()
            .contains("assistant_spans")
    );
}

#[test]
fn a_wrong_request_is_refused_before_anything_is_milled() {
    let desk = desk();
    for (arguments, said) in [
        (&["--to", "trl-mesages", "--out", "x"][..], "`trl-messages`"),
        (
            &["--to", "openai-sft", "--out", "x", "--split", "train"][..],
            "NAME=SHARE",
        ),
        (
            &["--to", "trl-messages", "--out", "x", "--set", "windw.mode=1"][..],
            "windw",
        ),
        (
            &["--to", "openai-sft", "--out", "x", "--nested", "struct"][..],
            "`--nested` is about tables",
        ),
        (&["--to", "trl-messages", "--out", "in"][..], "not empty"),
    ] {
        let ended = convert(&desk, arguments);
        assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
        assert_eq!(names(&desk), ["in"], "{arguments:?}");
    }
    let missing = end(desk.chatmill(&["convert", "nowhere/*", "--to", "chatml", "--out", "x"]));
    assert_eq!(missing.code, 2, "{}", missing.stderr);
    assert_eq!(names(&desk), ["in"]);
}

#[test]
fn rejects_make_it_end_with_1_and_the_files_are_there() {
    let desk = desk();
    desk.write("in/broken.jsonl", "{\"a\":\n{\"b\":\n");
    let ended = convert(&desk, &["--to", "trl-messages", "--out", "train"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(desk.path("train/data.parquet").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interruption_leaves_nothing() {
    let shop = crate::faults::large();
    let milling = crate::caught::Caught::amid(&shop.path(""), || {
        drop(fs::remove_dir_all(shop.path("train")));
        std::process::Command::new(crate::desk::binary())
            .args(["convert", "in", "--to", "trl-messages", "--out", "train"])
            .args(["--threads", "1", "--set", "lots.bytes=20_000", "--quiet"])
            .current_dir(shop.path(""))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    });
    milling.signal("-INT");
    assert_eq!(milling.goes_on().code(), Some(130));
    let names: Vec<String> = fs::read_dir(shop.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| !name.contains("train")), "{names:?}");
}

#[test]
fn chats_without_an_agent_say_how_they_become_samples() {
    let desk = Desk::new();
    let said = [("m1", "user_1", "Anybody here?"), ("m2", "user_2", "I am.")];
    let mut people = chat("people", &said);
    people["conversation_meta"]["user_details"] = serde_json::json!({"user_1": {"full_name": "Ada", "role": "user"}, "user_2": {"full_name": "Ben", "role": "user"}});
    desk.write("in/chats.jsonl", &people.to_string());
    for to in ["openai-sft", "trl-messages", "llama-factory"] {
        let ended = convert(&desk, &["--to", to, "--out", to]);
        assert_eq!(ended.code, 1, "{to}: {}", ended.stderr);
        let hint = "convert --set perspective.as=each-participant";
        assert!(ended.stdout.contains(hint), "{to}: {}", ended.stdout);
        let ledger = fs::read_to_string(desk.path(to).join("export.json")).unwrap();
        assert!(ledger.contains(hint), "{to}: {ledger}");
    }
    let set = [
        "--set",
        "perspective.as=each-participant",
        "--to",
        "trl-messages",
        "--out",
        "all",
    ];
    let ended = convert(&desk, &set);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains("no assistant"), "{}", ended.stdout);
}

#[test]
fn what_nobody_reads_is_named_with_what_it_looks_like_and_counted_by_its_rows() {
    let desk = Desk::new();
    desk.write("in/blooms.csv", "sepal,petal\n1,2\n3,4\n5,6\n");
    desk.write(
        "in/weather.jsonl",
        "{\"temperature\":21.5}\n{\"temperature\":21.7}\n",
    );
    for (to, out) in [("trl-messages", "a"), ("trl-dpo", "b"), ("tzurot", "c")] {
        let ended = convert(&desk, &["--to", to, "--out", out]);
        assert_eq!(ended.code, 1, "{}{}", ended.stdout, ended.stderr);
        for said in [
            "not converted: blooms.csv: SR003: this looks like a table with a header",
            "not converted: weather.jsonl: SR003: no known source writes records like this",
            "3 more records not converted",
        ] {
            assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
        }
        for said in ["5 of 5 records (100 %)", "nothing is written"] {
            assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
        }
    }
    // Beside what is read, it still is no success.
    desk.write("in/chat.json", &good_chat("a").to_string());
    let set = ["--set", "limits.max_reject_ratio=1.0"];
    let ended = convert(
        &desk,
        &[&["--to", "trl-messages", "--out", "a"], &set[..]].concat(),
    );
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(
        ended.stdout.contains("2 inputs refused whole"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("a: kept 1 of"), "{}", ended.stdout);
    let allowed = ["--set", "limits.refused_inputs=2", "--replace"];
    let ended = convert(
        &desk,
        &[&["--to", "trl-messages", "--out", "a"], &set[..], &allowed].concat(),
    );
    assert_eq!(ended.code, 0, "{}", ended.stdout);
}

#[test]
fn what_a_dialect_does_not_print_is_said_to_be_that() {
    let desk = Desk::new();
    desk.write(
        "in/chat.json",
        &chat("a", &[("m1", "bot_1", "Anybody here?")]).to_string(),
    );
    let ended = convert(&desk, &["--to", "tzurot", "--out", "a"]);
    assert_eq!(ended.code, 1, "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stdout.contains("no rendering in tzurot"),
        "{}",
        ended.stdout
    );
}

#[test]
fn where_most_rows_are_left_out_for_one_reason_it_is_said_what_keeps_them() {
    let desk = Desk::new();
    let asked = [
        ("m1", "user_1", "When?"),
        ("m2", "bot_1", "At six."),
        ("m3", "user_1", "Thanks."),
    ];
    desk.write("in/a.json", &chat("a", &asked).to_string());
    let ended = convert(&desk, &["--to", "openai-sft", "--out", "a"]);
    for said in [
        "kept 0 of 1",
        "SFT-02",
        "way out: ",
        "window.mode",
        "--set KEY=VALUE",
    ] {
        assert!(ended.stdout.contains(said), "{said}: {}", ended.stdout);
    }
    let set = ["--set", "window.mode=consecutive", "--replace"];
    let ended = convert(&desk, &[&["--to", "openai-sft", "--out", "a"], &set[..]].concat());
    assert!(
        ended.stdout.contains("kept 1 of 1") && !ended.stdout.contains("way out"),
        "{}",
        ended.stdout
    );
    for (to, way) in [("trl-dpo", "trl-messages"), ("trl-kto", "trl-messages")] {
        let ended = convert(&desk, &["--to", to, "--out", to]);
        assert!(
            ended
                .stdout
                .contains(&format!("way out: --envelope {way} has rows")),
            "{}",
            ended.stdout
        );
    }
    desk.write(
        "in/b.jsonl",
        "{\"prompt\":\"What is a quay?\",\"completion\":\"A wall where ships lie.\",\"label\":true}\n",
    );
    let ended = convert(&desk, &["--to", "trl-dpo", "--out", "trl-dpo", "--replace"]);
    assert!(
        ended.stdout.contains("way out: --envelope trl-kto has rows"),
        "{}",
        ended.stdout
    );
}

#[test]
fn an_answer_that_nobody_asked_for_is_kept_only_where_somebody_says_so() {
    let desk = Desk::new();
    let said = |id: &str, messages: &[(&str, &str, &str)]| chat(id, messages);
    let greeting = ("m1", "bot_1", "Good morning.");
    let mut noticed = said("noticed", &[("m0", "user_1", "Ada joined"), greeting]);
    noticed["conversation_list"][0]["type"] = "system".into();
    let chats = [
        said("asked", &[("m1", "user_1", "When?"), ("m2", "bot_1", "At six.")]),
        said("alone", &[greeting]),
        said("empty", &[("m0", "user_1", " "), greeting]),
        noticed,
        said(
            "greeted",
            &[greeting, ("m2", "user_1", "When?"), ("m3", "bot_1", "At six.")],
        ),
    ];
    let chats: Vec<String> = chats.iter().map(ToString::to_string).collect();
    desk.write("in/chats.jsonl", &chats.join("\n"));
    let convert = |to: &str, more: &[&str]| {
        let arguments = ["--to", to, "--format", "jsonl", "--replace", "--out", "train"];
        let ended = convert(&desk, &[&arguments[..], more].concat());
        assert!(ended.code < 2, "{to}: {}", ended.stderr);
        let rows = fs::read_to_string(desk.path("train/data.jsonl")).unwrap();
        assert!(!rows.contains("[start]"), "{to}: {rows}");
        let summary = fs::read_to_string(desk.path("train/export.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let left = summary["left_out"].as_array().unwrap().iter().map(|left| {
            let code = left["reason"].as_str().unwrap().split(':').next().unwrap();
            format!("{} {code}", left["rows"])
        });
        (rows.lines().count(), left.collect::<Vec<_>>().join(", "))
    };
    for to in ["trl-messages", "openai-sft", "axolotl"] {
        assert_eq!(convert(to, &[]), (2, "3 nothing-asked".to_owned()), "{to}");
        assert_eq!(convert(to, &["--keep-unasked"]), (5, String::new()), "{to}");
    }
    let (all, made_up) = ("3 nothing-asked, 1 question-made-up", "3 question-made-up");
    assert_eq!(convert("llama-factory", &[]), (1, all.to_owned()));
    // The turn of blanks is a person's own and may be kept: nothing is made up in it.
    assert_eq!(
        convert("llama-factory", &["--keep-unasked"]),
        (2, made_up.to_owned())
    );
    // Rows that begin with what somebody says need no question that nobody put.
    let consecutive = ["--set", "window.mode=\"consecutive\""];
    assert_eq!(convert("llama-factory", &consecutive), (2, String::new()));
}
