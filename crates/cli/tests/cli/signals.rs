//! Signals, small stacks and large wishes: what the surroundings of the command do to it. The real command.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use chatmill_workshop::{Workshop, corpus};

use crate::desk::{binary, good_chat};
use crate::faults::{pipeline, said, signal};

fn shop(megabytes: usize) -> Workshop {
    let shop = Workshop::new();
    if megabytes > 0 {
        corpus::write(&shop, megabytes, 11);
    }
    shop.write("in/a.json", good_chat("a").to_string());
    pipeline(&shop);
    shop
}

/// A shell that becomes the command, after it did something to itself.
fn shell(shop: &Workshop, first: &str, arguments: &[&str]) -> Command {
    // Whoever runs the tests under `nohup` has them ignore what a shell cannot take back.
    let mut command = Command::new("env");
    command
        .args(["--default-signal=HUP", "bash"])
        .args(["-c", &format!("{first}; exec \"$@\""), "bash"])
        .arg(binary())
        .args(arguments)
        .current_dir(shop.path(""))
        .stdin(Stdio::null());
    command
}

fn run(shop: &Workshop, first: &str, arguments: &[&str]) -> Output {
    let all = [&["run", "pipeline.toml"], arguments].concat();
    shell(shop, first, &all).output().unwrap()
}

#[test]
fn whatever_a_run_waits_for_a_signal_ends_it_within_five_seconds() {
    let shop = shop(0);
    // What reads its standard error has stopped to read.
    let full = "mkfifo full; exec 3<>full; head -c 65536 /dev/zero >&3; exec 2>&3";
    for (name, expected) in [("-TERM", 143), ("-HUP", 129)] {
        let mut waiting = shell(
            &shop,
            &format!("rm -f full; {full}"),
            &["run", "pipeline.toml", "--progress", "json"],
        )
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        assert!(
            waiting.try_wait().unwrap().is_none(),
            "it did not wait for anything"
        );
        let begun = Instant::now();
        signal(&waiting, name);
        assert_eq!(waiting.wait().unwrap().code(), Some(expected));
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
    let last = run(&shop, "true", &[]);
    assert_eq!(last.status.code(), Some(0), "{}", said(&last));
}

#[test]
fn a_hang_up_ends_a_run_unless_it_was_started_to_outlive_one() {
    let shop = shop(5);
    for (first, expected) in [("true", 129), ("trap '' HUP", 0)] {
        let mut milling = shell(&shop, first, &["run", "pipeline.toml", "--threads", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(700));
        assert!(
            milling.try_wait().unwrap().is_none(),
            "it was too fast for this test"
        );
        signal(&milling, "-HUP");
        assert_eq!(milling.wait().unwrap().code(), Some(expected), "{first}");
    }
    assert!(shop.path("out/_SUCCESS").exists());
}

#[test]
fn a_small_stack_is_no_obstacle() {
    let shop = shop(0);
    let ended = run(&shop, "ulimit -s 64", &[]);
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
}

#[test]
fn a_million_threads_are_not_started() {
    let shop = shop(0);
    let begun = Instant::now();
    let ended = run(&shop, "true", &["--threads", "1000000"]);
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    assert!(
        said(&ended).contains("1000000 threads were asked for"),
        "{}",
        said(&ended)
    );
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_pattern_that_is_nested_too_deep_is_a_wrong_request() {
    let shop = shop(0);
    let pattern = format!("in/{}a{}", "{a,".repeat(200), "}".repeat(200));
    for command in ["check", "inspect", "tokens"] {
        let ended = shell(&shop, "true", &[command, &pattern]).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{command}: {}", said(&ended));
        assert!(said(&ended).contains("braces"), "{}", said(&ended));
    }
}
