//! Rows that are not chats: no format matches them, in any wrapper. `no-chats/*.jsonl` has records, `*.log` lines.

use std::fs;
use std::path::Path;

use chatmill_diag::Limits;
use chatmill_intake::discover::discover;
use chatmill_intake::{Event, Framing, Head, Reader};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use super::{head, neighbours, verdict};

pub(super) fn trial() -> Trial {
    Trial::test("matrix/rows_that_are_no_chats", || {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/matrix/no-chats");
        let mut claimed = Vec::new();
        for name in super::super::names(&folder) {
            let text = fs::read_to_string(folder.join(&name))?;
            let path = folder.join(&name);
            let heads = if path.extension().is_some_and(|ending| ending == "jsonl") {
                heads(&text)?
            } else {
                vec![("whole".to_owned(), head_of_file(&path))]
            };
            for (how, head) in heads {
                let verdict = verdict(&head);
                if !verdict.starts_with("nobody") {
                    claimed.push(format!("{name}, {how}: {verdict}"));
                }
            }
        }
        match claimed.as_slice() {
            [] => Ok(()),
            _ => Err(Failed::from(claimed.join("\n"))),
        }
    })
}

/// The head of a file, cut as for detection.
fn head_of_file(path: &Path) -> Head {
    let inputs = discover(&path.to_string_lossy(), Path::new("")).unwrap();
    let mut reader = Reader::open(&inputs[0], &Limits::default());
    match reader.next(&mut Vec::new()) {
        Some(Event::EntryStart { head, .. }) => head,
        other => panic!("{}: {other:?}", path.display()),
    }
}

/// All rows of a file, and the neighbours of each, except those without one of its names, which may match any format.
fn heads(text: &str) -> Result<Vec<(String, Head)>, Failed> {
    let rows: Vec<&str> = text.lines().collect();
    let mut heads = vec![
        ("as lines".to_owned(), head(Framing::Lines, text.to_owned())),
        (
            "as an array".to_owned(),
            head(Framing::Array, format!("[{}]", rows.join(","))),
        ),
    ];
    for (number, row) in rows.into_iter().enumerate() {
        let record: Value = serde_json::from_str(row)?;
        for (how, framing, text) in neighbours(&record) {
            if !how.starts_with("without ") {
                heads.push((format!("row {number} {how}"), head(framing, text)));
            }
        }
    }
    Ok(heads)
}
