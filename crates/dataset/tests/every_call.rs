//! Every call to the operating system fails once: what comes out is the same dataset or an error of the system, and a
//! repeat is clean.
//!
//! Of calls that come by the hundred the later ones are tried at intervals; `CHATMILL_EVERY_CALL=1` tries each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]
#![allow(clippy::disallowed_methods, reason = "tests look at the files")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use chatmill_dataset::rows::RejectRow;
use chatmill_dataset::{
    Certificate, Dataset, DatasetError, Folder, FreeCell, FreeKind, FreeTable, NIGHT_JSON, NIGHT_NOTE,
    NightName, NightStore, Opening, RecordBytes, Spill, certify, open, write_derived,
};
use chatmill_diag::faults::{Call, Fault, inject};
use support::{INPUT, manifest, options, publish, reject, seal_files, snapshot};

const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// Calls of a kind that are all tried.
const FIRST: u64 = 10;
/// From then on, one in so many.
const STEP: usize = 31;

/// One test at a time: a fault meets whoever makes the call.
static ALONE: Mutex<()> = Mutex::new(());

/// What is done in a folder; the second folder holds what was there before.
type Act = fn(&Path) -> Result<(), DatasetError>;

/// Tries an act with every call failing once, each in a fresh folder.
fn walk(name: &str, prepare: fn(&Path), act: Act) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let expected = {
        let folder = fresh(prepare);
        act(folder.path()).unwrap();
        snapshot(folder.path())
    };
    let step = if std::env::var_os("CHATMILL_EVERY_CALL").is_some() {
        1
    } else {
        STEP
    };
    let mut tried = 0;
    for call in Call::ALL {
        let calls = {
            let folder = fresh(prepare);
            let injected = inject(Fault {
                call,
                nth: 0,
                errno: EIO,
                lasting: false,
            });
            act(folder.path()).unwrap();
            injected.seen()
        };
        let later = (FIRST + 1..=calls).step_by(step);
        for nth in (1..=FIRST.min(calls)).chain(later) {
            let errno = if nth % 2 == 0 { ENOSPC } else { EIO };
            let what = format!("{name}: {call:?} {nth} of {calls}, error {errno}");
            let folder = fresh(prepare);
            let injected = inject(Fault {
                call,
                nth,
                errno,
                lasting: false,
            });
            let result = act(folder.path());
            drop(injected);
            tried += 1;
            match &result {
                // What cannot be tidied up is told by a notice, and tidied by the repeat.
                Ok(()) => assert!(asked_for(folder.path()) == expected, "{what}: another result"),
                Err(DatasetError::Io { .. } | DatasetError::NoSpace { .. }) => {
                    let left = left_behind(folder.path());
                    assert!(left.is_empty(), "{what}: left {left:?}");
                }
                Err(other) => panic!("{what}: {other}"),
            }
            assert_eq!(
                fs::read(folder.path().join("thesis.txt")).unwrap(),
                b"mine",
                "{what}"
            );
            if let Err(error) = act(folder.path()) {
                panic!("{what}: a repeat fails: {error}");
            }
            assert!(
                snapshot(folder.path()) == expected,
                "{what}: a repeat gives another result"
            );
        }
        // A signal is not an error at all.
        for nth in [1, 2, calls / 2, calls] {
            let folder = fresh(prepare);
            let injected = inject(Fault {
                call,
                nth,
                errno: EINTR,
                lasting: false,
            });
            act(folder.path()).unwrap();
            drop(injected);
            assert!(
                snapshot(folder.path()) == expected,
                "{name}: a signal at {call:?} {nth}"
            );
        }
    }
    println!("{name}: {tried} errors of the system");
    assert!(tried > 20, "{name}: only {tried}");
}

fn fresh(prepare: fn(&Path)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
    prepare(folder.path());
    folder
}

/// Every file but those of unfinished work.
fn asked_for(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = snapshot(folder);
    files.retain(|(name, _)| !name.starts_with(".out.staging/"));
    files
}

/// Names beside what was asked for; unfinished work that a repeat goes on with may stay.
fn left_behind(folder: &Path) -> Vec<String> {
    let mut names = support::names(folder);
    names.retain(|name| !["thesis.txt", "out", "ex", ".out.staging", "nights"].contains(&name.as_str()));
    names
}

fn nothing(_folder: &Path) {}

fn dataset(folder: &Path) {
    publish(&folder.join("out"), "plan-b", 1);
}

fn reported(folder: &Path) {
    dataset(folder);
    report(folder).unwrap();
}

/// A run of one slice and its reports.
fn run(folder: &Path, replace: bool) -> Result<(), DatasetError> {
    let staging = match open(&folder.join("out"), "plan-a", replace)? {
        Opening::Finished(_) => return Ok(()),
        Opening::Work(staging) => staging,
    };
    let done = staging.receipts::<String>()?.collect::<Result<Vec<_>, _>>()?;
    let files = if let Some(receipt) = done.into_iter().next() {
        receipt.files
    } else {
        let mut parts = staging.parts(0, &options())?;
        parts.push_reject(RejectRow {
            level: "frame",
            ..reject()
        })?;
        let files = parts.close()?;
        staging.commit(0, &files, &"body")?;
        files
    };
    let mut manifest = manifest("plan-a", 1);
    manifest.inputs.change(0, |input| {
        assert_eq!(input.path, INPUT);
        (input.framed, input.accepted, input.conversations) = (1, 0, 0);
        (input.decoded_bytes, input.accepted_bytes) = (10, 0);
    });
    let sealed = seal_files(staging, manifest, &files, &options())?;
    sealed.write_derived("run.json", b"{}")?;
    sealed.publish().map(drop)
}

fn report(folder: &Path) -> Result<(), DatasetError> {
    write_derived(
        &folder.join("out"),
        &[("report.json", b"{}"), ("README.md", b"card")],
    )
}

fn export(folder: &Path) -> Result<(), DatasetError> {
    if folder.join("ex").exists() {
        return Ok(());
    }
    let export = Folder::create(&folder.join("ex"))?;
    let mut lines = export.file("train.jsonl")?;
    lines.add(b"{}\n")?;
    lines.finish()?;
    let columns = [("id".to_owned(), FreeKind::Text)];
    let file = export.file("train.parquet")?;
    let mut table = FreeTable::create(file, &columns, options().compression)?;
    table.push(&[FreeCell::Text("1")])?;
    table.finish()?;
    export.publish()
}

fn read(folder: &Path) -> Result<(), DatasetError> {
    let out = folder.join("out");
    let Certificate { faults, .. } = certify(&out)?;
    assert_eq!(
        faults,
        Vec::<String>::new(),
        "an error of the system is not a fault of the dataset"
    );
    let dataset = Dataset::open(&out)?;
    let mut rows = 0;
    dataset.scan("messages", &["text"], &mut |batch| {
        rows += batch.rows();
        Ok(())
    })?;
    assert_eq!(rows, 1);
    Ok(())
}

fn spill(folder: &Path) -> Result<(), DatasetError> {
    let mut spill = Spill::new(folder.to_owned(), 2, 8);
    for number in 0..4_usize {
        spill.push(number % 2, b"head", b"body")?;
    }
    let mut seen = 0;
    for partition in 0..2 {
        spill.drain(partition, &mut |_, _| {
            seen += 1;
            Ok(())
        })?;
    }
    assert_eq!(seen, 4);
    Ok(())
}

fn night(day: u32) -> NightName {
    NightName::parse(&format!("2026-11-{day:02}T021500Z")).unwrap()
}

/// A store with a night that is to go.
fn store(folder: &Path) {
    let store = NightStore::open(&folder.join("nights")).unwrap();
    let dataset = store.dataset(&night(1));
    // A removal looks at names alone.
    fs::create_dir_all(dataset.join("messages")).unwrap();
    for name in ["manifest.json", "messages/part-00000-00000.parquet"] {
        fs::write(dataset.join(name), "{}").unwrap();
    }
    store.tell(&night(1), NIGHT_NOTE, b"said").unwrap();
}

/// A night is recorded, told of and linked, and another one goes.
fn nights(folder: &Path) -> Result<(), DatasetError> {
    let store = NightStore::open(&folder.join("nights"))?;
    store.write_record(&night(2), b"{}")?;
    store.tell(&night(2), NIGHT_JSON, b"{}")?;
    let columns = [("night".to_owned(), FreeKind::Text)];
    store.write_history(&columns, &[vec![FreeCell::Text("a")]])?;
    store.write_metrics(b"# EOF\n")?;
    store.set_latest(&night(2))?;
    store.remove(&night(1))?;
    assert_eq!(store.nights()?, [night(2)]);
    assert_eq!(store.record(&night(2))?, Some(RecordBytes::Whole(b"{}".to_vec())));
    Ok(())
}

#[test]
fn a_store_of_nights_is_as_before_or_as_after_each_step() {
    walk("nights", store, nights);
}

#[test]
fn a_run_ends_with_its_dataset_or_with_an_error_of_the_system() {
    walk("run", nothing, |folder| run(folder, false));
}

#[test]
fn replacing_ends_with_the_old_dataset_or_with_the_new_one() {
    walk("replace", reported, |folder| {
        let result = run(folder, true);
        assert!(certify_alone(folder), "neither the old dataset nor the new one");
        result
    });
}

/// Whether the dataset is whole, asked of the files themselves: the fault may still be waiting for a call of ours.
fn certify_alone(folder: &Path) -> bool {
    let out = folder.join("out");
    let manifest = fs::read(out.join("manifest.json")).unwrap();
    let marker = fs::read_to_string(out.join("_SUCCESS")).unwrap();
    marker == format!("{}\n", blake3::hash(&manifest).to_hex())
}

#[test]
fn reports_are_written_whole_or_not() {
    walk("report", dataset, report);
}

#[test]
fn an_export_appears_whole_or_not() {
    walk("export", nothing, export);
}

#[test]
fn an_error_of_the_system_is_never_taken_for_damage() {
    walk("read", dataset, read);
}

#[test]
fn rows_that_wait_leave_nothing() {
    walk("spill", nothing, spill);
}

#[test]
fn a_full_disk_is_told_by_its_name_and_the_work_goes_on_later() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for call in [Call::Create, Call::Write, Call::Sync, Call::Folder] {
        let folder = fresh(nothing);
        let injected = inject(Fault {
            call,
            nth: 4,
            errno: ENOSPC,
            lasting: true,
        });
        let error = run(folder.path(), false).unwrap_err();
        drop(injected);
        assert!(matches!(error, DatasetError::NoSpace { .. }), "{call:?}: {error}");
        assert!(error.to_string().contains("out"), "{error}");
        assert!(!folder.path().join("out").exists());
        run(folder.path(), false).unwrap();
        assert!(certify(&folder.path().join("out")).unwrap().holds());
    }
}

#[test]
fn after_the_rename_the_error_says_that_the_dataset_is_complete() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = fresh(nothing);
    let injected = inject(Fault {
        call: Call::Sync,
        nth: 0,
        errno: EIO,
        lasting: false,
    });
    run(folder.path(), false).unwrap();
    let last = injected.seen();
    drop(injected);
    let folder = fresh(nothing);
    let injected = inject(Fault {
        call: Call::Sync,
        nth: last,
        errno: EIO,
        lasting: false,
    });
    let error = run(folder.path(), false).unwrap_err();
    drop(injected);
    assert!(error.to_string().contains("complete"), "{error}");
    assert!(certify(&folder.path().join("out")).unwrap().holds());
    run(folder.path(), false).unwrap();
    assert_eq!(left_behind(folder.path()), Vec::<String>::new());
}
