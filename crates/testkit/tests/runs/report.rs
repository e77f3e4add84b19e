//! Reports of datasets that whole runs wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use chatmill_dataset::{Dataset, Numbers, Texts, certify};
use chatmill_golden::assert_golden;
use chatmill_report::bill::{self, Bill, BillBy, BillRequest, BillRow};
use chatmill_report::{CARD, HTML, JSON, Report, compare};
use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;

/// Files of the demo that together have threads, broken lines, an archive, tools and a history.
const FILES: [&str; 5] = [
    "launch-week.json",
    "stand-ups.jsonl",
    "field-notes.zip",
    "tool-requests.jsonl",
    "yard.history.jsonl",
];

const PLAN: &str = "[render]\ndialects = [\"openai-chat\", \"gryag-gemini\", \"gryag-compact\", \"tzurot\"]\n\
                    [count]\nencodings = [\"cl100k_base\", \"r50k_base\"]\n[limits]\nmax_reject_ratio = 1.0\n";

/// A test folder with the files, milled into `out`.
fn milled(files: &[&str]) -> (TestDir, PathBuf) {
    let test_dir = TestDir::new();
    for file in files {
        let bytes = fs::read(samples().join("demo").join(file)).unwrap();
        test_dir.write(&format!("in/{file}"), bytes);
    }
    test_dir.run("out", PLAN, 1).unwrap();
    let out = test_dir.path("out");
    (test_dir, out)
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_report_of_the_demo_is_the_one_that_is_checked_in() {
    let (_test_dir, out) = milled(&FILES);
    let mut report = chatmill_report::write(&out, None).unwrap();
    // The fingerprint depends on every limit and on the version; other tests check that it is stable.
    report.run.fingerprint = "fingerprint".to_owned();
    let golden = samples().join("reports/demo.json");
    let text = chatmill_report::json(&report).unwrap();
    assert_golden(&golden, &text);
}

#[test]
fn report_json_is_of_the_shape_that_its_types_and_its_schema_say() {
    let (_test_dir, out) = milled(&FILES);
    let report = chatmill_report::write(&out, None).unwrap();
    let text = read(&out, JSON);
    let mut parsed: Report = serde_json::from_str(&text).unwrap();
    // Only the page has these.
    assert!(parsed.time.is_none() && parsed.found.is_empty());
    parsed.found.clone_from(&report.found);
    parsed.time.clone_from(&report.time);
    assert_eq!(parsed, report);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let schema = chatmill_report::schema();
    let fields = value.as_object().unwrap();
    for required in schema["required"].as_array().unwrap() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{required}");
    }
    for field in fields.keys() {
        assert!(
            schema["properties"][field].is_object(),
            "{field} is not in the schema"
        );
    }
}

#[test]
fn the_report_of_a_dataset_has_the_same_bytes_in_any_folder() {
    let (_first, one) = milled(&FILES);
    let (second, other) = milled(&FILES);
    second.run("threads", PLAN, 2).unwrap();
    for folder in [&one, &other, &second.path("threads")] {
        chatmill_report::write(folder, None).unwrap();
    }
    // One line of the page has the time and the duration of the run, which differ.
    let lasting = |folder: &Path, name: &str| -> String {
        let text = read(folder, name);
        let lines = text.lines().filter(|line| !line.contains("<p class=\"when\">"));
        lines.collect::<Vec<_>>().join("\n")
    };
    for name in [JSON, HTML, CARD] {
        let first = lasting(&one, name);
        assert_eq!(first, lasting(&other, name), "{name}");
        assert_eq!(first, lasting(&second.path("threads"), name), "{name}");
    }
}

#[test]
fn writing_reports_leaves_a_dataset_certified_and_nothing_beside_it() {
    let (test_dir, out) = milled(&FILES);
    let before: Vec<_> = names(&test_dir.path("."));
    for _ in 0..2 {
        chatmill_report::write(&out, None).unwrap();
    }
    assert_eq!(certify(&out).unwrap().problems, Vec::<String>::new());
    assert_eq!(names(&test_dir.path(".")), before);
    let size = fs::metadata(out.join(HTML)).unwrap().len();
    assert!(size < 1 << 20, "{size} bytes");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn figures_of_the_report_are_those_of_the_run() {
    let (test_dir, out) = milled(&FILES);
    let summary = test_dir.run("out", PLAN, 1).unwrap();
    let report = chatmill_report::build_report(&out, None).unwrap();
    let totals = &summary.totals;
    let run = &report.run;
    assert_eq!(
        (run.conversations, run.messages, run.renderings),
        (totals.conversations, totals.messages, totals.renderings)
    );
    assert_eq!(report.balance.framed, totals.framed);
    assert_eq!(report.balance.rejected, totals.rejected);
    assert!(report.balance.rejected > 0 && report.balance.balanced);
    for total in &totals.overview.renderings {
        let sum: u64 = totals
            .overview
            .renderings
            .iter()
            .filter(|other| {
                (&other.dialect, &other.encoding, &other.coverage)
                    == (&total.dialect, &total.encoding, &total.coverage)
            })
            .map(|other| other.tokens)
            .sum();
        let cell = report
            .tokens
            .rows
            .iter()
            .find(|cell| {
                (&cell.dialect, &cell.encoding, &cell.coverage)
                    == (&total.dialect, &total.encoding, &total.coverage)
            })
            .unwrap();
        assert_eq!(cell.tokens, sum);
        let parts = cell.parts.total();
        assert_eq!(cell.tokens, parts);
    }
    for (code, count) in &totals.findings {
        let found = report.findings.rows.iter().find(|row| row.code == *code).unwrap();
        assert_eq!(
            (found.errors, found.warnings, found.notes),
            (count.errors, count.warnings, count.notes)
        );
        assert!(!found.samples.is_empty() && !found.what.is_empty());
    }
}

/// Sums over the rows of a table by the texts in some columns; a missing text counts as empty.
fn summed<const N: usize>(
    dataset: &Dataset,
    table: &str,
    by: [&str; N],
    amount: Option<&str>,
) -> BTreeMap<[String; N], (u64, u64)> {
    let columns: Vec<&str> = by.into_iter().chain(amount).collect();
    let mut sums: BTreeMap<[String; N], (u64, u64)> = BTreeMap::new();
    for batch in dataset.batches(table, &columns) {
        let batch = batch.unwrap();
        let texts = by.map(|name| batch.column::<Texts>(name).unwrap());
        let amounts = amount.map(|name| batch.column::<Numbers>(name).unwrap());
        for row in 0..batch.rows() {
            let key = texts.each_ref().map(|texts| texts.at(row).to_owned());
            let sum = sums.entry(key).or_default();
            sum.0 += 1;
            sum.1 += amounts.as_ref().map_or(0, |amounts| amounts.at(row));
        }
    }
    sums
}

#[test]
fn sums_from_writing_equal_those_of_the_tables() {
    let (_test_dir, out) = milled(&FILES);
    let dataset = Dataset::open(&out).unwrap();
    let report = chatmill_report::build_report(&out, None).unwrap();
    let bill = bill::of_dataset(&dataset, &BillRequest::default(), Bill::default()).unwrap();
    let cells: Vec<_> = bill.rows().into_iter().map(|row| row.cell).collect();
    assert_eq!(report.tokens.rows, cells);
    assert_eq!(report.run.renderings, dataset.rows("renderings"));
    assert_eq!(report.run.conversations, dataset.rows("conversations"));

    let roles = summed(&dataset, "messages", ["role", "kind"], None);
    let found = report.roles.rows.iter();
    let found = found.map(|row| ([row.role.clone(), row.kind.clone()], (row.messages, 0)));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), roles);

    let losses = summed(&dataset, "losses", ["dialect", "profile", "code"], Some("amount"));
    let found = report.losses.rows.iter().map(|row| {
        let key = [&row.dialect, &row.profile, &row.code].map(Clone::clone);
        assert!(row.renderings > 0 && row.renderings <= losses[&key].0, "{key:?}");
        (key, row.amount)
    });
    let amounts = losses.iter().map(|(key, (_, amount))| (key.clone(), *amount));
    assert_eq!(
        found.collect::<BTreeMap<_, _>>(),
        amounts.collect::<BTreeMap<_, _>>()
    );

    let pairings = summed(&dataset, "tool_calls", ["status", "paired_by"], None);
    let found = report.tool_calls.rows.iter().map(|row| {
        let rule = row.paired_by.clone().unwrap_or_default();
        ([row.status.clone(), rule], (row.count, 0))
    });
    assert_eq!(found.collect::<BTreeMap<_, _>>(), pairings);
    assert!(!pairings.is_empty());

    let statuses = summed(&dataset, "message_references", ["status", "path"], None);
    let made = statuses.iter().filter(|([_, path], _)| !path.contains('.'));
    let mut references: BTreeMap<String, u64> = BTreeMap::new();
    for ([status, _], (count, _)) in made {
        *references.entry(status.clone()).or_default() += count;
    }
    let found = report.references.rows.iter();
    let found = found.map(|row| (row.status.clone(), row.count));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), references);
    assert!(!references.is_empty());
}

#[test]
fn a_run_that_writes_few_tables_has_the_figures_of_one_that_writes_all() {
    let (test_dir, out) = milled(&FILES);
    test_dir
        .run("few", &format!("tables = [\"totals\"]\n{PLAN}"), 1)
        .unwrap();
    let whole = chatmill_report::build_report(&out, None).unwrap();
    let mut few = chatmill_report::write(&test_dir.path("few"), None).unwrap();
    assert_eq!(few.run.absent_tables.len(), 8);
    assert_eq!(few.largest.query, "");
    assert_eq!(few.largest.rows, whole.largest.rows);
    few.run.absent_tables.clear();
    // The value is read from the messages, and the time differs between runs.
    assert!(few.dearest.is_none());
    few.dearest.clone_from(&whole.dearest);
    few.time.clone_from(&whole.time);
    few.run.fingerprint.clone_from(&whole.run.fingerprint);
    assert_eq!(few.run, whole.run);
    assert_eq!(few.tokens.rows, whole.tokens.rows);
    assert_eq!(few.losses.rows, whole.losses.rows);
    assert_eq!(few.inputs, whole.inputs);
    assert_eq!(few.findings, whole.findings);
    for (one, other) in few.distributions.iter().zip(&whole.distributions) {
        assert_eq!((&one.bins, one.sum), (&other.bins, other.sum), "{}", one.name);
    }
    assert!(certify(&test_dir.path("few")).unwrap().holds());
}

#[test]
fn bills_by_group_add_up_to_the_whole() {
    let (_test_dir, out) = milled(&FILES);
    let dataset = Dataset::open(&out).unwrap();
    let sums = |by: &[BillBy], text: bool| -> [u64; 6] {
        let request = BillRequest {
            by: by.to_vec(),
            text,
            ..BillRequest::default()
        };
        let bill = bill::of_dataset(&dataset, &request, Bill::default()).unwrap();
        let mut sums = [0; 6];
        for BillRow { cell, .. } in bill.rows() {
            let counts = [
                cell.tokens,
                cell.written,
                cell.bytes,
                cell.requests,
                cell.tokens_sent,
                cell.messages_rendered,
            ];
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        sums
    };
    let whole = sums(&[], false);
    assert!(whole[0] > 0 && whole[1] > 0 && whole[3] > 0, "{whole:?}");
    let text = sums(&[], true);
    assert!(text[0] > text[1] && text[1] > 0, "{text:?}");
    for by in [
        BillBy::Source,
        BillBy::Conversation,
        BillBy::Room,
        BillBy::Input,
        BillBy::Day,
        BillBy::Model,
    ] {
        assert_eq!(sums(&[by], false), whole, "{by:?}");
        assert_eq!(sums(&[by], true), text, "{by:?}");
    }
    for by in [BillBy::Participant, BillBy::Role, BillBy::Tool] {
        assert_eq!(sums(&[by], false), text, "{by:?}");
        assert_eq!(sums(&[by, BillBy::Day], true), text, "{by:?}");
    }
    assert_eq!(sums(&[BillBy::Day, BillBy::Model], false), whole);
}

#[test]
fn sent_tokens_equal_the_totals_and_exceed_stored_tokens() {
    let (_test_dir, out) = milled(&FILES);
    let dataset = Dataset::open(&out).unwrap();
    let report = chatmill_report::build_report(&out, None).unwrap();
    let mut totals: BTreeMap<[String; 3], [u64; 3]> = BTreeMap::new();
    let columns = [
        "dialect",
        "encoding",
        "coverage",
        "assistant_content",
        "requests",
        "tokens_sent",
    ];
    dataset
        .scan("totals", &columns, &mut |batch| {
            let keys = ["dialect", "encoding", "coverage"].map(|name| batch.column::<Texts>(name).unwrap());
            let sums = ["assistant_content", "requests", "tokens_sent"]
                .map(|name| batch.column::<Numbers>(name).unwrap());
            for row in 0..batch.rows() {
                let key = keys.each_ref().map(|texts| texts.at(row).to_owned());
                let entry = totals.entry(key).or_default();
                for (sum, more) in entry.iter_mut().zip(&sums) {
                    *sum += more.at(row);
                }
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(totals.len(), report.tokens.rows.len());
    for cell in &report.tokens.rows {
        let key = [&cell.dialect, &cell.encoding, &cell.coverage].map(Clone::clone);
        assert_eq!(
            [cell.assistant_content, cell.requests, cell.tokens_sent],
            totals[&key],
            "{key:?}"
        );
    }
    let whole = &report.tokens.rows[0];
    assert!(
        whole.requests > 1 && whole.tokens_sent > whole.tokens,
        "{whole:?}"
    );
    chatmill_report::write(&out, None).unwrap();
    assert!(read(&out, HTML).contains("<h3>As served</h3>"));
    assert!(read(&out, CARD).contains("Tokens sent (estimate)"));
}

#[test]
fn a_comparison_lists_added_removed_and_changed_conversations() {
    let (before_shop, before) = milled(&FILES);
    let dataset = Dataset::open(&before).unwrap();
    let same = compare(&dataset, &dataset).unwrap();
    let changes = &same.conversations;
    assert_eq!((changes.added, changes.removed, changes.changed), (0, 0, 0));
    assert_eq!(changes.same, changes.count.before);
    assert!(same.losses.is_empty());
    assert!(same.tokens.iter().all(|change| change.before == change.after));

    let shop = TestDir::new();
    for file in ["stand-ups.jsonl", "assistant.json"] {
        shop.write(
            &format!("in/{file}"),
            fs::read(samples().join("demo").join(file)).unwrap(),
        );
    }
    let week = fs::read_to_string(before_shop.path("in/launch-week.json")).unwrap();
    // The same conversation with one more word in every message.
    shop.write(
        "in/launch-week.json",
        week.replace("\"content\": \"", "\"content\": \"Well, "),
    );
    shop.run("out", PLAN, 1).unwrap();
    let after = shop.path("out");
    let report = chatmill_report::write(&after, Some(&before)).unwrap();
    let comparison = report.comparison.unwrap();
    let changes = &comparison.conversations;
    assert_eq!((changes.added, changes.changed), (1, 1));
    assert_eq!(changes.same, 5);
    assert_eq!(changes.removed, changes.count.before - 6);
    assert_eq!(changes.added_ids.len(), 1);
    for change in &comparison.tokens {
        let (before, after) = (change.before.unwrap(), change.after.unwrap());
        assert!(before.tokens_common < before.tokens, "{change:?}");
        assert!(after.tokens_common > before.tokens_common, "{change:?}");
    }
    assert!(read(&after, HTML).contains("id=\"comparison\""));
}

#[test]
fn a_run_that_counts_nothing_and_finds_nothing_has_a_report() {
    let test_dir = TestDir::new();
    test_dir.write("in/empty.jsonl", "{\"broken\": \n");
    let plan = "[count]\nencodings = []\n[limits]\nmax_reject_ratio = 1.0\n";
    test_dir.run("out", plan, 1).unwrap();
    let report = chatmill_report::write(&test_dir.path("out"), None).unwrap();
    assert_eq!((report.run.conversations, report.balance.rejected), (0, 1));
    assert!(report.tokens.rows.is_empty());
    assert!(certify(&test_dir.path("out")).unwrap().holds());
}

#[test]
fn every_table_with_rows_is_a_configuration_of_the_card_and_the_others_are_named() {
    let (_test_dir, out) = milled(&FILES[..1]);
    let dataset = Dataset::open(&out).unwrap();
    chatmill_report::write(&out, None).unwrap();
    let card = read(&out, CARD);
    let front = card.split("---\n").nth(1).unwrap();
    for table in chatmill_dataset::TABLES {
        let config = format!("- config_name: {table}\n");
        let has_rows = dataset.rows(table) > 0;
        assert_eq!(front.contains(&config), has_rows, "{table}");
        let path = format!("path: {table}/*.parquet\n");
        assert_eq!(front.contains(&path), has_rows, "{table}");
        let line = card.lines().find(|line| line.starts_with("Without rows: "));
        assert_eq!(
            line.is_some_and(|line| line.contains(&format!("`{table}`"))),
            !has_rows,
            "{table}"
        );
    }
}
