//! Golden dumps: a test for each fixture of each source. `BLESS=1 cargo test -p chatmill-source --test golden` writes them anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

mod dump;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use chatmill_diag::Limits;
use chatmill_golden::check;
use chatmill_intake::json;
use chatmill_source::{FrameView, SOURCES, Source};
use libtest_mimic::{Arguments, Failed, Trial};

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
        // What `chatmill example` prints may hold several records.
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
                    "{fixtures} fixtures beside the folder `example`: put one for each shape there; dumps of none: {left:?}"
                )
                .into());
                }
                Ok(())
            },
        ));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}; a source's fixtures stand there", folder.display()));
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
        // As it stands in the buffer once it is framed.
        let text = String::from_utf8(bytes)?;
        bytes = serde_json::json!({ "text": text }).to_string().into_bytes();
    }
    let limits = Limits::default();
    let document = json::scan(&bytes, limits.depth).map_err(|fault| format!("{fault:?}"))?;
    let frame = FrameView {
        document: &document,
        bytes: &bytes,
        start: 0,
        key: None,
    };
    let (reading, leftovers) = chatmill_source::read(source, &frame, &limits);
    assert!(reading.rows.balances());
    assert_eq!(reading.conversation.is_none(), reading.fault.is_some());
    let dumped = serde_json::to_string_pretty(&dump::whole(&reading, &leftovers.fields))? + "\n";
    check(&folder.join(dump_of(fixture)), &dumped)?;
    Ok(())
}
