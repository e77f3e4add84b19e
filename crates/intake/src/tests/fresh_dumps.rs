//! Dumps that `oracle/dumps.sh` has just created, compared with the output of `psql` and `pg_restore`. Run by `just dumps`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::table::TableMap;
use crate::{Event, Reader, discover};
use chatmill_diag::Limits;
use serde_json::value::RawValue;

/// A row as texts: truth values and numbers, which `INSERT` statements have, are in the form of `COPY`.
type Texts = BTreeMap<String, Option<String>>;

fn texts(row: &str) -> Texts {
    let row: BTreeMap<String, Box<RawValue>> = serde_json::from_str(row).unwrap();
    let text = |value: Box<RawValue>| match value.get() {
        "null" => None,
        "true" => Some("t".to_owned()),
        "false" => Some("f".to_owned()),
        string if string.starts_with('"') => Some(serde_json::from_str(string).unwrap()),
        number => Some(number.to_owned()),
    };
    row.into_iter()
        .map(|(column, value)| (column, text(value)))
        .collect()
}

/// The rows of the only table with a map.
fn rows(folder: &Path, name: &str) -> Vec<Texts> {
    let map = TableMap {
        source: "oracle".to_owned(),
        table: "public.messages".to_owned(),
        ..TableMap::default()
    };
    let inputs = discover(name, folder).unwrap();
    assert_eq!(inputs.len(), 1, "{name}");
    let mut reader = Reader::open(&inputs[0], &Limits::default()).with_tables(vec![map].into());
    let (mut buffer, mut rows) = (Vec::new(), Vec::new());
    while let Some(event) = reader.next(&mut buffer) {
        match event {
            Event::Frame(frame) => rows.push(texts(std::str::from_utf8(&buffer[frame.buffer]).unwrap())),
            Event::FramingError(error) => panic!("{name}: {error:?}"),
            Event::Note(note) => panic!("{name}: {note:?}"),
            _ => {}
        }
    }
    rows
}

#[test]
#[ignore = "needs the dumps that `just dumps` makes"]
fn every_dump_gives_the_rows_that_psql_gives() {
    let folder = std::env::var_os("CHATMILL_DUMPS").expect("CHATMILL_DUMPS names the folder of the dumps");
    let folder = Path::new(&folder);
    let expected = fs::read_to_string(folder.join("messages.jsonl")).unwrap();
    let expected: Vec<Texts> = expected.lines().map(texts).collect();
    let count = fs::read_to_string(folder.join("messages.count")).unwrap();
    assert_eq!(expected.len().to_string(), count.trim());
    let mut compared = 0;
    for file in fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if !name.starts_with("messages.") {
            assert!(rows(folder, &name) == expected, "{name}");
            println!("{name}: {count} rows", count = expected.len());
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}
