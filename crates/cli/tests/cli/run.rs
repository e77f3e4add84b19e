use std::fs;

use crate::desk::{Desk, dangling_chat, end, good_chat};

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("in/a.json", &good_chat("a").to_string());
    desk.write(
        "in/b.jsonl",
        &format!("{}\n{}\n", good_chat("b"), dangling_chat("c")),
    );
    desk.pipeline();
    desk
}

#[test]
fn a_run_says_what_it_made_and_certifies() {
    let desk = desk();
    let run = end(desk.chatmill(&["run", "pipeline.toml"]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    for expected in [
        "2 inputs, 3 conversations, 9 messages",
        "a.json",
        "b.jsonl",
        "RF001 dangling-reference",
    ] {
        assert!(
            run.stdout.contains(expected),
            "{expected} is missing in\n{}",
            run.stdout
        );
    }
    for expected in [
        "openai-chat",
        "gryag-compact",
        "r50k_base",
        "chatmill certify out",
        "chatmill explain RF001",
    ] {
        assert!(
            run.stdout.contains(expected),
            "{expected} is missing in\n{}",
            run.stdout
        );
    }
    let certified = end(desk.chatmill(&["certify", "out"]));
    assert_eq!(certified.code, 0, "{}", certified.stdout);
    assert!(certified.stdout.contains("certified"), "{}", certified.stdout);
}

#[test]
fn a_second_run_changes_nothing_and_says_so() {
    let desk = desk();
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml"])).code, 0);
    let before = fs::metadata(desk.path("out/manifest.json"))
        .unwrap()
        .modified()
        .unwrap();
    let again = end(desk.chatmill(&["run", "pipeline.toml"]));
    assert_eq!(again.code, 0);
    assert!(again.stdout.contains("nothing was changed"), "{}", again.stdout);
    assert_eq!(
        fs::metadata(desk.path("out/manifest.json"))
            .unwrap()
            .modified()
            .unwrap(),
        before
    );
}

#[test]
fn too_many_rejects_publish_the_dataset_and_exit_1_each_time() {
    let desk = desk();
    desk.write("in/b.jsonl", &format!("{}\n{{broken\n", good_chat("b")));
    for _ in 0..2 {
        let run = end(desk.chatmill(&["run", "pipeline.toml"]));
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stdout.contains("1 of 3 records (33 %)"), "{}", run.stdout);
    }
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
    let allowed = [
        "run",
        "pipeline.toml",
        "--out",
        "other",
        "--set",
        "limits.max_reject_ratio=0.5",
    ];
    assert_eq!(end(desk.chatmill(&allowed)).code, 0);
}

#[test]
fn another_plan_needs_replace() {
    let desk = desk();
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml"])).code, 0);
    let other = end(desk.chatmill(&["run", "pipeline.toml", "--limit", "1"]));
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("--replace"), "{}", other.stderr);
    let replaced = end(desk.chatmill(&["run", "pipeline.toml", "--limit", "1", "--replace"]));
    assert_eq!(replaced.code, 0, "{}", replaced.stderr);
    assert!(
        replaced.stdout.contains("Filtered: 2 by select.limit"),
        "{}",
        replaced.stdout
    );
}

#[test]
fn a_damaged_dataset_fails_with_the_name_of_the_file() {
    let desk = desk();
    assert_eq!(end(desk.chatmill(&["run", "pipeline.toml"])).code, 0);
    let table = desk.path("out/messages");
    let part = fs::read_dir(&table).unwrap().next().unwrap().unwrap();
    let mut bytes = fs::read(part.path()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(part.path(), bytes).unwrap();
    let certified = end(desk.chatmill(&["certify", "out"]));
    assert_eq!(certified.code, 1);
    assert!(
        certified.stdout.contains(part.file_name().to_str().unwrap()),
        "{}",
        certified.stdout
    );
}

#[test]
fn a_folder_that_is_no_dataset_is_a_wrong_request() {
    let desk = desk();
    for path in ["in", "nowhere"] {
        let certified = end(desk.chatmill(&["certify", path]));
        assert_eq!(certified.code, 2, "{path}");
        assert!(
            certified.stderr.starts_with("error: ") && certified.stderr.contains(path),
            "{}",
            certified.stderr
        );
    }
}

#[test]
fn a_wrong_word_in_the_pipeline_is_named_with_the_nearest_right_one() {
    let desk = desk();
    for (set, expected) in [
        ("limits.max_reject_ration=0.1", "did you mean `max_reject_ratio`"),
        ("render.dialects=[\"openai-cht\"]", "did you mean `openai-chat`"),
        ("count.encodings=[\"r50k-base\"]", "did you mean `r50k_base`"),
    ] {
        let run = end(desk.chatmill(&["run", "pipeline.toml", "--set", set]));
        assert_eq!(run.code, 2, "{set}");
        assert!(run.stderr.contains(expected), "{set}: {}", run.stderr);
        assert!(run.stdout.is_empty(), "{set}");
    }
    assert!(!desk.path("out").exists());
}

#[test]
fn a_missing_pipeline_file_is_named() {
    let run = end(desk().chatmill(&["run", "nowhere.toml"]));
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("nowhere.toml") && run.stderr.contains("help: "),
        "{}",
        run.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_stopped_run_exits_as_its_signal_asks_and_goes_on_later() {
    use std::process::{Command, Stdio};

    use crate::caught::Caught;

    let desk = desk();
    let lines: String = (0..80)
        .map(|number| good_chat(&format!("c{number}")).to_string() + "\n")
        .collect();
    desk.write("in/many.jsonl", &lines);
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let run = Caught::amid(&desk.path(""), || {
            drop(fs::remove_dir_all(desk.path("out")));
            Command::new(crate::desk::binary())
                .args(["run", "pipeline.toml", "--set", "lots.bytes=4096"])
                .args(["--threads", "1"])
                .current_dir(desk.path(""))
                .stdout(Stdio::null())
                .stderr(fs::File::create(desk.path("said")).unwrap())
                .spawn()
                .unwrap()
        });
        run.signal(signal);
        let ended = run.goes_on();
        let said = fs::read_to_string(desk.path("said")).unwrap();
        assert_eq!(ended.code(), Some(code), "{said}");
        assert!(said.contains("run the same command again"), "{said}");
        assert!(!desk.path("out").exists());
    }
    let whole = [
        "run",
        "pipeline.toml",
        "--set",
        "count.encodings=[]",
        "--limit",
        "3",
    ];
    assert_eq!(
        end(desk.chatmill(&whole)).code,
        0,
        "the lock of a stopped run is gone"
    );
}

#[test]
fn a_pipeline_in_the_current_folder_finds_its_inputs_beside_it() {
    let desk = Desk::new();
    desk.write("a.json", &good_chat("a").to_string());
    desk.write(
        "p.toml",
        "name = \"here\"\n[[input]]\npath = \"*.json\"\n[render]\ndialects = [\"group-chat\"]\n[count]\nencodings = []\n\
         [output]\npath = \"out\"\n",
    );
    let run = end(desk.chatmill(&["run", "p.toml"]));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(desk.path("out/_SUCCESS").exists());
}
