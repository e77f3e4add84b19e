//! Nights with faults that are drawn at random: no good night is lost, and every fault that should raise an alarm does.
//!
//! `cargo test` simulates a night for each fault; `CHATMILL_NIGHTS` or `CHATMILL_DRAWS` sets another number of nights, and `CHATMILL_SEED`
//! another seed.

use std::fs;
use std::process::{Command, Stdio};

use chatmill_drawn::{Random, cases, seed};
use chatmill_workshop::TestDir;
use chatmill_workshop::chaos::{grown, watch};
use serde_json::Value;

use crate::test_dir::{RunChatmill, binary, end, good_chat};

/// A fault of a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mishap {
    Nothing,
    InputMissing,
    HalfBroken,
    EmptyInput,
    Killed,
    LatestDamaged,
    HistoryDamaged,
    StrangerInStore,
    ClockGoesBack,
    HalfMissing,
}

const MISHAPS: [Mishap; 10] = [
    Mishap::Nothing,
    Mishap::InputMissing,
    Mishap::HalfBroken,
    Mishap::EmptyInput,
    Mishap::Killed,
    Mishap::LatestDamaged,
    Mishap::HistoryDamaged,
    Mishap::StrangerInStore,
    Mishap::ClockGoesBack,
    Mishap::HalfMissing,
];

impl Mishap {
    /// Whether the fault must raise an alarm.
    fn alarms(self) -> bool {
        matches!(
            self,
            Self::InputMissing | Self::HalfBroken | Self::EmptyInput | Self::HalfMissing
        )
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// Writes the inputs of a night; every night has one more chat.
fn inputs(test_dir: &TestDir, night: u64, mishap: Mishap) {
    let folder = test_dir.path("in");
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    if mishap == Mishap::InputMissing {
        return;
    }
    let chats = 10 + night;
    for chat in 0..chats {
        let text = match mishap {
            Mishap::HalfBroken if chat % 2 == 0 => "{\"half\": ".to_owned(),
            Mishap::EmptyInput => String::new(),
            Mishap::HalfMissing if chat % 2 == 0 => continue,
            _ => good_chat(&format!("chat-{chat}")).to_string(),
        };
        test_dir.write(&format!("in/{chat:03}.json"), text);
    }
}

/// Begins a night, and kills it when it has written a drawn number of files.
fn kill(test_dir: &TestDir, arguments: &[&str], random: &mut Random) {
    let mut child = Command::new(binary())
        .args(arguments)
        .current_dir(test_dir.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let store = test_dir.path("nights");
    let enough = grown(&store) + random.below(45);
    watch(&mut child, || grown(&store) >= enough);
    drop(child.kill());
    drop(child.wait());
}

/// Checks that the last three good nights exist, and that each night was notified.
fn nights_are_kept_and_told(test_dir: &TestDir, records: &[Value], what: &str) {
    let is_good = |record: &&Value| record["state"] == "good";
    for record in records.iter().filter(is_good).rev().take(3) {
        let name = record["night"].as_str().unwrap();
        let mark = test_dir.path(&format!("nights/{name}/dataset/_SUCCESS"));
        assert!(mark.is_file(), "{what}");
    }
    let told = fs::read_to_string(test_dir.path("told.txt")).unwrap();
    for booked in records {
        let (name, state) = (
            booked["night"].as_str().unwrap(),
            booked["state"].as_str().unwrap(),
        );
        let notice = format!("{name} {state}\n");
        assert!(told.contains(&notice), "{what}: nobody was told: {notice}");
    }
}

#[test]
fn of_nights_with_faults_no_good_one_is_lost_and_every_alarm_sounds() {
    let nights = number("CHATMILL_NIGHTS", u64::from(cases(1 + MISHAPS.len() as u32)));
    let seed = number("CHATMILL_SEED", seed());
    let mut random = Random::new(seed);
    let mut to_come: Vec<Mishap> = Vec::new();
    let test_dir = TestDir::new();
    test_dir.write(
        "nightly.toml",
        "name = \"campaign\"\n[[input]]\npath = \"in/*\"\n[render]\ndialects = [\"openai-chat\"]\n[count]\n\
         encodings = [\"r50k_base\"]\n[output]\npath = \"out\"\n[night]\nkeep = 3\n\
         fail_if = [\"rejects > 0\", \"conversations < -10%\", \"inputs_missing > 0\"]\n\
         notify = [\"sh\", \"-c\", \"echo $CHATMILL_NIGHT $CHATMILL_STATE >> told.txt\"]\n",
    );
    let mut last_good = String::new();
    let (mut good, mut alarms) = (0, 0);
    for night in 0..nights {
        let mishap = if night == 0 {
            Mishap::Nothing
        } else {
            // Each fault once, and then each once more.
            if to_come.is_empty() {
                to_come.extend(MISHAPS);
            }
            to_come.swap_remove(random.below(to_come.len()))
        };
        inputs(&test_dir, night, mishap);
        match mishap {
            Mishap::LatestDamaged => {
                fs::remove_file(test_dir.path("nights/latest")).unwrap();
                std::os::unix::fs::symlink("/nowhere", test_dir.path("nights/latest")).unwrap();
            }
            Mishap::HistoryDamaged => drop(test_dir.write("nights/history.parquet", "damaged")),
            Mishap::StrangerInStore => drop(test_dir.write(&format!("nights/mine-{night}.txt"), "mine")),
            _ => {}
        }
        let day = if mishap == Mishap::ClockGoesBack { 0 } else { night };
        let at = format!("2026-{:02}-{:02}T02:15:00Z", 1 + day / 28, 1 + day % 28);
        let arguments = ["night", "nightly.toml", "--store", "nights", "--at", &at];
        let kills = if mishap == Mishap::Killed {
            1 + random.below(4)
        } else {
            0
        };
        for _ in 0..kills {
            kill(&test_dir, &arguments, &mut random);
        }
        let ended = end(test_dir.chatmill(&arguments));
        let what = format!(
            "seed {seed}, night {night}, {mishap:?}: {}{}",
            ended.stdout, ended.stderr
        );
        assert_eq!(ended.code != 0, mishap.alarms(), "{what}");
        alarms += u64::from(ended.code != 0);
        let status = end(test_dir.chatmill(&["night", "status", "--store", "nights", "--format", "json"]));
        let status: Value = serde_json::from_str(&status.stdout).expect(&what);
        let now_good = status["last_good"].as_str().expect(&what).to_owned();
        assert!(now_good >= last_good, "{what}");
        if mishap.alarms() {
            assert_eq!(now_good, last_good, "{what}");
        } else {
            good += 1;
        }
        let link = fs::read_link(test_dir.path("nights/latest")).unwrap();
        assert_eq!(link.to_str(), Some(now_good.as_str()), "{what}");
        let certified = end(test_dir.chatmill(&["certify", "nights/latest/dataset"]));
        assert_eq!(certified.code, 0, "{what}{}", certified.stdout);
        last_good = now_good;
        nights_are_kept_and_told(&test_dir, status["nights"].as_array().unwrap(), &what);
    }
    let strangers = fs::read_dir(test_dir.path("nights")).unwrap();
    let strangers = strangers.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_str()
            .unwrap()
            .starts_with("mine-")
    });
    let told = format!(
        "{nights} nights, seed {seed}: {good} good, {alarms} alarms, {} files of others kept",
        strangers.count()
    );
    // `just nights` prints it.
    if std::env::var_os("CHATMILL_NIGHTS").is_some() {
        println!("{told}");
    }
    assert!(good > nights / 4 && alarms > 0, "{told}");
}
