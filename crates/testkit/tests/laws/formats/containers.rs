//! A file that is compressed or in a zip is recognised like the file itself: tested for each sample of each format.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use chatmill_diag::Limits;
use chatmill_intake::discover::discover;
use chatmill_intake::{Event, Reader};
use chatmill_source::SOURCES;
use chatmill_testkit::samples::sample_files;
use chatmill_workshop::TestDir;
use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Every sample and every example, with a unique name.
fn files() -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for source in SOURCES {
        let folder = format!("sources/{}", source.id());
        let examples = sample_files(&format!("{folder}/example"));
        for path in sample_files(&folder).into_iter().chain(examples) {
            let name = path.file_name().unwrap().to_str().unwrap();
            if !name.ends_with(".expected.json") {
                files.push((format!("{}+{}+{name}", files.len(), source.id()), path));
            }
        }
    }
    files
}

/// The format that was recognised for each entry in the files of a path, by name.
fn taken_for(path: &Path) -> BTreeMap<String, Option<&'static str>> {
    let mut taken = BTreeMap::new();
    let limits = Limits::default();
    for input in discover(path.to_str().unwrap(), Path::new("")).unwrap() {
        let (mut reader, mut buffer) = (Reader::open(&input, &limits), Vec::new());
        while let Some(event) = reader.next(&mut buffer) {
            buffer.clear();
            if let Event::EntryStart { entry, head } = event {
                let name = if entry.is_empty() {
                    input.name().into_owned()
                } else {
                    entry
                };
                let source = chatmill_source::detect(&head, &limits).map(|evidence| evidence.source);
                taken.insert(name.trim_end_matches(".gz").to_owned(), source);
            }
        }
    }
    taken
}

#[test]
fn files_in_a_zip_and_compressed_files_are_recognised_as_plain_ones() {
    let test_dir = TestDir::new();
    let mut zip = ZipWriter::new(File::create(test_dir.path("all.zip")).unwrap());
    for (name, path) in files() {
        let bytes = fs::read(path).unwrap();
        zip.start_file(&name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&bytes).unwrap();
        test_dir.write(&format!("packed/{name}.gz"), packed.finish().unwrap());
        test_dir.write(&format!("plain/{name}"), bytes);
    }
    zip.finish().unwrap();
    let plain = taken_for(&test_dir.path("plain"));
    let recognised = plain.values().flatten().count();
    assert!(recognised > 2 * SOURCES.len(), "{recognised}");
    assert_eq!(taken_for(&test_dir.path("packed")), plain);
    assert_eq!(taken_for(&test_dir.path("all.zip")), plain);
}
