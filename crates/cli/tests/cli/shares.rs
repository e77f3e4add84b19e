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

const PRICE: &str = "[[price]]\nmodel = \"m\"\nencoding = \"r50k_base\"\ncurrency = \"USD\"\nper_million = 1000000\n\
                     date = \"2026-01-31\"\nsource = \"our contract\"\n";

/// The lines of a pipeline file that the ones of the desk do not have.
fn and(desk: &Desk, more: &str) {
    let pipeline = desk.pipeline();
    let text = fs::read_to_string(&pipeline).unwrap() + more;
    fs::write(pipeline, text).unwrap();
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

/// Mills all lots in one process, as what shares are compared with.
fn mill_alone(desk: &Desk) {
    let alone = [
        "run",
        "pipeline.toml",
        "--out",
        "alone",
        "--set",
        "lots.bytes=4096",
    ];
    assert_eq!(end(desk.chatmill(&alone)).code, 0);
}

#[test]
fn a_job_array_makes_the_dataset_of_a_run() {
    let desk = desk();
    mill_alone(&desk);
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
    let expected =
        format!("{lots} lots: {lots} done, 0 missing, 0 failed\nstage: finish\nnext: chatmill finish out\n");
    assert_eq!((status.code, status.stdout), (0, expected));
    let finish = run(&desk, &["finish", "out"], &[]);
    assert_eq!(finish.code, 0, "{}", finish.stderr);
    assert!(finish.stdout.contains("41 conversations"), "{}", finish.stdout);
    let manifest = |out: &str| fs::read(desk.path(out).join("manifest.json")).unwrap();
    assert!(manifest("alone") == manifest("out"));
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
}

fn said(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}{}", ended.stdout, ended.stderr))
}

#[test]
fn a_job_array_that_compares_first_is_started_twice_and_makes_the_dataset_of_a_run() {
    let desk = desk();
    let text = fs::read_to_string(desk.path("in/a.jsonl")).unwrap();
    desk.write("in/c.jsonl", &text.lines().take(9).collect::<Vec<_>>().join("\n"));
    and(&desk, "[dedup]\nexact = \"filter\"\nnear = \"mark\"\n");
    mill_alone(&desk);
    let lots = planned(&desk);
    let status = said(&run(&desk, &["status", "out", "--format", "json"], &[]));
    assert_eq!(status["stage"], "compare");
    assert_eq!(status["next"], format!("chatmill work out --lots 0-{}", lots - 1));
    let first = run(&desk, &["work", "out", "--shard", "1/3"], &[]);
    let left: Vec<u64> = (0..lots).filter(|lot| lot % 3 != 0).collect();
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("4 lots compared\n"), "{}", first.stdout);
    let waits = format!("{} lots not compared yet (1-2,4-5,7", left.len());
    assert!(first.stdout.contains(&waits), "{}", first.stdout);
    assert!(
        first
            .stdout
            .contains("give this command again when `chatmill status out` says render")
    );
    let status = said(&run(&desk, &["status", "out", "--format", "json"], &[]));
    assert_eq!(status["missing"], serde_json::json!(left));
    let early = run(&desk, &["finish", "out"], &[]);
    assert_eq!(early.code, 3);
    assert!(
        early.stderr.contains("chatmill work DIR --lots"),
        "{}",
        early.stderr
    );
    let json = ["work", "out", "--shard", "2/3", "--format", "json"];
    let second = said(&run(&desk, &json, &[]));
    assert_eq!(second["stage"], "compare");
    assert_eq!(second["compared"], serde_json::json!([1, 4, 7]));
    assert_eq!(second["done"], serde_json::json!([]));
    assert!(second["missing"].as_array().unwrap().contains(&2.into()));
    // Whoever compares the last renders at once; the others come again, as two now.
    let third = said(&run(
        &desk,
        &["work", "out", "--shard", "3/3", "--format", "json"],
        &[],
    ));
    assert_eq!(third["stage"], "render");
    assert_eq!(third["compared"], third["done"]);
    let status = run(&desk, &["status", "out"], &[]);
    assert!(status.stdout.contains("stage: render\n"), "{}", status.stdout);
    for shard in ["2/2", "1/2"] {
        assert_eq!(run(&desk, &["work", "out", "--shard", shard], &[]).code, 0);
    }
    let finish = run(&desk, &["finish", "out"], &[]);
    assert_eq!(finish.code, 0, "{}", finish.stderr);
    let manifest = |out: &str| fs::read(desk.path(out).join("manifest.json")).unwrap();
    assert!(manifest("alone") == manifest("out"));
    assert_eq!(end(desk.chatmill(&["certify", "out"])).code, 0);
}

#[test]
fn what_a_run_is_asked_for_is_kept_with_the_plan_and_holds_for_who_works_and_finishes() {
    let desk = desk();
    desk.write("prices.toml", PRICE);
    and(&desk, "[night]\nprices = \"prices.toml\"\n");
    let asked = ["--limit", "7", "--verify-every", "1"];
    let alone = [&["run", "pipeline.toml", "--out", "alone"][..], &asked].concat();
    let alone = end(desk.chatmill(&alone));
    assert_eq!(alone.code, 0, "{}", alone.stderr);
    let plan = [&["plan", "pipeline.toml"][..], &asked].concat();
    assert_eq!(end(desk.chatmill(&plan)).code, 0);
    assert_eq!(run(&desk, &["work", "out", "--shard", "1/1"], &[]).code, 0);
    desk.write("prices.toml", "[[price]]\n");
    let refused = run(&desk, &["finish", "out"], &[]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("prices.toml"), "{}", refused.stderr);
    desk.write("prices.toml", PRICE);
    let finish = run(&desk, &["finish", "out"], &[]);
    assert!(finish.stdout.contains("7 conversations"), "{}", finish.stdout);
    let report = |out: &str| -> Value {
        let text = fs::read_to_string(desk.path(out).join("report.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let money = report("out")["money"].clone();
    assert!(!money.as_array().unwrap().is_empty());
    assert_eq!(report("alone")["money"], money);
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
