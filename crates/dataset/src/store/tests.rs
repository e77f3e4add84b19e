//! The store: its contents, the entries that it refuses, and those that it does not touch.

use std::fs;
use std::path::Path;

use super::*;

fn name(text: &str) -> NightName {
    NightName::parse(text).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

const NIGHT: &str = "2026-11-22T021500Z";

#[test]
fn records_come_back_in_the_order_of_their_nights() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a/store");
    assert!(NightStore::find(&path).unwrap().is_none());
    let store = NightStore::open(&path).unwrap();
    for night in ["2026-11-23T021500Z", NIGHT] {
        store.write_record(&name(night), night.as_bytes()).unwrap();
    }
    fs::write(path.join("records/notes.txt"), "mine").unwrap();
    let nights = store.nights().unwrap();
    assert_eq!(nights, [name(NIGHT), name("2026-11-23T021500Z")]);
    let whole = RecordBytes::Whole(NIGHT.as_bytes().to_vec());
    assert_eq!(store.record(&nights[0]).unwrap(), Some(whole));
    assert_eq!(store.record(&name("2026-11-24T021500Z")).unwrap(), None);
    drop(store);
    let seen = NightStore::find(&path).unwrap().unwrap();
    assert_eq!(seen.nights().unwrap(), nights);
    assert_eq!(names(&path), [MARK, RECORDS]);
}

#[test]
fn one_process_locks_a_store_and_any_may_read_it() {
    let place = tempfile::tempdir().unwrap();
    let store = NightStore::open(place.path()).unwrap();
    let second = NightStore::open(place.path()).unwrap_err();
    assert!(matches!(second, DatasetError::Locked { .. }), "{second}");
    assert!(NightStore::find(place.path()).unwrap().is_some());
    drop(store);
    assert!(NightStore::open(place.path()).is_ok());
}

#[test]
fn a_foreign_folder_is_refused_and_stays() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("mine.txt"), "mine").unwrap();
    for refused in [
        NightStore::open(place.path()).unwrap_err(),
        NightStore::find(place.path()).unwrap_err(),
        NightStore::open(&place.path().join("mine.txt")).unwrap_err(),
    ] {
        assert!(matches!(refused, DatasetError::WrongPath { .. }), "{refused}");
    }
    assert_eq!(names(place.path()), ["mine.txt"]);
}

#[test]
fn temporary_files_of_a_killed_run_are_removed_and_no_other() {
    let place = tempfile::tempdir().unwrap();
    let temp = |stem: &str| place.path().join(format!(".{stem}.0123456789abcdef.new"));
    fs::write(temp(MARK), "half").unwrap();
    drop(NightStore::open(place.path()).unwrap());
    fs::write(temp(HISTORY), "half").unwrap();
    fs::write(temp("mine"), "mine").unwrap();
    let record = place
        .path()
        .join(format!("records/.{NIGHT}.json.0123456789abcdef.new"));
    fs::write(&record, "half").unwrap();
    drop(NightStore::open(place.path()).unwrap());
    assert!(!temp(HISTORY).exists() && !record.exists());
    assert!(temp("mine").exists());
}

#[test]
fn a_record_that_is_not_a_file_is_corrupt_and_no_error() {
    let place = tempfile::tempdir().unwrap();
    let store = NightStore::open(place.path()).unwrap();
    fs::create_dir(place.path().join(format!("records/{NIGHT}.json"))).unwrap();
    let found = store.record(&name(NIGHT)).unwrap().unwrap();
    assert!(matches!(found, RecordBytes::Corrupt(_)));
    assert_eq!(store.nights().unwrap(), [name(NIGHT)]);
}

#[test]
fn a_record_has_a_length_at_most() {
    let place = tempfile::tempdir().unwrap();
    let store = NightStore::open(place.path()).unwrap();
    let most = usize::try_from(RECORD_BYTES).unwrap();
    store.write_record(&name(NIGHT), &vec![b' '; most]).unwrap();
    let found = store.record(&name(NIGHT)).unwrap().unwrap();
    assert!(matches!(found, RecordBytes::Whole(_)));
    assert!(store.write_record(&name(NIGHT), &vec![b' '; most + 1]).is_err());
    fs::write(
        place.path().join(format!("records/{NIGHT}.json")),
        vec![b' '; most + 1],
    )
    .unwrap();
    let found = store.record(&name(NIGHT)).unwrap().unwrap();
    assert!(matches!(found, RecordBytes::Corrupt(_)));
}

#[test]
fn latest_links_to_a_night_and_never_replaces_other_files() {
    let place = tempfile::tempdir().unwrap();
    let store = NightStore::open(place.path()).unwrap();
    let latest = place.path().join("latest");
    for night in [NIGHT, "2026-11-23T021500Z"] {
        assert_eq!(store.set_latest(&name(night)).unwrap(), LatestLink::Set);
        assert_eq!(fs::read_link(&latest).unwrap(), Path::new(night));
    }
    fs::remove_file(&latest).unwrap();
    std::os::unix::fs::symlink("/nowhere", &latest).unwrap();
    assert_eq!(store.set_latest(&name(NIGHT)).unwrap(), LatestLink::Set);
    assert_eq!(fs::read_link(&latest).unwrap(), Path::new(NIGHT));
    fs::remove_file(&latest).unwrap();
    fs::write(&latest, "mine").unwrap();
    assert_eq!(store.set_latest(&name(NIGHT)).unwrap(), LatestLink::Foreign);
    assert_eq!(fs::read_to_string(&latest).unwrap(), "mine");
}

#[test]
fn the_history_replaces_any_older_one() {
    let place = tempfile::tempdir().unwrap();
    let store = NightStore::open(place.path()).unwrap();
    fs::write(place.path().join(HISTORY), "damaged").unwrap();
    let columns = [
        ("night".to_owned(), FreeKind::Text),
        ("conversations".to_owned(), FreeKind::Number),
    ];
    let rows = [
        vec![FreeCell::Text(NIGHT), FreeCell::Number(7)],
        vec![FreeCell::Text("2026-11-23T021500Z"), FreeCell::Missing],
    ];
    store.write_history(&columns, &rows).unwrap();
    let bytes = fs::read(place.path().join(HISTORY)).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    store.write_history(&columns, &[]).unwrap();
    drop(store);
    assert_eq!(names(place.path()), [MARK, HISTORY, RECORDS]);
}

#[test]
fn a_night_goes_with_all_that_is_ours_and_stays_with_anything_that_is_not() {
    let place = tempfile::tempdir().unwrap();
    let store = NightStore::open(place.path()).unwrap();
    let night = name(NIGHT);
    let folder = store.night(&night);
    let dataset = store.dataset(&night);
    let make = || {
        fs::create_dir_all(dataset.join("messages")).unwrap();
        fs::write(dataset.join("messages/part-00000-00000.parquet"), "rows").unwrap();
        fs::write(dataset.join("manifest.json"), "{}").unwrap();
        store.write_summary(&night, NIGHT_NOTE, b"said").unwrap();
        store.write_summary(&night, NIGHT_JSON, b"{}").unwrap();
    };
    make();
    store.remove(&night).unwrap();
    assert!(!folder.exists());
    store.remove(&night).unwrap();
    make();
    for own in [
        folder.join("notes.txt"),
        dataset.join("notes.txt"),
        dataset.join("messages/mine.txt"),
        dataset.join("report.html"),
    ] {
        fs::write(&own, "mine").unwrap();
        let refused = store.remove(&night).unwrap_err();
        assert!(matches!(refused, DatasetError::WrongPath { .. }), "{refused}");
        assert!(
            own.exists() && dataset.join("manifest.json").exists(),
            "{}",
            own.display()
        );
        fs::remove_file(&own).unwrap();
    }
    store.remove(&night).unwrap();
    assert!(!folder.exists());
    assert_eq!(store.nights().unwrap(), []);
}

#[test]
fn a_store_has_so_many_nights_at_most() {
    let place = tempfile::tempdir().unwrap();
    let store = NightStore::open(place.path()).unwrap();
    let record = |number: usize| {
        let (day, second) = (1 + number / 3600, number % 3600);
        let night = format!("2026-11-{day:02}T02{:02}{:02}Z", second / 60, second % 60);
        fs::write(place.path().join(format!("records/{night}.json")), "{}").unwrap();
    };
    (0..MAX_NIGHTS).for_each(record);
    assert_eq!(store.nights().unwrap().len(), MAX_NIGHTS);
    record(MAX_NIGHTS);
    let refused = store.nights().unwrap_err();
    assert!(refused.to_string().contains("start another store"), "{refused}");
}
