//! Nights in a store: every fault of a nightly job, from outside.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::desk::{Desk, Ended, dangling_chat, end, good_chat};

/// A desk with a pipeline over `in/*`, whose night section is given, and two chats.
pub(crate) fn desk(section: &str) -> Desk {
    let desk = Desk::new();
    pipeline(&desk, section);
    for name in ["one", "two"] {
        desk.write(&format!("in/{name}.json"), &good_chat(name).to_string());
    }
    desk
}

pub(crate) fn pipeline(desk: &Desk, section: &str) {
    desk.write(
        "nightly.toml",
        &format!(
            "name = \"desk\"\n[[input]]\npath = \"in/*\"\n[render]\ndialects = [\"openai-chat\"]\n[count]\n\
             encodings = [\"r50k_base\"]\n[output]\npath = \"out\"\n[night]\n{section}"
        ),
    );
}

/// A night on this day of November.
pub(crate) fn night(desk: &Desk, day: u32) -> Ended {
    at(desk, &format!("2026-11-{day:02}T02:15:00Z"))
}

pub(crate) fn at(desk: &Desk, instant: &str) -> Ended {
    end(desk.chatmill(&["night", "nightly.toml", "--store", "nights", "--at", instant]))
}

pub(crate) fn name(day: u32) -> String {
    format!("2026-11-{day:02}T021500Z")
}

pub(crate) fn record(desk: &Desk, day: u32) -> Value {
    let path = desk.path(&format!("nights/records/{}.json", name(day)));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn dataset(desk: &Desk, day: u32) -> PathBuf {
    desk.path(&format!("nights/{}/dataset", name(day)))
}

pub(crate) fn latest(desk: &Desk) -> String {
    let link = fs::read_link(desk.path("nights/latest")).unwrap();
    link.to_str().unwrap().to_owned()
}

pub(crate) fn status(desk: &Desk) -> Value {
    let ended = end(desk.chatmill(&["night", "status", "--store", "nights", "--format", "json"]));
    serde_json::from_str(&ended.stdout).expect(&ended.stderr)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}

#[test]
fn a_first_night_is_good_and_says_what_it_could_not_judge() {
    let desk = desk("fail_if = [\"rejects > 0\", \"conversations < -10%\"]\n");
    let first = night(&desk, 1);
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    assert!(
        first.stdout.contains("there is no good night to compare with"),
        "{}",
        first.stdout
    );
    assert!(first.stdout.contains("not evaluated"), "{}", first.stdout);
    let record = record(&desk, 1);
    assert_eq!(record["state"], "good");
    assert_eq!(record["figures"]["conversations"], 2);
    assert_eq!(record["is_settled"], true);
    assert_eq!(latest(&desk), name(1));
    for file in [
        "night.md",
        "night.json",
        "dataset/manifest.json",
        "dataset/report.html",
    ] {
        assert!(desk.path("nights/latest").join(file).is_file(), "{file}");
    }
    let metrics = fs::read_to_string(desk.path("nights/metrics.prom")).unwrap();
    assert!(metrics.contains("chatmill_night_conversations 2\n"), "{metrics}");
    assert!(desk.path("nights/history.parquet").is_file());
    let certified = end(desk.chatmill(&["certify", "nights/latest/dataset"]));
    assert_eq!(certified.code, 0, "{}", certified.stdout);
}

#[test]
fn a_night_is_compared_with_the_last_good_one() {
    let desk = desk("fail_if = [\"tokens_common > 2%\"]\nwarn_if = [\"conversations > 2\"]\n");
    assert_eq!(night(&desk, 1).code, 0);
    desk.write("in/three.json", &dangling_chat("three").to_string());
    desk.write(
        "nightly.toml",
        &fs::read_to_string(desk.path("nightly.toml")).unwrap(),
    );
    let second = night(&desk, 2);
    // A dangling reference is an error finding or not, as its page says; the conditions themselves do not object.
    let record = record(&desk, 2);
    assert_eq!(record["against"], name(1), "{}", second.stderr);
    assert_eq!(record["conversations"]["added"], 1);
    assert_eq!(record["grown"][0]["conversation_id"], "three");
    assert_eq!(record["new_codes"][0]["code"], "RF001");
    assert!(
        record["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("conversations > 2")
    );
    assert!(second.stdout.contains("New codes: RF001"), "{}", second.stdout);
}

#[test]
fn a_missing_input_costs_no_good_night_once_or_for_a_week() {
    let desk = desk("keep = 2\n");
    for day in 1..=2 {
        assert_eq!(night(&desk, day).code, 0);
    }
    fs::rename(desk.path("in"), desk.path("gone")).unwrap();
    for day in 3..=9 {
        let missing = night(&desk, day);
        assert_eq!(missing.code, 3, "{}", missing.stderr);
        assert!(missing.stderr.contains("no input matches"), "{}", missing.stderr);
        assert_eq!(record(&desk, day)["state"], "failed");
        assert_eq!(latest(&desk), name(2));
        assert!(dataset(&desk, 1).is_dir() && dataset(&desk, 2).is_dir());
    }
    fs::rename(desk.path("gone"), desk.path("in")).unwrap();
    let back = night(&desk, 10);
    assert_eq!(back.code, 0, "{}", back.stderr);
    assert_eq!(record(&desk, 10)["against"], name(2));
}

#[test]
fn on_a_first_night_a_missing_input_is_a_wrong_request_and_leaves_no_record() {
    let desk = desk("");
    fs::remove_dir_all(desk.path("in")).unwrap();
    let refused = night(&desk, 1);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert_eq!(status(&desk)["nights"].as_array().unwrap().len(), 0);
}

#[test]
fn an_empty_or_broken_night_never_takes_the_place_of_a_good_one() {
    let desk = desk("");
    assert_eq!(night(&desk, 1).code, 0);
    desk.write("in/one.json", "");
    desk.write("in/two.json", "");
    let empty = night(&desk, 2);
    assert_eq!(empty.code, 1, "{}", empty.stderr);
    assert_eq!(record(&desk, 2)["state"], "objected");
    assert_eq!(record(&desk, 2)["verdict"], "nothing-read");
    assert_eq!(latest(&desk), name(1));
    desk.write("in/one.json", &good_chat("one").to_string());
    desk.write("in/two.json", "{\"half\": ");
    let half = night(&desk, 3);
    assert_eq!(half.code, 1, "{}", half.stderr);
    assert_eq!(record(&desk, 3)["verdict"], "too-many-rejects");
    assert_eq!(record(&desk, 3)["against"], name(1));
    assert_eq!(latest(&desk), name(1));
    assert!(half.stdout.contains("is objected"), "{}", half.stdout);
}

#[test]
fn what_objects_every_night_alarms_every_night_until_it_is_accepted() {
    let desk = desk("fail_if = [\"conversations > 5%\"]\n");
    assert_eq!(night(&desk, 1).code, 0);
    desk.write("in/three.json", &good_chat("three").to_string());
    for day in 2..=3 {
        assert_eq!(night(&desk, day).code, 1);
        assert_eq!(record(&desk, day)["against"], name(1));
    }
    let accept = |night: &str| end(desk.chatmill(&["night", "accept", night, "--store", "nights"]));
    let accepted = accept(&name(3));
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    assert_eq!(latest(&desk), name(3));
    assert_eq!(night(&desk, 4).code, 0);
    assert_eq!(record(&desk, 4)["against"], name(3));
    for (wrong, reason) in [
        (name(1), "is good"),
        (name(9), "no night"),
        ("x".to_owned(), "no night"),
    ] {
        let refused = accept(&wrong);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

#[test]
fn so_many_good_nights_are_kept_and_each_months_first() {
    let desk = desk("keep = 2\n");
    assert_eq!(at(&desk, "2026-10-30T02:15:00Z").code, 0);
    for day in 1..=5 {
        assert_eq!(night(&desk, day).code, 0);
    }
    let kept: Vec<bool> = (1..=5).map(|day| dataset(&desk, day).is_dir()).collect();
    assert_eq!(kept, [true, false, false, true, true]);
    assert!(desk.path("nights/2026-10-30T021500Z/dataset").is_dir());
    let status = status(&desk);
    assert_eq!(status["nights"].as_array().unwrap().len(), 6, "records stay");
    assert_eq!(status["last_good"], name(5));
}

#[test]
fn files_of_others_in_the_store_are_never_touched() {
    let desk = desk("keep = 1\n");
    assert_eq!(at(&desk, "2026-10-30T02:15:00Z").code, 0);
    assert_eq!(night(&desk, 1).code, 0);
    assert_eq!(night(&desk, 2).code, 0);
    let own = [
        desk.write("nights/notes.txt", "mine"),
        desk.write("nights/records/notes.txt", "mine"),
        desk.write("nights/2026-11-20/notes.txt", "mine"),
        desk.write(&format!("nights/{}/notes.txt", name(2)), "mine"),
        desk.write(&format!("nights/{}/mine.txt", name(4)), "mine"),
    ];
    for day in 3..=5 {
        let ended = night(&desk, day);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("is not removed"), "{}", ended.stderr);
    }
    for path in own {
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine", "{}", path.display());
    }
    assert!(dataset(&desk, 2).is_dir() && !dataset(&desk, 3).exists());
    assert!(
        !dataset(&desk, 4).exists(),
        "a folder without a record is nobody's night"
    );
    let refused = end(desk.chatmill(&["night", "nightly.toml", "--store", "in"]));
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

#[test]
fn what_is_derived_is_made_anew_when_it_is_damaged() {
    let desk = desk("");
    assert_eq!(night(&desk, 1).code, 0);
    desk.write("nights/history.parquet", "damaged");
    fs::remove_file(desk.path("nights/latest")).unwrap();
    std::os::unix::fs::symlink("nowhere", desk.path("nights/latest")).unwrap();
    assert_eq!(night(&desk, 2).code, 0);
    assert_eq!(latest(&desk), name(2));
    assert!(
        fs::read(desk.path("nights/history.parquet"))
            .unwrap()
            .starts_with(b"PAR1")
    );
}

#[test]
fn a_damaged_record_is_told_and_its_night_left_alone() {
    let desk = desk("keep = 1\n");
    assert_eq!(at(&desk, "2026-10-30T02:15:00Z").code, 0);
    for day in 1..=2 {
        assert_eq!(night(&desk, day).code, 0);
    }
    desk.write(&format!("nights/records/{}.json", name(2)), "{\"format\":");
    let ended = night(&desk, 3);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("is damaged"), "{}", ended.stderr);
    assert_eq!(record(&desk, 3)["against"], name(1));
    assert!(dataset(&desk, 2).is_dir());
    assert_eq!(status(&desk)["damaged"][0]["night"], name(2));
}

#[test]
fn a_good_night_whose_dataset_is_damaged_is_passed_over_and_that_is_said() {
    let desk = desk("");
    for day in 1..=2 {
        assert_eq!(night(&desk, day).code, 0);
    }
    fs::write(dataset(&desk, 2).join("manifest.json"), "{}").unwrap();
    let ended = night(&desk, 3);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(record(&desk, 3)["against"], name(1));
    assert!(
        ended.stdout.contains("cannot be compared with"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_changed_pipeline_is_said() {
    let desk = desk("");
    assert_eq!(night(&desk, 1).code, 0);
    let text = fs::read_to_string(desk.path("nightly.toml")).unwrap();
    desk.write(
        "nightly.toml",
        &text.replace("\"openai-chat\"", "\"openai-chat\", \"gryag-compact\""),
    );
    let second = night(&desk, 2);
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(
        second.stdout.contains("the pipeline changed"),
        "{}",
        second.stdout
    );
    // Who is told is no part of what is milled.
    desk.write(
        "nightly.toml",
        &fs::read_to_string(desk.path("nightly.toml"))
            .unwrap()
            .replace("[night]\n", "[night]\nkeep = 3\n"),
    );
    let third = night(&desk, 3);
    assert!(!third.stdout.contains("the pipeline changed"), "{}", third.stdout);
}

#[test]
fn somebody_is_told_by_a_program_that_knows_which_and_where() {
    let desk = desk("notify = [\"sh\", \"tell.sh\"]\nfail_if = [\"conversations < 2\"]\n");
    desk.write(
        "tell.sh",
        "echo \"$CHATMILL_NIGHT $CHATMILL_STATE $CHATMILL_EXIT_CODE\" >> told.txt\nhead -n 1 \"$CHATMILL_NOTE\" >> told.txt\n\
         test -d \"$CHATMILL_STORE\" && test -f \"$CHATMILL_JSON\" && test -f \"$CHATMILL_METRICS\"\n",
    );
    assert_eq!(night(&desk, 1).code, 0);
    fs::remove_file(desk.path("in/two.json")).unwrap();
    assert_eq!(night(&desk, 2).code, 1);
    fs::rename(desk.path("in"), desk.path("gone")).unwrap();
    assert_eq!(night(&desk, 3).code, 3);
    fs::rename(desk.path("gone"), desk.path("in")).unwrap();
    let told = fs::read_to_string(desk.path("told.txt")).unwrap();
    for (day, said) in [(1, "good 0"), (2, "objected 1"), (3, "failed 3")] {
        assert!(told.contains(&format!("{} {said}\n", name(day))), "{told}");
    }
    assert!(told.contains("# desk: night "), "{told}");
    // Whom nobody could tell, the exit code tells.
    desk.write("tell.sh", "exit 7\n");
    desk.write("in/two.json", &good_chat("two").to_string());
    let untold = night(&desk, 4);
    assert_eq!(untold.code, 1, "{}", untold.stderr);
    assert!(untold.stderr.contains("nobody was told"), "{}", untold.stderr);
    assert_eq!(latest(&desk), name(4));
}

#[test]
fn a_condition_that_cannot_be_understood_is_refused_before_anything_is_done() {
    for (section, reason) in [
        ("fail_if = [\"mood > 1\"]\n", "night.fail_if"),
        ("warn_if = [\"conversations < -1\"]\n", "-1%"),
        ("fail_if = [\"money > 1\"]\n", "no prices"),
        ("keep = 0\n", "night.keep"),
        ("keeps = 3\n", "keep"),
        ("prices = \"nowhere.toml\"\n", "nowhere.toml"),
    ] {
        let desk = desk(section);
        let refused = night(&desk, 1);
        assert_eq!(refused.code, 2, "{section}: {}", refused.stderr);
        assert!(refused.stderr.contains(reason), "{section}: {}", refused.stderr);
        assert!(
            !desk
                .path("nights/records")
                .join(format!("{}.json", name(1)))
                .exists()
        );
    }
}

#[test]
fn money_is_judged_and_told_where_there_are_prices() {
    let desk = desk("fail_if = [\"money{model=m} > 1\"]\nprices = \"prices.toml\"\n");
    let price = |per_million: &str| {
        desk.write(
            "prices.toml",
            &format!(
                "[[price]]\nmodel = \"m\"\nencoding = \"r50k_base\"\ncurrency = \"USD\"\nper_million = {per_million}\n\
                 date = \"2026-01-31\"\nsource = \"our contract\"\n"
            ),
        );
    };
    price("0.5");
    let cheap = night(&desk, 1);
    assert_eq!(cheap.code, 0, "{}", cheap.stdout);
    assert!(
        cheap.stdout.contains("Money: openai-chat for m 0.0001 USD"),
        "{}",
        cheap.stdout
    );
    price("1000000");
    let dear = night(&desk, 2);
    assert_eq!(dear.code, 1, "{}", dear.stdout);
    assert!(
        record(&desk, 2)["objections"][0]
            .as_str()
            .unwrap()
            .contains("money of openai-chat in m")
    );
}

#[test]
fn a_rehearsal_says_what_would_be_done_and_does_nothing() {
    let desk = desk("keep = 1\n");
    let rehearse = |day: u32| {
        let at = format!("2026-11-{day:02}T02:15:00Z");
        let arguments = [
            "night",
            "nightly.toml",
            "--store",
            "nights",
            "--dry-run",
            "--at",
            &at,
        ];
        end(desk.chatmill(&arguments))
    };
    let first = rehearse(1);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(first.stdout.contains("would mill 2 inputs"), "{}", first.stdout);
    assert!(!desk.path("nights").exists());
    assert_eq!(night(&desk, 1).code, 0);
    assert_eq!(night(&desk, 2).code, 0);
    let before = files(&desk.path("nights"));
    let third = rehearse(3);
    assert!(
        third
            .stdout
            .contains(&format!("would begin the night {}", name(3))),
        "{}",
        third.stdout
    );
    assert!(
        third
            .stdout
            .contains(&format!("would compare it with {}", name(2))),
        "{}",
        third.stdout
    );
    assert!(
        third
            .stdout
            .contains(&format!("would remove {} if it is good", name(2))),
        "{}",
        third.stdout
    );
    assert_eq!(files(&desk.path("nights")), before);
}

#[test]
fn a_store_among_the_inputs_is_refused() {
    let desk = desk("");
    let text = fs::read_to_string(desk.path("nightly.toml")).unwrap();
    desk.write("nightly.toml", &text.replace("in/*", "**/*.json"));
    let refused = |store: &str| end(desk.chatmill(&["night", "nightly.toml", "--store", store]));
    let first = refused("in/nights");
    assert_eq!(first.code, 0, "{}", first.stderr);
    let second = refused("in/nights");
    assert_eq!(second.code, 2, "{}", second.stderr);
    assert!(second.stderr.contains("lies in the store"), "{}", second.stderr);
}

#[test]
fn the_status_of_a_store_is_a_table_and_an_exit_code() {
    let desk = desk("fail_if = [\"conversations < 2\"]\n");
    let status = || end(desk.chatmill(&["night", "status", "--store", "nights"]));
    let none = status();
    assert_eq!(none.code, 2, "{}", none.stderr);
    assert_eq!(night(&desk, 1).code, 0);
    let good = status();
    assert_eq!(good.code, 0, "{}", good.stderr);
    assert!(
        good.stdout.contains(&format!("last good night: {}", name(1))),
        "{}",
        good.stdout
    );
    fs::remove_file(desk.path("in/two.json")).unwrap();
    assert_eq!(night(&desk, 2).code, 1);
    assert_eq!(status().code, 1);
}

#[test]
fn another_chatmill_is_said() {
    let desk = desk("");
    assert_eq!(night(&desk, 1).code, 0);
    let manifest = dataset(&desk, 1).join("manifest.json");
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    let text = fs::read_to_string(&manifest).unwrap();
    let older = text.replacen(&version, "\"version\": \"0.0.1\"", 1);
    assert_ne!(older, text);
    fs::write(&manifest, &older).unwrap();
    let marker = format!("{}\n", blake3::hash(older.as_bytes()).to_hex());
    fs::write(dataset(&desk, 1).join("_SUCCESS"), marker).unwrap();
    let second = night(&desk, 2);
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(
        second.stdout.contains("chatmill changed from 0.0.1"),
        "{}",
        second.stdout
    );
}

#[test]
fn a_selector_that_no_night_has_objects_and_the_night_is_complete() {
    let desk = desk("fail_if = [\"tokens{dialect=chatml} > 1\"]\n");
    let ended = night(&desk, 1);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let objection = record(&desk, 1)["objections"][0].as_str().unwrap().to_owned();
    assert!(objection.contains("neither run has"), "{objection}");
    assert!(dataset(&desk, 1).join("_SUCCESS").is_file());
}

#[test]
fn a_night_without_content_masks_the_rooms_that_it_names() {
    let desk = desk("");
    assert_eq!(night(&desk, 1).code, 0);
    desk.write("in/three.json", &good_chat("CANARY_room").to_string());
    let at = "2026-11-02T02:15:00Z";
    let arguments = [
        "night",
        "nightly.toml",
        "--store",
        "nights",
        "--at",
        at,
        "--no-content",
    ];
    let ended = end(desk.chatmill(&arguments));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let note = fs::read_to_string(desk.path(&format!("nights/{}/night.json", name(2)))).unwrap();
    for text in [&ended.stdout, &ended.stderr, &note, &record(&desk, 2).to_string()] {
        assert!(!text.contains("CANARY_room"), "{text}");
    }
    assert_eq!(record(&desk, 2)["grown"][0]["after"], 3);
}
