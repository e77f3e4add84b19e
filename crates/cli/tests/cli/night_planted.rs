//! Names of nights that somebody took, before the night began or while it was interrupted: nothing is written, replaced or removed
//! through them, and the night after is a good one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use chatmill_workshop::Workshop;
use serde_json::Value;

use crate::desk::{Desk, Ended, end, good_chat};

/// Puts something where a night's folder would be; the first name is free, the second that of the good night before.
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

/// A desk with a pipeline over `in/*`, whose night section is given, and two chats.
fn desk(section: &str) -> Workshop {
    let desk = Workshop::new();
    let bare = include_str!("../cases/night/files/nightly.toml");
    desk.write("nightly.toml", format!("{bare}{section}"));
    for name in ["one", "two"] {
        desk.write(&format!("in/{name}.json"), good_chat(name).to_string());
    }
    desk
}

/// A night on this day of November.
fn night(desk: &Workshop, day: u32) -> Ended {
    at(desk, &format!("2026-11-{day:02}T02:15:00Z"))
}

fn at(desk: &Workshop, instant: &str) -> Ended {
    end(desk.chatmill(&["night", "nightly.toml", "--store", "nights", "--at", instant]))
}

fn name(day: u32) -> String {
    format!("2026-11-{day:02}T021500Z")
}

fn dataset(desk: &Workshop, day: u32) -> PathBuf {
    desk.path(&format!("nights/{}/dataset", name(day)))
}

fn latest(desk: &Workshop) -> String {
    let link = fs::read_link(desk.path("nights/latest")).unwrap();
    link.to_str().unwrap().to_owned()
}

/// Every name below a folder with what stands there; links are not followed.
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

/// A desk with a good night, and a folder of somebody else's beside the store.
fn milled() -> Workshop {
    let desk = desk("");
    desk.write("outside/mine.txt", "mine");
    let first = night(&desk, 1);
    assert_eq!(first.code, 0, "{}", first.stderr);
    desk
}

fn begun(desk: &Workshop, day: u32) {
    let text = format!(
        "{{\"format\":1,\"night\":\"{}\",\"state\":\"begun\",\"pipeline\":\"desk\",\"version\":\"0\",\
         \"began_at\":\"2026-11-{day:02}T02:15:00Z\",\"attempts\":1}}",
        name(day)
    );
    desk.write(&format!("nights/records/{}.json", name(day)), text);
}

/// What must not change, whatever is planted: what lies outside, and the good night.
fn kept(desk: &Workshop) -> [Vec<(String, Vec<u8>)>; 2] {
    [desk.path("outside"), dataset(desk, 1)].map(|folder| snapshot(&folder))
}

fn record_of(desk: &Workshop, name: &str) -> Value {
    let path = desk.path(&format!("nights/records/{name}.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn whatever_has_the_name_of_a_night_takes_it_and_the_next_second_is_used() {
    for (what, plant) in PLANTS {
        let desk = milled();
        let before = kept(&desk);
        let place = desk.path("nights").join(name(2));
        plant(&place, &name(1));
        let planted = fs::symlink_metadata(&place).unwrap().file_type();
        let second = night(&desk, 2);
        assert_eq!(second.code, 0, "{what}: {}", second.stderr);
        assert_eq!(record_of(&desk, "2026-11-02T021501Z")["state"], "good", "{what}");
        assert!(
            !desk.path(&format!("nights/records/{}.json", name(2))).exists(),
            "{what}"
        );
        assert_eq!(
            fs::symlink_metadata(&place).unwrap().file_type(),
            planted,
            "{what}"
        );
        assert_eq!(night(&desk, 3).code, 0, "{what}");
        assert_eq!(latest(&desk), name(3), "{what}");
        assert!(kept(&desk) == before, "{what}");
    }
}

#[test]
fn a_begun_night_whose_folder_somebody_took_failed_and_a_fresh_one_is_milled() {
    for (what, plant) in PLANTS {
        let desk = milled();
        let before = kept(&desk);
        begun(&desk, 2);
        plant(&desk.path("nights").join(name(2)), &name(1));
        let fresh = at(&desk, "2026-11-02T02:45:00Z");
        assert_eq!(fresh.code, 0, "{what}: {}", fresh.stderr);
        let failed = record_of(&desk, &name(2));
        assert_eq!(failed["state"], "failed", "{what}");
        let objection = failed["objections"][0].as_str().unwrap();
        assert!(objection.contains("its folder is gone"), "{what}: {objection}");
        assert_eq!(
            record_of(&desk, "2026-11-02T024500Z")["against"],
            name(1),
            "{what}"
        );
        assert_eq!(night(&desk, 3).code, 0, "{what}");
        assert!(kept(&desk) == before, "{what}");
    }
}

#[test]
fn a_link_in_the_place_of_a_begun_nights_dataset_or_its_unfinished_work_is_not_followed() {
    for planted in ["dataset", ".dataset.staging", ".dataset.lock"] {
        let desk = milled();
        let before = kept(&desk);
        begun(&desk, 2);
        let folder = desk.path("nights").join(name(2));
        fs::create_dir(&folder).unwrap();
        symlink(format!("../{}/dataset", name(1)), folder.join(planted)).unwrap();
        let refused = at(&desk, "2026-11-02T02:45:00Z");
        assert_eq!(refused.code, 2, "{planted}: {}", refused.stderr);
        assert_eq!(record_of(&desk, &name(2))["state"], "failed", "{planted}");
        assert_eq!(night(&desk, 3).code, 0, "{planted}");
        assert!(kept(&desk) == before, "{planted}");
    }
}

#[test]
fn a_link_in_the_place_of_an_old_night_is_kept_and_ends_no_night() {
    let desk = desk("keep = 1\n");
    desk.write("outside/dataset/mine.txt", "mine");
    let outside = snapshot(&desk.path("outside"));
    for day in 1..=2 {
        assert_eq!(night(&desk, day).code, 0);
    }
    let old = desk.path("nights").join(name(2));
    fs::rename(&old, desk.path("gone")).unwrap();
    symlink("../outside", &old).unwrap();
    for day in 3..=4 {
        let ended = night(&desk, day);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stderr.contains("is not removed"), "{}", ended.stderr);
    }
    assert!(snapshot(&desk.path("outside")) == outside && old.is_symlink());
}
