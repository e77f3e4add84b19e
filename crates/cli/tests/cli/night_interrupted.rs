//! Nights that are interrupted, come at once, or find no space: what the next call makes of them.

use std::fs;
use std::process::Command;

use crate::desk::binary;
use crate::night::{at, desk, latest, name, night, pipeline, record, status};

#[test]
fn a_night_that_was_interrupted_goes_on_under_its_name() {
    let desk = desk("");
    assert_eq!(night(&desk, 1).code, 0);
    // As a kill leaves it before the first slice: the record of a night that began.
    let begun = |day: u32| {
        let record = format!(
            "{{\"format\":1,\"night\":\"{}\",\"state\":\"begun\",\"pipeline\":\"desk\",\"version\":\"0\",\
             \"began_at\":\"2026-11-{day:02}T02:15:00Z\",\"attempts\":1}}",
            name(day)
        );
        desk.write(&format!("nights/records/{}.json", name(day)), &record);
    };
    begun(2);
    let ended = at(&desk, "2026-11-02T02:45:00Z");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("going on with the night"),
        "{}",
        ended.stderr
    );
    assert_eq!(record(&desk, 2)["attempts"], 2);
    assert_eq!(latest(&desk), name(2));
    begun(3);
    let later = night(&desk, 4);
    assert_eq!(later.code, 0, "{}", later.stderr);
    assert_eq!(record(&desk, 3)["state"], "failed");
    assert_eq!(record(&desk, 4)["state"], "good");
}

#[test]
fn what_follows_from_a_night_is_made_up_for_by_the_next_call() {
    let desk = desk("");
    assert_eq!(night(&desk, 1).code, 0);
    let path = desk.path(&format!("nights/records/{}.json", name(1)));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("\"is_settled\": true", "\"is_settled\": false"),
    )
    .unwrap();
    for file in ["latest", "history.parquet", "metrics.prom"] {
        fs::remove_file(desk.path("nights").join(file)).unwrap();
    }
    let again = night(&desk, 1);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains("left to do"), "{}", again.stderr);
    assert_eq!(latest(&desk), name(1));
    assert!(desk.path("nights/metrics.prom").is_file());
    assert_eq!(
        status(&desk)["nights"].as_array().unwrap().len(),
        1,
        "no night is milled twice"
    );
}

#[test]
fn two_at_once_are_refused_and_whoever_looks_is_not() {
    let desk = desk("");
    assert_eq!(night(&desk, 1).code, 0);
    // The notice comes while the store is held: a program that calls the command again.
    let binary = binary();
    desk.write(
        "again.sh",
        &format!(
            "#!/bin/sh\n{binary} night nightly.toml --store nights > again.txt 2>&1\necho $? >> again.txt\n\
             {binary} night status --store nights > status.txt\n"
        ),
    );
    pipeline(&desk, "notify = [\"sh\", \"again.sh\"]\n");
    let ended = night(&desk, 2);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let again = fs::read_to_string(desk.path("again.txt")).unwrap();
    assert!(
        again.contains("another run holds") && again.ends_with("3\n"),
        "{again}"
    );
    let status = fs::read_to_string(desk.path("status.txt")).unwrap();
    assert!(status.contains("last good night: "), "{status}");
}

#[test]
fn a_clock_that_goes_back_changes_no_order_and_is_said() {
    let desk = desk("");
    assert_eq!(night(&desk, 5).code, 0);
    let back = night(&desk, 3);
    assert_eq!(back.code, 0, "{}", back.stderr);
    assert!(back.stdout.contains("the clock says"), "{}", back.stdout);
    assert_eq!(latest(&desk), "2026-11-05T021501Z");
    assert_eq!(night(&desk, 5).code, 0);
    assert_eq!(latest(&desk), "2026-11-05T021502Z");
}

#[test]
fn a_night_without_space_goes_on_when_there_is_some_and_somebody_is_told() {
    let desk = desk("notify = [\"sh\", \"-c\", \"echo $CHATMILL_STATE $CHATMILL_EXIT_CODE >> told.txt\"]\n");
    assert_eq!(night(&desk, 1).code, 0);
    // No file may become larger than 8 KiB: the reports do not fit, nor do most tables.
    let call = format!(
        "ulimit -f 16; exec {} night nightly.toml --store nights --at 2026-11-02T02:15:00Z",
        binary()
    );
    let mut command = Command::new("sh");
    command.args(["-c", &call]).current_dir(desk.path("."));
    let full = command.output().unwrap();
    let said = String::from_utf8_lossy(&full.stderr).into_owned();
    assert_eq!(full.status.code(), Some(3), "{said}");
    assert!(said.contains("no space left"), "{said}");
    let begun = record(&desk, 2);
    assert_eq!(
        (&begun["state"], &begun["exit_code"]),
        (&"begun".into(), &3.into())
    );
    assert_eq!(latest(&desk), name(1));
    let ended = at(&desk, "2026-11-02T03:15:00Z");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(record(&desk, 2)["attempts"], 2);
    assert!(!ended.stdout.contains("ended early"), "{}", ended.stdout);
    let told = fs::read_to_string(desk.path("told.txt")).unwrap();
    assert_eq!(told, "good 0\nbegun 3\ngood 0\n");
}
