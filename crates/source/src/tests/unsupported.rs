//! Unsupported formats are recognised by their structure; each has a small sample that we wrote.

use std::fs;
use std::path::Path;

use chatmill_diag::Limits;
use chatmill_intake::discover::discover;
use chatmill_intake::{Event, Head, Reader};

fn head(path: &Path) -> Head {
    let inputs = discover(&path.to_string_lossy(), Path::new(".")).unwrap();
    let mut reader = Reader::open(&inputs[0], &Limits::default());
    match reader.next(&mut Vec::new()) {
        Some(Event::EntryStart { head, .. }) => head,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_unsupported_sample_is_named_and_read_by_no_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/looks");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let id = path.file_stem().unwrap().to_string_lossy().into_owned();
        let head = head(&path);
        let sketch = head.sketch();
        let evidence = crate::detect(&head, &Limits::default());
        assert_eq!(evidence, None, "{id}");
        let format = crate::unsupported_format(&head, &sketch);
        assert_eq!(format.map(|format| format.id), Some(id.as_str()));
        assert!(crate::is_unsupported(&id.to_uppercase()));
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn samples_of_sources_are_no_unsupported_format() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let folders = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder.join("example")).unwrap());
    for path in files.map(|entry| entry.unwrap().path()) {
        let head = head(&path);
        // A source with a field map must be named; it recognises nothing.
        let is_mapped = path.file_stem().is_some_and(|stem| stem == "mapped");
        assert_eq!(
            crate::detect(&head, &Limits::default()).is_none(),
            is_mapped,
            "{}",
            path.display()
        );
    }
}

#[test]
fn every_text_sample_is_read_by_the_source_of_its_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources");
    let folders = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = files.map(|entry| entry.unwrap().path());
    let mut seen = 0;
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "txt")) {
        let own = path.parent().unwrap().file_name().unwrap().to_string_lossy();
        let evidence = crate::detect(&head(&path), &Limits::default());
        assert_eq!(
            evidence.map(|evidence| evidence.source),
            Some(own.as_ref()),
            "{}",
            path.display()
        );
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}
