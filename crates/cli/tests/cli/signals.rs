//! Signals, small stacks and large requests: the effects of the environment on the command. The real program is run.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use chatmill_workshop::TestDir;
use chatmill_workshop::chaos::watch;

use crate::caught::{Caught, signal};
use crate::faults::{large, pipeline, said};
use crate::test_dir::{binary, good_chat};

fn shop() -> TestDir {
    let shop = TestDir::new();
    shop.write("in/a.json", good_chat("a").to_string());
    pipeline(&shop);
    shop
}

/// A shell that changes its own settings, and then becomes the command.
fn shell(shop: &TestDir, first: &str, arguments: &[&str]) -> Command {
    // Under `nohup` the tests ignore signals, which a shell cannot undo.
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

fn run(shop: &TestDir, first: &str, arguments: &[&str]) -> Output {
    let all = [&["run", "pipeline.toml"], arguments].concat();
    shell(shop, first, &all).output().unwrap()
}

/// A run that is blocked, because the reader of its standard error has stopped reading.
fn waiting(shop: &TestDir) -> Child {
    let full =
        "mkfifo full; exec 3<>full; dd if=/dev/zero of=full bs=4096 oflag=nonblock 2>/dev/null; exec 2>&3";
    let mut waiting = shell(shop, full, &["run", "pipeline.toml", "--progress", "json"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let process = waiting.id();
    let mut before = None;
    let waits = watch(&mut waiting, || {
        let now = asleep(process);
        let stays = now.is_some() && now == before;
        before = now;
        stays
    });
    assert!(waits, "it did not wait for anything");
    waiting
}

/// The threads of a run that already handles signals, with the number of times that each slept, if all of them are asleep.
fn asleep(process: u32) -> Option<Vec<String>> {
    let folder = format!("/proc/{process}");
    // Before that, the process is the shell.
    let program = fs::read_link(format!("{folder}/exe")).ok()?;
    if program != fs::canonicalize(binary()).ok()? {
        return None;
    }
    let mut slept = Vec::new();
    for thread in fs::read_dir(format!("{folder}/task")).ok()? {
        let status = fs::read_to_string(thread.ok()?.path().join("status")).ok()?;
        let field = |name: &str| {
            let found = status.lines().find_map(|line| line.strip_prefix(name));
            found.map(|value| value.trim().to_owned())
        };
        let heeded = u64::from_str_radix(&field("SigCgt:")?, 16).ok()?;
        let heeds_to_terminate = heeded & (1 << 14) != 0;
        if !heeds_to_terminate || !field("State:")?.starts_with('S') {
            return None;
        }
        slept.push(field("voluntary_ctxt_switches:")?);
    }
    Some(slept)
}

/// Sends each waiting run a signal, and checks how it ends.
fn whatever_waits_is_ended() {
    // All at once: each gets some seconds to stop.
    let waiting = [("-TERM", 143), ("-HUP", 129)].map(|(name, expected)| {
        let shop = shop();
        let run = waiting(&shop);
        signal(&run, name);
        (shop, run, expected)
    });
    for (shop, mut run, expected) in waiting {
        assert_eq!(run.wait().unwrap().code(), Some(expected));
        let last = self::run(&shop, "true", &[]);
        assert_eq!(last.status.code(), Some(0), "{}", said(&last));
    }
}

#[test]
fn whatever_a_run_waits_for_a_signal_ends_it() {
    whatever_waits_is_ended();
}

#[test]
#[ignore = "by the clock, on a machine that does nothing else: `just in-time`"]
fn whatever_a_run_waits_for_a_signal_ends_it_in_time() {
    let shop = shop();
    for (name, expected) in [("-TERM", 143), ("-HUP", 129)] {
        drop(fs::remove_file(shop.path("full")));
        let mut run = waiting(&shop);
        let begun = Instant::now();
        signal(&run, name);
        assert_eq!(run.wait().unwrap().code(), Some(expected));
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_hang_up_ends_a_run_unless_it_was_started_to_outlive_one() {
    let shop = large();
    for (first, expected) in [("true", 129), ("trap '' HUP", 0)] {
        let milling = Caught::amid(&shop.path(""), || {
            drop(fs::remove_dir_all(shop.path("out")));
            shell(&shop, first, &["run", "pipeline.toml", "--threads", "1"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        });
        milling.signal("-HUP");
        assert_eq!(milling.goes_on().code(), Some(expected), "{first}");
    }
    assert!(shop.path("out/_SUCCESS").exists());
}

#[test]
fn a_stopped_run_exits_as_its_signal_asks_and_goes_on_later() {
    let shop = large();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let milling = Caught::amid(&shop.path(""), || {
            drop(fs::remove_dir_all(shop.path("out")));
            shell(&shop, "true", &["run", "pipeline.toml", "--threads", "1"])
                .stdout(Stdio::null())
                .stderr(fs::File::create(shop.path("said")).unwrap())
                .spawn()
                .unwrap()
        });
        milling.signal(signal);
        let ended = milling.goes_on();
        let said = fs::read_to_string(shop.path("said")).unwrap();
        assert_eq!(ended.code(), Some(code), "{said}");
        assert!(said.contains("run the same command again"), "{said}");
        assert!(!shop.path("out").exists());
    }
    let last = run(&shop, "true", &["--limit", "3"]);
    assert_eq!(last.status.code(), Some(0), "the lock of a stopped run is gone");
}

#[test]
fn an_interrupted_conversion_leaves_nothing() {
    let shop = large();
    let milling = Caught::amid(&shop.path(""), || {
        drop(fs::remove_dir_all(shop.path("train")));
        let convert = ["convert", "in", "--to", "trl-messages", "--out", "train"];
        let lots = ["--threads", "1", "--set", "shards.bytes=20_000", "--quiet"];
        shell(&shop, "true", &[&convert[..], &lots].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    });
    milling.signal("-INT");
    assert_eq!(milling.goes_on().code(), Some(130));
    for entry in fs::read_dir(shop.path("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.contains("train"), "{name}");
    }
}

#[test]
fn a_run_completes_with_a_shell_stack_of_64_kibibytes() {
    let shop = shop();
    let ended = run(&shop, "ulimit -s 64", &[]);
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
}

/// Asks for a million threads with memory for only a few hundred.
fn a_million_threads() {
    let shop = shop();
    let ended = run(&shop, "ulimit -v 268435456", &["--threads", "1000000"]);
    assert_eq!(ended.status.code(), Some(0), "{}", said(&ended));
    assert!(
        said(&ended).contains("1000000 threads were requested"),
        "{}",
        said(&ended)
    );
}

#[test]
fn a_run_asked_for_a_million_threads_completes_with_fewer() {
    a_million_threads();
}

#[test]
#[ignore = "by the clock, on a machine that does nothing else: `just in-time`"]
fn a_run_asked_for_a_million_threads_completes_in_time() {
    let begun = Instant::now();
    a_million_threads();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn a_pattern_that_is_nested_too_deep_is_a_wrong_request() {
    let shop = shop();
    let pattern = format!("in/{}a{}", "{a,".repeat(200), "}".repeat(200));
    for command in ["check", "inspect", "tokens"] {
        let ended = shell(&shop, "true", &[command, &pattern]).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{command}: {}", said(&ended));
        assert!(said(&ended).contains("braces"), "{}", said(&ended));
    }
}
