//! Names of nights that are already taken, before the night began or while it was interrupted: nothing is written, replaced or removed
//! through them, and the next night is a good one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use chatmill_workshop::TestDir;
use serde_json::Value;

use crate::test_dir::{Ended, RunChatmill, end, good_chat};

/// Puts something where the folder of a night would be; the first name is free, the second that of the last good night.
type Plant = fn(place: &Path, good: &str);

const PLANTS: &[(&str, Plant)] = &[
    ("a link to a folder outside", |place, _| {
        symlink("../outside", place).unwrap();
    }),
    ("a link to the last good night", |place, good| {
        symlink(good, place).unwrap();
    }),
    ("a link to nothing", |place, _| symlink("nowhere", place).unwrap()),
    ("a link to itself", |place, _| {
        symlink(place.file_name().unwrap(), place).unwrap();
    }),
    ("a file", |place, _| fs::write(place, "mine").unwrap()),
    ("a pipe", |place, _| {
        assert!(Command::new("mkfifo").arg(place).status().unwrap().success());
    }),
];

/// A test folder with a pipeline over `in/*`, which has this night section, and two chats.
fn test_dir(section: &str) -> TestDir {
    let test_dir = TestDir::new();
    let bare = include_str!("../cases/night/files/nightly.toml");
    test_dir.write("nightly.toml", format!("{bare}{section}"));
    for name in ["one", "two"] {
        test_dir.write(&format!("in/{name}.json"), good_chat(name).to_string());
    }
    test_dir
}

/// A night on this day of November.
fn night(test_dir: &TestDir, day: u32) -> Ended {
    at(test_dir, &format!("2026-11-{day:02}T02:15:00Z"))
}

fn at(test_dir: &TestDir, instant: &str) -> Ended {
    end(test_dir.chatmill(&["night", "nightly.toml", "--store", "nights", "--at", instant]))
}

fn name(day: u32) -> String {
    format!("2026-11-{day:02}T021500Z")
}

fn dataset(test_dir: &TestDir, day: u32) -> PathBuf {
    test_dir.path(&format!("nights/{}/dataset", name(day)))
}

fn latest(test_dir: &TestDir) -> String {
    let link = fs::read_link(test_dir.path("nights/latest")).unwrap();
    link.to_str().unwrap().to_owned()
}

/// Every name below a folder, with its content; links are not followed.
fn snapshot(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let bytes = if kind.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        found.push((format!("{} {kind:?}", path.display()), bytes));
        if kind.is_dir() {
            found.extend(snapshot(&path));
        }
    }
    found.sort();
    found
}

/// A test folder with a good night, and a foreign folder next to the store.
fn milled() -> TestDir {
    let test_dir = test_dir("");
    test_dir.write("outside/mine.txt", "mine");
    let first = night(&test_dir, 1);
    assert_eq!(first.code, 0, "{}", first.stderr);
    test_dir
}

fn begun(test_dir: &TestDir, day: u32) {
    let text = format!(
        "{{\"format\":1,\"night\":\"{}\",\"state\":\"begun\",\"pipeline\":\"desk\",\"version\":\"0\",\
         \"began_at\":\"2026-11-{day:02}T02:15:00Z\",\"attempts\":1}}",
        name(day)
    );
    test_dir.write(&format!("nights/records/{}.json", name(day)), text);
}

/// The things that must not change, whatever is planted: a folder outside, and the good night.
fn kept(test_dir: &TestDir) -> [Vec<(String, Vec<u8>)>; 2] {
    [test_dir.path("outside"), dataset(test_dir, 1)].map(|folder| snapshot(&folder))
}

fn record_of(test_dir: &TestDir, name: &str) -> Value {
    let path = test_dir.path(&format!("nights/records/{name}.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_taken_night_name_is_skipped_for_the_next_second() {
    for (what, plant) in PLANTS {
        let test_dir = milled();
        let before = kept(&test_dir);
        let place = test_dir.path("nights").join(name(2));
        plant(&place, &name(1));
        let planted = fs::symlink_metadata(&place).unwrap().file_type();
        let second = night(&test_dir, 2);
        assert_eq!(second.code, 0, "{what}: {}", second.stderr);
        assert_eq!(
            record_of(&test_dir, "2026-11-02T021501Z")["state"],
            "good",
            "{what}"
        );
        assert!(
            !test_dir
                .path(&format!("nights/records/{}.json", name(2)))
                .exists(),
            "{what}"
        );
        assert_eq!(
            fs::symlink_metadata(&place).unwrap().file_type(),
            planted,
            "{what}"
        );
        assert_eq!(night(&test_dir, 3).code, 0, "{what}");
        assert_eq!(latest(&test_dir), name(3), "{what}");
        assert!(kept(&test_dir) == before, "{what}");
    }
}

#[test]
fn a_begun_night_whose_folder_is_taken_fails_and_the_next_one_runs() {
    for (what, plant) in PLANTS {
        let test_dir = milled();
        let before = kept(&test_dir);
        begun(&test_dir, 2);
        plant(&test_dir.path("nights").join(name(2)), &name(1));
        let fresh = at(&test_dir, "2026-11-02T02:45:00Z");
        assert_eq!(fresh.code, 0, "{what}: {}", fresh.stderr);
        let failed = record_of(&test_dir, &name(2));
        assert_eq!(failed["state"], "failed", "{what}");
        let objection = failed["objections"][0].as_str().unwrap();
        assert!(objection.contains("its folder is gone"), "{what}: {objection}");
        assert_eq!(
            record_of(&test_dir, "2026-11-02T024500Z")["against"],
            name(1),
            "{what}"
        );
        assert_eq!(night(&test_dir, 3).code, 0, "{what}");
        assert!(kept(&test_dir) == before, "{what}");
    }
}

#[test]
fn a_link_in_the_place_of_a_begun_nights_dataset_or_its_unfinished_work_is_not_followed() {
    for planted in ["dataset", ".dataset.staging", ".dataset.lock"] {
        let test_dir = milled();
        let before = kept(&test_dir);
        begun(&test_dir, 2);
        let folder = test_dir.path("nights").join(name(2));
        fs::create_dir(&folder).unwrap();
        symlink(format!("../{}/dataset", name(1)), folder.join(planted)).unwrap();
        let refused = at(&test_dir, "2026-11-02T02:45:00Z");
        assert_eq!(refused.code, 2, "{planted}: {}", refused.stderr);
        assert_eq!(record_of(&test_dir, &name(2))["state"], "failed", "{planted}");
        assert_eq!(night(&test_dir, 3).code, 0, "{planted}");
        assert!(kept(&test_dir) == before, "{planted}");
    }
}

#[test]
fn a_link_in_the_place_of_an_old_night_is_kept_and_ends_no_night() {
    let test_dir = test_dir("keep = 1\n");
    test_dir.write("outside/dataset/mine.txt", "mine");
    let outside = snapshot(&test_dir.path("outside"));
    for day in 1..=2 {
        assert_eq!(night(&test_dir, day).code, 0);
    }
    let old = test_dir.path("nights").join(name(2));
    fs::rename(&old, test_dir.path("gone")).unwrap();
    symlink("../outside", &old).unwrap();
    for day in 3..=4 {
        let ended = night(&test_dir, day);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("is not removed"), "{}", ended.stderr);
    }
    assert!(snapshot(&test_dir.path("outside")) == outside && old.is_symlink());
}
