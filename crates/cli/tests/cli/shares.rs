//! `plan`, `work`, `status` and `finish`: the way of a job array, and what each says when something is wrong.

use std::fmt::Write as _;
use std::fs;

use assert_cmd::Command;
use serde_json::Value;

use crate::desk::{Desk, Ended, binary, end, good_chat};

/// Enough chats for several lots of four kilobytes.
fn desk() -> Desk {
    let desk = Desk::new();
    let mut lines = String::new();
    for number in 0..40 {
        writeln!(lines, "{}", good_chat(&number.to_string())).unwrap();
    }
    desk.write("in/a.jsonl", &lines);
    desk.write("in/b.json", &good_chat("b").to_string());
    desk.pipeline();
    desk
}

fn planned(desk: &Desk) -> u64 {
    let plan = end(desk.chatmill(&[
        "plan",
        "pipeline.toml",
        "--set",
        "lots.bytes=4096",
        "--format",
        "json",
    ]));
    assert_eq!(plan.code, 0, "{}", plan.stderr);
    let said: Value = serde_json::from_str(&plan.stdout).unwrap();
    said["lots"].as_u64().unwrap()
}

fn run(desk: &Desk, arguments: &[&str], set: &[(&str, &str)]) -> Ended {
    let mut command = desk.chatmill(arguments);
    for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"] {
        command.env_remove(name);
    }
    command.envs(set.iter().copied());
    end(command)
}

#[test]
fn a_job_array_makes_the_dataset_of_a_run() {
    let desk = desk();
    let alone = [
        "run",
        "pipeline.toml",
        "--out",
        "alone",
        "--set",
        "lots.bytes=4096",
    ];
    assert_eq!(end(desk.chatmill(&alone)).code, 0);
    let lots = planned(&desk);
    assert!(lots > 3, "{lots}");
    let slurm = [
        ("SLURM_ARRAY_TASK_ID", "2"),
        ("SLURM_ARRAY_TASK_MIN", "1"),
        ("SLURM_ARRAY_TASK_COUNT", "3"),
    ];
    assert_eq!(run(&desk, &["work", "out"], &slurm).code, 0);
    let early = run(&desk, &["finish", "out"], &[]);
    assert_eq!(early.code, 3);
    assert!(early.stderr.contains("--lots 0,2-3"), "{}", early.stderr);
    let kubernetes = [("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "3")];
    assert_eq!(run(&desk, &["work", "out"], &kubernetes).code, 0);
    assert_eq!(run(&desk, &["work", "out", "--shard", "3/3"], &[]).code, 0);
    let status = run(&desk, &["status", "out"], &[]);
    let expected = format!("{lots} lots: {lots} done, 0 missing, 0 failed\nnext: chatmill finish out\n");
    assert_eq!((status.code, status.stdout), (0, expected));
    let finish = run(&desk, &["finish", "out"], &[]);
    assert_eq!(finish.code, 0, "{}", finish.stderr);
    assert!(finish.stdout.contains("41 conversations"), "{}", finish.stdout);
    let manifest = |out: &str| fs::read(desk.path(out).join("manifest.json")).unwrap();
    assert!(manifest("alone") == manifest("out"));
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
}

#[test]
fn a_lot_that_fails_ends_with_three_and_status_says_why() {
    let desk = desk();
    planned(&desk);
    desk.write("in/b.json", &good_chat("c").to_string());
    let work = run(&desk, &["work", "out", "--shard", "1/1"], &[]);
    assert_eq!(work.code, 3, "{}", work.stdout);
    let status = run(&desk, &["status", "out", "--format", "json"], &[]);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    let failed = status["failed"].as_object().unwrap();
    assert_eq!(failed.len(), 1, "{status}");
    let (lot, reason) = failed.iter().next().unwrap();
    assert!(
        reason
            .as_str()
            .unwrap()
            .contains("changed since it was planned: b.json"),
        "{reason}"
    );
    assert_eq!(status["next"], format!("chatmill work out --lots {lot}"));
}

#[test]
#[cfg(unix)]
fn a_worker_without_room_ends_with_three_the_others_go_on_and_it_is_repeated() {
    let desk = desk();
    planned(&desk);
    let mut cramped = Command::new("sh");
    cramped.current_dir(desk.path("")).args([
        "-c",
        // No file may have more than a block; the signal would end the process where a full disk gives an error.
        "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"",
        binary(),
        "work",
        "out",
        "--shard",
        "1/2",
    ]);
    let cramped = end(cramped);
    assert_eq!(cramped.code, 3, "{}", cramped.stderr);
    assert!(cramped.stderr.contains("too large"), "{}", cramped.stderr);
    assert_eq!(run(&desk, &["work", "out", "--shard", "2/2"], &[]).code, 0);
    assert_eq!(run(&desk, &["finish", "out"], &[]).code, 3);
    assert_eq!(run(&desk, &["work", "out", "--shard", "1/2"], &[]).code, 0);
    assert_eq!(run(&desk, &["finish", "out"], &[]).code, 0);
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
}

#[test]
fn a_share_that_cannot_be_worked_off_is_refused_with_two() {
    let desk = desk();
    let nothing = run(&desk, &["work", "out", "--shard", "1/2"], &[]);
    assert_eq!(nothing.code, 2);
    assert!(
        nothing.stderr.contains("nothing is planned for out"),
        "{}",
        nothing.stderr
    );
    planned(&desk);
    for (arguments, said) in [
        (&["work", "out"][..], "nothing says which lots are meant"),
        (&["work", "out", "--shard", "4/3"], "there is no share 4 of 3"),
        (&["work", "out", "--lots", "900"], "there is no lot 900"),
        (&["work", "out", "--lots", "3-"], "neither a number nor a range"),
    ] {
        let refused = run(&desk, arguments, &[]);
        assert_eq!(refused.code, 2, "{arguments:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}
