//! Dumps that were cut, corrupted or forged.

use chatmill_diag::Limits;
use chatmill_diag::limits::MIB;
use proptest::prelude::*;

use super::packed::{int, linked_lz4, packed};
use super::{codes, names, read, replace, rows, sample, split};
use crate::reader::testing::{map, read_tables, tar, zstd};

/// The header of an uncompressed dump in the custom format, and a table of contents with `entries` entries that have no data.
pub(super) fn header(minor: u8, entries: u32, padding: usize) -> Vec<u8> {
    let text = |text: &[u8]| [int(u32::try_from(text.len()).unwrap()), text.to_vec()].concat();
    let none = || vec![1, 1, 0, 0, 0];
    let mut bytes = [b"PGDMP\x01", &[minor, 0, 4, 8, 1][..]].concat();
    bytes.extend(if minor >= 15 { vec![0] } else { int(0) });
    bytes.extend((0..7).flat_map(int));
    bytes.extend((0..3).flat_map(|_| text(b"x")));
    bytes.extend(int(entries));
    for id in 0..entries {
        bytes.extend([int(id + 1), int(0), text(b"0"), text(b"1")].concat());
        bytes.extend(
            [
                text(&vec![b'n'; padding]),
                text(b"SCHEMA"),
                int(1),
                none(),
                none(),
                none(),
            ]
            .concat(),
        );
        bytes.extend([text(b"public"), none()].concat());
        if minor >= 14 {
            bytes.extend(none());
        }
        if minor >= 16 {
            bytes.extend(int(0));
        }
        bytes.extend([none(), none(), text(b"1"), none(), vec![3; 1], vec![0; 8]].concat());
    }
    bytes
}

#[test]
fn every_version_is_read_and_others_are_named() {
    for minor in 12..=16 {
        let entries = read(&header(minor, 3, 1));
        assert_eq!(codes(&entries), ["(empty-input)"], "1.{minor}");
    }
    for minor in [0, 11, 17] {
        let entries = read(&header(minor, 3, 1));
        assert_eq!(codes(&entries), ["unsupported-container"]);
        assert!(entries[0].messages()[0].contains(&format!("1.{minor}")));
    }
}

#[test]
fn the_table_of_contents_is_bounded_in_entries_and_in_names() {
    let read = |entries, padding, limits: &Limits| {
        codes(&read_tables(
            &header(16, entries, padding),
            limits,
            map("messages"),
        ))
    };
    let limits = Limits {
        archive_entries: 3,
        ..Limits::default()
    };
    assert_eq!(read(3, 1, &limits), ["(empty-input)"]);
    assert_eq!(read(4, 1, &limits), ["entry-limit"]);
    let limits = Limits {
        record: 112,
        ..Limits::default()
    };
    // For each entry, a name of 100 bytes, `SCHEMA` and `public` are kept.
    assert_eq!(read(1, 100, &limits), ["(empty-input)"]);
    assert_eq!(read(1, 101, &limits), ["record-too-long"]);
}

#[test]
fn a_length_larger_than_the_dump_is_a_framing_error() {
    let mut bytes = header(16, 0, 0);
    let count = bytes.len() - 5;
    bytes.truncate(count);
    let huge = [0, 0xFF, 0xFF, 0xFF, 0x7F];
    for tail in [
        [&int(1)[..], &int(1), &int(0), &huge].concat(),
        [&int(1)[..], &int(1), &int(0), &int(0), &int(0), &huge].concat(),
        huge.to_vec(),
    ] {
        let codes = codes(&read(&[&bytes[..], &tail].concat()));
        assert!(
            ["dump-incomplete", "record-too-long", "entry-limit"].contains(&codes[0].as_str()),
            "{codes:?}"
        );
    }
    let (mut contents, _) = split(&sample("five-rows/pg18-piped.dump"));
    let rows = [&[1][..], &int(0x0A11), &huge, b"abc"].concat();
    contents.extend(rows);
    assert!(!codes(&read(&contents)).is_empty());
}

#[test]
fn a_cut_dump_is_never_a_shorter_one() {
    for (name, contents_again) in [
        ("five-rows/pg18-redirected.dump", 7725 - 4203),
        ("awkward-rows/custom-stored-piped.dump", 0),
        ("awkward-rows/custom-inserts.dump", 0),
    ] {
        let dump = sample(name);
        let whole = read(&dump);
        let end_of_data = dump.len() - contents_again;
        for length in chatmill_drawn::some_of(5..dump.len(), 250).chain([end_of_data]) {
            let cut = read(&dump[..length]);
            let codes = codes(&cut);
            if length == end_of_data {
                assert_eq!(codes, [""; 0], "a dump that was piped ends here");
                continue;
            }
            assert!(
                codes.iter().any(|code| code == "dump-incomplete"),
                "{name} {length}: {codes:?}"
            );
            let rows = rows(&cut);
            assert_eq!(rows, super::rows(&whole)[..rows.len()], "{name} {length}");
        }
    }
}

#[test]
fn a_cut_tar_is_never_a_shorter_one() {
    let dump = sample("awkward-rows/dump.tar");
    let whole = read(&dump);
    // After the end mark there is only padding.
    for length in (520..dump.len() - 1024).step_by(97) {
        let cut = read(&dump[..length]);
        assert!(!codes(&cut).is_empty(), "{length}");
        let rows = rows(&cut);
        assert_eq!(rows, super::rows(&whole)[..rows.len()], "{length}");
    }
}

#[test]
fn missing_parts_are_named() {
    let (contents, blocks) = split(&sample("five-rows/pg18-piped.dump"));
    let entries = read(&contents);
    assert_eq!(names(&entries), [""]);
    assert_eq!(
        entries[0].messages(),
        ["the dump ends before the data of public.messages, public.threads"]
    );
    let inside = [&contents[..], &blocks[..200]].concat();
    let entries = read(&inside);
    assert_eq!(names(&entries), ["public.messages", ""]);
    assert_eq!(
        entries[0].messages(),
        ["the dump ends inside the data of public.messages"]
    );
    assert_eq!(
        entries[1].messages(),
        ["the dump ends before the data of public.threads"]
    );
}

#[test]
fn bytes_outside_entries_are_framing_errors() {
    let (contents, blocks) = split(&sample("five-rows/pg18-piped.dump"));
    let whole = [&contents[..], &blocks].concat();
    let unknown = [&whole[..], &[1], &int(77), &int(3), b"abc", &int(0)].concat();
    let entries = read(&unknown);
    assert_eq!(names(&entries), ["public.messages", "public.threads", ""]);
    assert_eq!(codes(&entries), ["corrupt-stream"]);
    assert_eq!(codes(&read(&[&whole[..], b"\x07"].concat())), ["corrupt-stream"]);
    let redirected = sample("five-rows/pg18-redirected.dump");
    assert_eq!(
        codes(&read(&[&redirected[..], b"more"].concat())),
        ["(trailing-garbage)"]
    );
    let objects = [
        &whole[..],
        &[3],
        &int(78),
        &int(5),
        &int(2),
        b"ab",
        &int(0),
        &int(0),
    ]
    .concat();
    assert_eq!(codes(&read(&objects)), [""; 0]);
    assert_eq!(codes(&read(&objects[..objects.len() - 3])), ["dump-incomplete"]);
}

#[test]
fn text_in_another_encoding_is_refused_where_it_is_wanted() {
    let dump = replace(
        &sample("awkward-rows/custom-stored-piped.dump"),
        b"client_encoding = 'UTF8'",
        b"client_encoding = 'WIN1'",
    );
    let entries = read(&dump);
    assert_eq!(codes(&entries), ["invalid-utf8"; 5]);
    assert_eq!(rows(&entries), [""; 0]);
    let wanted = entries
        .iter()
        .find(|entry| entry.name == "public.messages")
        .unwrap();
    assert!(wanted.messages()[0].contains("WIN1"));
}

#[test]
fn a_table_of_contents_alone_is_named() {
    let lone = sample("awkward-rows/folder/toc.dat");
    let entries = read(&lone);
    assert_eq!(codes(&entries), ["unsupported-container"]);
    assert!(entries[0].messages()[0].contains("folder"));
}

#[test]
fn a_tar_of_a_dump_may_hold_other_files() {
    let contents = sample("awkward-rows/folder/toc.dat");
    let files: [(&str, &[u8]); 4] = [
        ("toc.dat", &contents),
        ("blobs.toc", b""),
        ("notes.jsonl", b"{}\n{}\n"),
        ("restore.sql", b"SELECT 1;"),
    ];
    let entries = read(&tar(&files));
    assert_eq!(names(&entries), ["notes.jsonl", ""]);
    assert_eq!(entries[0].frames.len(), 2);
    assert_eq!(codes(&entries), ["dump-incomplete"]);
    let broken = read(&tar(&[("toc.dat", &contents[..1000]), ("3367.dat", b"x")]));
    assert_eq!(
        (names(&broken), codes(&broken)),
        (vec![""], vec!["dump-incomplete".to_owned()])
    );
}

proptest! {
    #![proptest_config(chatmill_drawn::law(40))]

    /// Whatever the bytes of a dump are, its entries are tiled, and two readings end in the same way.
    #[test]
    fn a_corrupt_dump_is_accounted_for(
        mut bytes in prop::sample::select(vec![
            sample("five-rows/pg15-file.dump"),
            sample("five-rows/pg18-redirected.dump"),
            sample("awkward-rows/custom-stored-piped.dump"),
            sample("awkward-rows/custom-inserts.dump"),
            sample("awkward-rows/dump.tar"),
            packed(2, linked_lz4, 1000),
            packed(3, zstd, 1000),
        ]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let limits = Limits { decompressed_floor: MIB, ..Limits::default() };
        let first = read_tables(&bytes, &limits, map("messages"));
        prop_assert!(!first.is_empty());
        prop_assert_eq!(first, read_tables(&bytes, &limits, map("messages")));
    }
}
