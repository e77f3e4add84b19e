//! Golden dumps: a test for each fixture of each source; for each `readings/<source>/<what happens>.json` next to this file (the rows of a
//! conversation) or `.jsonl` (a conversation on each line); for each `detection/<what happens>.txt` (a head on each line), with the recognised
//! formats; and for each file of cases in `rows`. `BLESS=1 cargo test -p chatmill-source --test golden` updates the dumps.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

mod containers;
mod dump;
mod grammars;
mod matrix;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use chatmill_diag::Limits;
use chatmill_golden::{check, check_cases};
use chatmill_intake::{Framing, Head, json};
use chatmill_source::{Evidence, FrameView, Reading, SOURCES, Source, TableMap, UnreadReport, find};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let mut trials = Vec::new();
    for source in SOURCES.iter().copied() {
        let id = source.id();
        let folder = root.join(id);
        let files = names(&folder);
        let (dumps, fixtures): (Vec<String>, Vec<String>) = files
            .into_iter()
            .partition(|file| file.ends_with(".expected.json"));
        let mut expected = BTreeSet::new();
        // The output of `chatmill example` may have several records.
        let is_one = |file: &String| !["vectors.json", "example"].contains(&file.as_str());
        for fixture in fixtures.into_iter().filter(is_one) {
            expected.insert(dump_of(&fixture));
            let folder = folder.clone();
            trials.push(Trial::test(format!("{id}/{fixture}"), move || {
                is_golden(source, &folder, &fixture)
            }));
        }
        trials.push(Trial::test(
            format!("{id}/has_fixtures_and_their_dumps"),
            move || {
                let left: Vec<&String> = dumps.iter().filter(|dump| !expected.contains(*dump)).collect();
                if expected.is_empty() || !left.is_empty() {
                    let fixtures = expected.len();
                return Err(format!(
                    "{fixtures} fixtures next to the folder `example`: put one for each shape there; dumps without a fixture: {left:?}"
                )
                .into());
                }
                Ok(())
            },
        ));
        trials.extend(readings(source));
    }
    trials.extend(detections());
    for (name, outcome) in [
        ("grouped", grouped as fn(&str) -> String),
        ("keys", keys),
        ("tables", tables),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/rows/{name}.txt"));
        trials.push(Trial::test(format!("rows/{name}"), move || {
            Ok(check_cases(&path, outcome)?)
        }));
    }
    trials.extend(matrix::trials());
    trials.extend(grammars::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test for each reading of a source.
fn readings(source: &'static dyn Source) -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/readings")
        .join(source.id());
    if !folder.is_dir() {
        return Vec::new();
    }
    let (dumps, inputs): (Vec<String>, Vec<String>) = names(&folder)
        .into_iter()
        .partition(|file| file.ends_with(".expected.json"));
    assert!(
        dumps
            .iter()
            .all(|dump| inputs.iter().any(|input| dump_of(input) == *dump)),
        "{dumps:?}"
    );
    let trial = |input: String| {
        let folder = folder.clone();
        let name = format!("readings/{}/{input}", source.id());
        Trial::test(name, move || is_read(source, &folder, &input))
    };
    inputs.into_iter().map(trial).collect()
}

/// A test for each file of heads.
fn detections() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/detection");
    let inputs = names(&folder)
        .into_iter()
        .filter(|name| !name.ends_with(".expected.txt"));
    let trial = |input: String| {
        let path = folder.join(&input);
        Trial::test(format!("detection/{input}"), move || is_detected(&path))
    };
    inputs.map(trial).collect()
}

/// The source that a case names, and the rest of the case.
fn of_source(case: &str) -> (&'static dyn Source, &str) {
    let (id, rest) = case.split_once(' ').unwrap();
    (find(id).unwrap(), rest)
}

/// Whether the records of an entry are grouped.
fn grouped(case: &str) -> String {
    let (source, rest) = of_source(case);
    let (framing, text) = rest.split_once(' ').unwrap();
    let known = [Framing::Lines, Framing::Documents, Framing::Array];
    let head = Head {
        framing: *known
            .iter()
            .find(|known| format!("{known:?}") == framing)
            .unwrap(),
        complete: true,
        bytes: text.as_bytes().to_vec(),
    };
    let is_grouped = source.groups_rows(&head.sketch());
    if is_grouped { "grouped" } else { "not grouped" }.to_owned()
}

/// The rows of a frame, each with the conversations that it belongs to.
fn keys(case: &str) -> String {
    let (source, text) = of_source(case);
    let Some(rows) = source.rows(&json::scan(text.as_bytes(), 128).unwrap()) else {
        return "not cut".to_owned();
    };
    let row = |row: chatmill_source::Row| {
        let keys: Vec<String> = row.keys.iter().map(|key| format!("{key:?}")).collect();
        let keys_of_row = if keys.is_empty() {
            "everybody".to_owned()
        } else {
            keys.join(" ")
        };
        format!("{keys_of_row}: {}", text.get(row.span).unwrap())
    };
    let rows: Vec<String> = rows.into_iter().map(row).collect();
    if rows.is_empty() {
        "no rows".to_owned()
    } else {
        rows.join("\n")
    }
}

/// The map that reads a table.
fn tables(case: &str) -> String {
    let (source, rest) = of_source(case);
    let (table, columns) = rest.split_once(' ').unwrap();
    let columns: Vec<String> = columns.split(' ').map(str::to_owned).collect();
    let maps = source.tables();
    assert!(maps.iter().all(|map| map.source == source.id()));
    let found = TableMap::find(&maps, Some(table).filter(|table| *table != "-"), &columns);
    found.map_or_else(|| "not read".to_owned(), |map| map.name.clone())
}

/// Each head of a file, and below it the format detected for it as lines, as a document and, if it is a list, as an array.
fn is_detected(path: &Path) -> Result<(), Failed> {
    let mut told = String::new();
    for head in fs::read_to_string(path)?.lines() {
        writeln!(told, "{head}")?;
        let is_list = head.starts_with('[');
        let framings = [Framing::Lines, Framing::Documents, Framing::Array];
        for framing in framings.into_iter().take(if is_list { 3 } else { 2 }) {
            let head = Head {
                framing,
                complete: true,
                bytes: head.as_bytes().to_vec(),
            };
            match chatmill_source::detect(&head, &Limits::default()) {
                Some(Evidence {
                    source,
                    confidence,
                    why,
                }) => {
                    writeln!(
                        told,
                        "    {framing:?}: {source}, {confidence}: {}",
                        why.join("; ")
                    )?;
                }
                None => writeln!(told, "    {framing:?}: nothing")?,
            }
        }
    }
    check(&path.with_extension("expected.txt"), &told)?;
    Ok(())
}

fn is_read(source: &dyn Source, folder: &Path, input: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(folder.join(input))?;
    let are_several = Path::new(input)
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    let dumped = if are_several {
        text.lines().map(|line| read(source, line.as_bytes())).collect()
    } else {
        read(source, text.as_bytes())
    };
    check(
        &folder.join(dump_of(input)),
        &(serde_json::to_string_pretty(&dumped)? + "\n"),
    )?;
    Ok(())
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}; a source has fixtures there", folder.display()));
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// The name of the golden dump of a fixture.
fn dump_of(fixture: &str) -> String {
    let (stem, _) = fixture.rsplit_once('.').unwrap();
    format!("{stem}.expected.json")
}

fn is_golden(source: &dyn Source, folder: &Path, fixture: &str) -> Result<(), Failed> {
    let mut bytes = fs::read(folder.join(fixture))?;
    if Path::new(fixture)
        .extension()
        .is_some_and(|extension| extension == "txt")
    {
        // The text as it is in the buffer after framing.
        let text = String::from_utf8(bytes)?;
        bytes = serde_json::json!({ "text": text }).to_string().into_bytes();
    }
    let dumped = read(source, &bytes);
    assert_eq!(
        dumped.get("conversation").is_none(),
        dumped.get("fault").is_some()
    );
    check(
        &folder.join(dump_of(fixture)),
        &(serde_json::to_string_pretty(&dumped)? + "\n"),
    )?;
    Ok(())
}

/// The result of reading a record, complete.
fn read(source: &dyn Source, bytes: &[u8]) -> Value {
    let (reading, unread_report) = reading(source, bytes);
    assert!(reading.rows.balances());
    dump::whole(&reading, &unread_report.fields)
}

/// Reads a record, or the rows of a conversation.
fn reading(source: &dyn Source, bytes: &[u8]) -> (Reading, UnreadReport) {
    let limits = Limits::default();
    let document = json::scan(bytes, limits.depth).unwrap();
    let frame = FrameView::alone(&document, bytes);
    chatmill_source::read(source, &frame, &limits)
}
