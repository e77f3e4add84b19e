//! Nights that grow in number or in size: the bill over a store, the page about all nights, and the steps after a night's run.

use std::path::{Path, PathBuf};

use chatmill_dataset::{Dataset, DatasetError, NightName, NightStore, RecordBytes, certify};
use chatmill_report::bill::{BillBy, BillRequest, PriceList, of_datasets};
use chatmill_report::night::{History, NIGHT_FORMAT, NightNote, NightRecord, NightState, new_codes};
use chatmill_report::trend::trend_page;
use chatmill_report::{Case, RunFigures, build_report, compare, save};
use chatmill_workshop::TestDir;

use crate::measured::{Taken, milled};
use crate::shapes::{Files, conversations};

/// A way in which nights grow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NightShape {
    /// The element that grows in number.
    pub name: &'static str,
    /// The command that is measured.
    pub command: &'static str,
    /// The first number that is measured.
    pub first: usize,
    /// The largest number that is measured: larger ones take too long.
    pub most: usize,
    /// Measures the command for a number of elements.
    pub take: fn(usize) -> Taken,
}

/// All of them.
pub(crate) const NIGHTS: &[NightShape] = &[
    NightShape {
        name: "nights of a store",
        command: "bill",
        first: 20,
        most: 160,
        take: billed,
    },
    NightShape {
        name: "nights of a store",
        command: "page",
        first: 400,
        most: 1_600,
        take: drawn,
    },
    NightShape {
        name: "rooms of a night",
        command: "night",
        first: 1_600,
        most: 6_400,
        take: concluded,
    },
];

const PIPELINE: &str = "[render]\ndialects = [\"openai-chat\"]\n";

/// A dataset of some rooms, in the folder `out`.
fn dataset(test_dir: &TestDir, files: Files, out: &str) -> PathBuf {
    for (name, bytes) in files {
        test_dir.write(&format!("in/{name}"), bytes);
    }
    milled(test_dir, out, PIPELINE);
    test_dir.path(out)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The cost of the bill over the datasets of all nights.
fn billed(n: usize) -> Taken {
    let test_dir = TestDir::new();
    let one = dataset(&test_dir, conversations(1), "out");
    let nights: Vec<PathBuf> = (0..n)
        .map(|night| test_dir.path(&format!("nights/{night}/dataset")))
        .collect();
    for night in &nights {
        copy(&one, night);
    }
    let folders: Vec<&Path> = nights.iter().map(PathBuf::as_path).collect();
    let request = BillRequest {
        by: vec![BillBy::Day],
        ..BillRequest::default()
    };
    Taken::by(|| {
        let (bill, _) = of_datasets::<DatasetError>(&folders, &request, &|_| Ok(())).unwrap();
        assert!(!bill.rows().is_empty(), "the bill must have rows");
    })
}

/// The cost of the page and the history of a store, from the records of its nights.
fn drawn(n: usize) -> Taken {
    let test_dir = TestDir::new();
    let figures = Dataset::open(&dataset(&test_dir, conversations(1), "out")).unwrap();
    let figures = RunFigures::of(&figures, &PriceList::default()).unwrap();
    let store = NightStore::open(&test_dir.path("nights")).unwrap();
    for night in 0..n {
        let (year, month, day) = (2000 + night / 336, night / 28 % 12 + 1, night % 28 + 1);
        let name = NightName::parse(&format!("{year}-{month:02}-{day:02}T021500Z")).unwrap();
        let record = NightRecord {
            format: NIGHT_FORMAT,
            night: name.to_string(),
            state: NightState::Good,
            figures: Some(figures.clone()),
            before: Some(figures.clone()),
            seconds: Some(1.0),
            ..NightRecord::default()
        };
        // Written without the store, which would wait for the disk each time.
        let bytes = serde_json::to_vec_pretty(&record).unwrap();
        test_dir.write(&format!("nights/records/{name}.json"), bytes);
    }
    Taken::by(|| {
        let names = store.nights().unwrap();
        let records: Vec<NightRecord> = names
            .iter()
            .map(|name| match store.record(name).unwrap() {
                Some(RecordBytes::Whole(bytes)) => serde_json::from_slice(&bytes).unwrap(),
                other => panic!("{name}: {other:?}"),
            })
            .collect();
        assert_eq!(records.len(), n);
        store
            .write_page(trend_page(&records).unwrap().as_bytes())
            .unwrap();
        let history = History::of(&records).unwrap();
        store.write_history(&history.columns, &history.cells()).unwrap();
    })
}

/// The cost of the steps after the run of a night with `n` chats: certifying, comparing with the night before, reporting.
fn concluded(n: usize) -> Taken {
    let test_dir = TestDir::new();
    let before = dataset(&test_dir, conversations(n), "before");
    // Every room except the first continues, and one is new.
    let mut files = conversations(n + 1);
    for (_, bytes) in &mut files {
        let text = String::from_utf8(std::mem::take(bytes)).unwrap();
        *bytes = text.replace("tide 3", "high tide at three").into_bytes();
    }
    let after = dataset(&test_dir, files, "after");
    Taken::by(|| {
        assert!(certify(&after).unwrap().holds());
        let (before, after_set) = (Dataset::open(&before).unwrap(), Dataset::open(&after).unwrap());
        let comparison = compare(&before, &after_set).unwrap();
        let case = Case::of(&before, &after_set, &comparison, &PriceList::default(), None).unwrap();
        let mut report = build_report(&after, None).unwrap();
        let record = NightRecord {
            new_codes: new_codes(&comparison),
            grown: comparison.conversations.grown.clone(),
            conversations: Some(comparison.conversations.clone()),
            figures: Some(case.after),
            ..NightRecord::default()
        };
        assert_eq!(record.figures.as_ref().unwrap().conversations, n as u64 + 1);
        report.comparison = Some(comparison);
        save(&after, &report).unwrap();
        assert!(!NightNote(&record).markdown().unwrap().is_empty());
    })
}
