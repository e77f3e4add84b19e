//! Dumps that are folders: with missing or linked files, or packed in other ways.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chatmill_diag::Limits;
use zip::CompressionMethod;

use super::{codes, folder, names, read as read_bytes, replace, rows};
use crate::discover::{InputKind, discover};
use crate::reader::Reader;
use crate::reader::testing::{Entry, gzip, lz4, map, open, read_all, read_tables, tar, zip, zstd};

/// The file of the table that a map names.
const MESSAGES: &str = "3367.dat.gz";

/// A copy of the sample, which tests may change.
fn copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    fs::create_dir(copy.path().join("dump")).unwrap();
    for file in fs::read_dir(folder("awkward-rows/folder")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.path().join("dump").join(file.file_name())).unwrap();
    }
    copy
}

fn read(parent: &Path) -> Vec<Entry> {
    let inputs = discover("dump", parent).unwrap();
    assert_eq!(inputs.len(), 1);
    assert_eq!(
        (&*inputs[0].name(), &inputs[0].kind),
        ("dump", &InputKind::Folder)
    );
    let reader = Reader::open(&inputs[0], &Limits::default());
    read_all(&mut reader.with_tables(vec![map("public.messages")].into()))
}

/// Changes one file of a copy and reads the copy.
fn changed(change: impl FnOnce(&Path)) -> Vec<Entry> {
    let copy = copy();
    change(&copy.path().join("dump"));
    read(copy.path())
}

#[test]
fn files_may_be_packed_in_any_way_or_not() {
    use std::io::Read as _;
    let packed = fs::read(folder("awkward-rows/folder").join(MESSAGES)).unwrap();
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_end(&mut text)
        .unwrap();
    let whole = changed(|_| {});
    assert_eq!(rows(&whole).len(), 5);
    for (name, bytes) in [
        ("3367.dat", text.clone()),
        ("3367.dat.lz4", lz4(&text)),
        ("3367.dat.zst", zstd(&text)),
    ] {
        let entries = changed(|dump| {
            fs::remove_file(dump.join(MESSAGES)).unwrap();
            fs::write(dump.join(name), bytes).unwrap();
        });
        assert_eq!(entries, whole, "{name}");
    }
}

/// The files of the sample as members of an archive, with the table of contents after the first `before` of them.
fn members(folder_name: &str, before: usize) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder("awkward-rows/folder")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap()).collect();
    files.sort_by_key(|file| (file.file_name() == "toc.dat", file.file_name()));
    let contents = files.pop().unwrap();
    files.insert(before, contents);
    let member = |file: fs::DirEntry| {
        let name = format!("{folder_name}{}", file.file_name().to_string_lossy());
        (name, fs::read(file.path()).unwrap())
    };
    files.into_iter().map(member).collect()
}

fn borrowed(members: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8])> {
    members.iter().map(|(name, bytes)| (&**name, &**bytes)).collect()
}

#[test]
fn a_folder_in_an_archive_gives_the_same_rows_wherever_its_table_of_contents_is() {
    let whole = changed(|_| {});
    let names_of = |entries: &[Entry]| {
        names(entries)
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>()
    };
    for (before, label) in [(0, "dump/"), (3, "./"), (8, ""), (8, "2026/dump/")] {
        let members = members(label, before);
        let expected: BTreeSet<String> = names(&whole)
            .iter()
            .map(|name| format!("{label}{name}"))
            .collect();
        let packed = tar(&borrowed(&members));
        for bytes in [packed.clone(), gzip(&packed)] {
            let entries = read_bytes(&bytes);
            assert_eq!(
                (rows(&entries), names_of(&entries)),
                (rows(&whole), expected.clone()),
                "{label}{before}"
            );
            assert_eq!(codes(&entries), [""; 0], "{label}{before}");
        }
        let outside = tempfile::tempdir().unwrap();
        let zip = zip(CompressionMethod::DEFLATE, &borrowed(&members));
        let reader = open(outside.path(), &zip, &Limits::default());
        let entries = read_all(&mut reader.with_tables(vec![map("public.messages")].into()));
        assert_eq!(
            (rows(&entries), names_of(&entries)),
            (rows(&whole), expected),
            "zip {label}{before}"
        );
        assert_eq!(codes(&entries), [""; 0], "zip {label}{before}");
    }
}

#[test]
fn two_folders_in_an_archive_stay_apart_and_what_is_missing_is_named() {
    let [mut first, second] = ["a/", "b/"].map(|label| members(label, 0));
    first.retain(|(name, _)| !name.ends_with(MESSAGES));
    let entries = read_bytes(&tar(&borrowed(&[first, second].concat())));
    assert_eq!(rows(&entries), rows(&changed(|_| {})));
    assert_eq!(codes(&entries), ["dump-incomplete"]);
    let missing = entries.iter().find(|entry| entry.name == "a").unwrap();
    assert_eq!(
        missing.messages(),
        ["the dump ends before the data of public.messages"]
    );
}

#[test]
fn files_of_such_names_without_a_dump_are_read_as_they_are() {
    let line: &[u8] = b"{\"a\":1}\n";
    let entries = read_bytes(&tar(&[
        ("7.dat", line),
        ("chat.jsonl", line),
        ("x/9.dat.gz", &gzip(line)),
    ]));
    assert_eq!(names(&entries), ["chat.jsonl", "7.dat", "x/9.dat.gz"]);
    assert!(entries.iter().all(|entry| entry.frames.len() == 1));
    let limits = Limits {
        spool: 8,
        ..Limits::default()
    };
    let entries = read_tables(
        &tar(&[("7.dat", line), ("8.dat", line)]),
        &limits,
        map("messages"),
    );
    assert_eq!(
        codes(&entries),
        ["decompression-limit"],
        "what is set aside is bounded"
    );
}

#[test]
fn a_missing_file_is_a_reject_of_its_table() {
    let entries = changed(|dump| fs::remove_file(dump.join(MESSAGES)).unwrap());
    assert_eq!(codes(&entries), ["dump-incomplete"]);
    assert_eq!(names(&entries).len(), 5);
    let damaged = entries
        .iter()
        .find(|entry| entry.name == "public.messages")
        .unwrap();
    assert_eq!(
        damaged.messages(),
        ["the dump has no file 3367.dat with the table's rows"]
    );
}

#[test]
fn a_cut_file_keeps_its_whole_rows() {
    let entries = changed(|dump| {
        let bytes = fs::read(dump.join(MESSAGES)).unwrap();
        fs::write(dump.join(MESSAGES), &bytes[..bytes.len() - 9]).unwrap();
    });
    assert_eq!(
        codes(&entries),
        ["truncated-stream"],
        "{:?}",
        entries.iter().flat_map(Entry::messages).collect::<Vec<_>>()
    );
    assert_eq!(rows(&entries), rows(&changed(|_| {}))[..rows(&entries).len()]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_names_do_not_lead_out() {
    let linked = changed(|dump| {
        fs::rename(dump.join(MESSAGES), dump.join("../elsewhere")).unwrap();
        std::os::unix::fs::symlink("../elsewhere", dump.join(MESSAGES)).unwrap();
    });
    assert_eq!(codes(&linked), ["(link-not-followed)"]);
    for name in [&b"../a.dat"[..], b"/abc.dat", b"..hidden", b"a\0bc.dat"] {
        let entries = changed(|dump| {
            let contents = fs::read(dump.join("toc.dat")).unwrap();
            fs::write(dump.join("toc.dat"), replace(&contents, b"3367.dat", name)).unwrap();
        });
        assert_eq!(
            codes(&entries),
            ["corrupt-stream"],
            "{}",
            String::from_utf8_lossy(name)
        );
    }
}

#[test]
fn a_broken_table_of_contents_is_the_reject_of_the_folder() {
    let entries = changed(|dump| {
        let contents = fs::read(dump.join("toc.dat")).unwrap();
        fs::write(dump.join("toc.dat"), &contents[..contents.len() - 1]).unwrap();
    });
    assert_eq!(
        (names(&entries), codes(&entries)),
        (vec![""], vec!["dump-incomplete".to_owned()])
    );
}

#[test]
fn the_hash_of_a_folder_covers_names_and_bytes() {
    let hash = |change: &dyn Fn(&Path)| {
        let copy = copy();
        let dump = copy.path().join("dump");
        change(&dump);
        crate::content_hash(&dump, &mut |_| true).unwrap().unwrap()
    };
    let whole = hash(&|_| {});
    assert_eq!(whole, hash(&|_| {}));
    let stored: u64 = fs::read_dir(folder("awkward-rows/folder"))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(whole.0, stored);
    let renamed = hash(&|dump| fs::rename(dump.join(MESSAGES), dump.join("3377.dat.gz")).unwrap());
    let emptied = hash(&|dump| fs::write(dump.join(MESSAGES), b"").unwrap());
    assert!(renamed.1 != whole.1 && emptied.1 != whole.1 && renamed.0 == whole.0);
    let copy = copy();
    assert_eq!(
        crate::content_hash(&copy.path().join("dump"), &mut |_| false).unwrap(),
        None
    );
}

#[test]
fn folders_among_other_files_are_found() {
    let copy = copy();
    fs::write(copy.path().join("chat.jsonl"), b"{}\n").unwrap();
    let kinds = |pattern: &str| -> Vec<(String, bool)> {
        let inputs = discover(pattern, copy.path()).unwrap();
        inputs
            .iter()
            .map(|input| (input.name().into_owned(), input.kind == InputKind::Folder))
            .collect()
    };
    let both = [("chat.jsonl".to_owned(), false), ("dump".to_owned(), true)];
    assert_eq!(kinds("."), both);
    assert_eq!(kinds("*"), both);
    assert_eq!(kinds("**"), both);
    assert_eq!(kinds("dump/"), [("dump".to_owned(), true)]);
    assert_eq!(
        kinds("dump/*.dat.gz").len(),
        7,
        "whoever names the files gets the files"
    );
}
