//! Fixtures and their golden dumps. `BLESS=1 cargo test -p chatmill-source` writes the dumps anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use chatmill_diag::Limits;
use chatmill_source::SOURCES;

use crate::dump;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn every_source_has_a_folder_of_fixtures_and_every_folder_a_source() {
    let ids: BTreeSet<String> = SOURCES.iter().map(|source| source.id().to_owned()).collect();
    assert_eq!(ids.len(), SOURCES.len(), "ids are unique");
    for id in &ids {
        assert!(
            folder().join(id).is_dir(),
            "{id} has no samples: put small files, one for each shape, into data-samples/sources/{id}/, and \
             `just bless` writes what they are read as"
        );
    }
    for name in names(&folder()) {
        assert!(
            ids.contains(&name),
            "data-samples/sources/{name} belongs to no source: add its line to `sources!` in crates/source/src/lib.rs, or \
             remove the folder"
        );
    }
}

#[test]
fn fixtures_read_as_their_golden_dumps_say() {
    let bless = std::env::var_os("BLESS").is_some();
    for source in SOURCES {
        let folder = folder().join(source.id());
        let files = names(&folder);
        let mut expected: BTreeSet<String> = files
            .iter()
            .filter(|file| file.ends_with(".expected.json"))
            .cloned()
            .collect();
        let inputs: Vec<&String> = files
            .iter()
            .filter(|file| !file.ends_with(".expected.json") && *file != "vectors.json")
            // What `chatmill example` prints may hold several records.
            .filter(|file| *file != "example")
            .collect();
        assert!(
            !inputs.is_empty(),
            "data-samples/sources/{}/ has no file beside its folder `example`: put one for each shape there",
            source.id()
        );
        for input in inputs {
            let (stem, extension) = input.rsplit_once('.').unwrap();
            let mut bytes = fs::read(folder.join(input)).unwrap();
            if extension == "txt" {
                // As it stands in the buffer once it is framed.
                bytes = serde_json::json!({ "text": String::from_utf8(bytes).unwrap() })
                    .to_string()
                    .into_bytes();
            }
            let reading = dump::read(*source, &bytes, &Limits::default());
            assert!(reading.rows.balances(), "{input}");
            assert_eq!(reading.conversation.is_none(), reading.fault.is_some(), "{input}");
            let dumped = serde_json::to_string_pretty(&dump::reading(&reading)).unwrap() + "\n";
            let name = format!("{stem}.expected.json");
            if bless {
                fs::write(folder.join(&name), &dumped).unwrap();
            }
            let golden = fs::read_to_string(folder.join(&name)).unwrap_or_default();
            assert_eq!(
                dumped, golden,
                "{input}: run with BLESS=1 if the new dump is right"
            );
            expected.remove(&name);
        }
        assert!(
            expected.is_empty() || bless,
            "dumps without a fixture: {expected:?}"
        );
    }
}
