use std::io::{Cursor, Write};

use chatmill_diag::Limits;
use chatmill_diag::limits::MIB;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

use crate::discover::content_hash;
use crate::reader::testing::{Entry, gzip, open, read, read_all, read_file, small, tar, xz, zip, zstd};

const LINES: &[u8] = b"{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n";

const METHODS: [CompressionMethod; 4] = [
    CompressionMethod::STORE,
    CompressionMethod::DEFLATE,
    CompressionMethod::ZSTD,
    CompressionMethod::BZIP2,
];

/// For each entry the name, the number of frames, and the codes.
fn summary(entries: &[Entry]) -> Vec<(&str, usize, String)> {
    entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.frames.len(), entry.codes().join(" ")))
        .collect()
}

fn row<'a>(name: &'a str, frames: usize, codes: &str) -> (&'a str, usize, String) {
    (name, frames, codes.to_owned())
}

/// A tar header of any type with its body.
fn member(kind: tar::EntryType, name: &str, body: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(body.len() as u64);
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(body);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    [members.concat(), vec![0; 1_024]].concat()
}

#[test]
fn both_archives_give_their_files_in_order() {
    let files: [(&str, &[u8]); 4] = [
        ("b.json", LINES),
        ("a/x.json", b"[1,2]"),
        ("empty", b""),
        ("c.gz", &gzip(LINES)),
    ];
    let expected = [
        row("b.json", 3, ""),
        row("a/x.json", 2, ""),
        row("empty", 0, "(empty-input)"),
        row("c.gz", 3, ""),
    ];
    assert_eq!(summary(&read(&tar(&files), &Limits::default())), expected);
    for method in METHODS {
        assert_eq!(
            summary(&read_file(&zip(method, &files), &Limits::default())),
            expected,
            "{method}"
        );
    }
}

#[test]
fn archives_without_a_file_are_noted() {
    let expected = [row("", 0, "(empty-input)")];
    assert_eq!(
        summary(&read_file(
            &zip(CompressionMethod::STORE, &[]),
            &Limits::default()
        )),
        expected
    );
    let folder = archive(&[member(tar::EntryType::Directory, "a/", b"")]);
    assert_eq!(summary(&read(&folder, &Limits::default())), expected);
}

#[test]
fn names_are_labels_and_dangerous_ones_are_noted() {
    let names = ["../up.json", "/etc/abs.json", "a\\b.json", "ok/../../x"];
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, LINES)).collect();
    let expected: Vec<_> = names
        .iter()
        .map(|name| row(name, 3, "(unsafe-entry-name)"))
        .collect();
    assert_eq!(summary(&read(&tar(&files), &Limits::default())), expected);
    // The zip writer refuses such names, so they are patched into the archive.
    let harmless: Vec<String> = names
        .iter()
        .map(|name| "x".repeat(name.len() - 1) + "-")
        .collect();
    let files: Vec<(&str, &[u8])> = harmless
        .iter()
        .enumerate()
        .map(|(number, name)| (&*name.replacen('x', &number.to_string(), 1).leak(), LINES))
        .collect();
    let mut bytes = zip(CompressionMethod::DEFLATE, &files);
    for ((written, _), name) in files.iter().zip(names) {
        replace(&mut bytes, written.as_bytes(), name.as_bytes());
    }
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        summary(&read_all(&mut open(folder.path(), &bytes, &Limits::default()))),
        expected
    );
    let created: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(created, ["input"], "nothing is extracted");
}

/// Replaces every occurrence of `from` with `to`, which has the same length.
fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let mut found = 0;
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + from.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0);
}

#[test]
fn equal_names_are_both_read() {
    let files: [(&str, &[u8]); 2] = [("first", LINES), ("other", b"[1]")];
    let expected = [row("first", 3, ""), row("first", 1, "(repeated-entry)")];
    let mut bytes = zip(CompressionMethod::DEFLATE, &files);
    replace(&mut bytes, b"other", b"first");
    assert_eq!(summary(&read_file(&bytes, &Limits::default())), expected);
    assert_eq!(
        summary(&read(&tar(&[files[0], ("first", b"[1]")]), &Limits::default())),
        expected
    );
}

#[test]
fn archives_inside_archives_are_rejected_one_by_one() {
    let inner_zip = zip(CompressionMethod::STORE, &[("x", LINES)]);
    let inner_tar = tar(&[("x", LINES)]);
    let packed_tar = zstd(&inner_tar);
    let files: [(&str, &[u8]); 5] = [
        ("a.zip", &inner_zip),
        ("b.tar", &inner_tar),
        ("c.tar.zst", &packed_tar),
        ("d.7z", b"7z\xBC\xAF\x27\x1C"),
        ("e", LINES),
    ];
    let expected = [
        row("a.zip", 0, "nested-archive"),
        row("b.tar", 0, "nested-archive"),
        row("c.tar.zst", 0, "nested-archive"),
        row("d.7z", 0, "unsupported-container"),
        row("e", 3, ""),
    ];
    assert_eq!(summary(&read(&tar(&files), &Limits::default())), expected);
    assert_eq!(
        summary(&read_file(
            &zip(CompressionMethod::DEFLATE, &files),
            &Limits::default()
        )),
        expected
    );
}

#[test]
fn links_and_devices_in_a_tar_are_not_followed() {
    use tar::EntryType;
    let mut members: Vec<_> = [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
    ]
    .map(|kind| member(kind, "link", b""))
    .to_vec();
    members.push(member(EntryType::Directory, "folder", b""));
    members.push(member(EntryType::Regular, "old-folder/", b""));
    members.push(member(EntryType::GNUSparse, "sparse", b"{}"));
    members.push(member(EntryType::new(b'Z'), "odd", b"{}"));
    members.push(member(EntryType::Continuous, "contiguous", LINES));
    let entries = read(&archive(&members), &Limits::default());
    let codes: Vec<_> = entries.iter().map(|entry| entry.codes().join(" ")).collect();
    let link = "(link-not-followed)";
    let again = "(repeated-entry) (link-not-followed)";
    let unsupported = "unsupported-container";
    assert_eq!(
        codes,
        [link, again, again, again, again, unsupported, unsupported, ""]
    );
    assert_eq!(entries[7].frames.len(), 3);
}

#[test]
fn long_names_and_sizes_come_from_the_headers_before() {
    let long = "d/".repeat(150) + "x.json";
    let pax = |records: &[(&str, &[u8])]| {
        let mut body = Vec::new();
        for (key, value) in records {
            let bare = key.len() + value.len() + 3;
            let length = (bare..bare + 9)
                .find(|length| bare + length.to_string().len() == *length)
                .unwrap();
            body.extend_from_slice(format!("{length} {key}=").as_bytes());
            body.extend_from_slice(value);
            body.push(b'\n');
        }
        member(tar::EntryType::XHeader, "pax", &body)
    };
    let mut unsized_member = member(tar::EntryType::Regular, "short", LINES);
    let mut header = tar::Header::from_byte_slice(&unsized_member[..512]).clone();
    header.set_size(0);
    header.set_cksum();
    unsized_member[..512].copy_from_slice(header.as_bytes());
    let size = LINES.len().to_string();
    let bytes = archive(&[
        member(
            tar::EntryType::GNULongName,
            "././@LongLink",
            &[long.as_bytes(), b"\0"].concat(),
        ),
        member(tar::EntryType::Regular, "short", LINES),
        member(tar::EntryType::XGlobalHeader, "global", b"17 comment=global\n"),
        pax(&[
            ("SCHILY.xattr.user.x", b"line\nbreak\0"),
            ("path", "中.json".as_bytes()),
            ("size", size.as_bytes()),
        ]),
        unsized_member,
        pax(&[("GNU.sparse.major", b"1")]),
        member(tar::EntryType::Regular, "holes", LINES),
        member(tar::EntryType::Regular, "plain", LINES),
    ]);
    let entries = read(&bytes, &Limits::default());
    let expected = [
        row(&long, 3, ""),
        row("中.json", 3, ""),
        row("holes", 0, "unsupported-container"),
        row("plain", 3, ""),
    ];
    assert_eq!(summary(&entries), expected);
    for broken in [&b"x"[..], b"99 path=x\n", b"8 pathx\n", b"10 size=x\n"] {
        let bytes = archive(&[
            member(tar::EntryType::XHeader, "pax", broken),
            member(tar::EntryType::Regular, "x", LINES),
        ]);
        assert_eq!(
            summary(&read(&bytes, &Limits::default())),
            [row("", 0, "corrupt-stream")]
        );
    }
}

#[test]
fn a_tar_cut_anywhere_never_counts_as_complete() {
    let bytes = tar(&[("a", LINES), ("b", LINES)]);
    // Two files with a header and a body of one block each, then two zero blocks.
    assert_eq!(bytes.len(), 512 * 6);
    for packed in [false, true] {
        let bytes = if packed { gzip(&bytes) } else { bytes.clone() };
        let last = if packed { bytes.len() } else { 512 * 5 };
        for cut in chatmill_drawn::some_of(512.min(bytes.len() / 2)..last, 200) {
            let entries = read(&bytes[..cut], &Limits::default());
            let codes: Vec<_> = entries.iter().flat_map(Entry::codes).collect();
            assert_eq!(codes, ["truncated-stream"], "{packed} {cut}");
        }
    }
    assert_eq!(
        summary(&read(&bytes[..512 * 5], &Limits::default())),
        [row("a", 3, ""), row("b", 3, "")]
    );
}

#[test]
fn a_wrong_header_ends_a_tar() {
    let mut bytes = tar(&[("a", LINES), ("b", LINES), ("c", LINES)]);
    bytes[1_024] ^= 1;
    assert_eq!(
        summary(&read(&bytes, &Limits::default())),
        [row("a", 3, ""), row("", 0, "corrupt-stream")]
    );
}

#[test]
fn bytes_after_the_end_of_a_tar_are_noted() {
    let bytes = [tar(&[("a", LINES)]), vec![0; 9_000], tar(&[("b", LINES)])].concat();
    let expected = [row("a", 3, ""), row("", 0, "(trailing-garbage)")];
    assert_eq!(summary(&read(&bytes, &Limits::default())), expected);
    let packed = [gzip(&tar(&[("a", LINES)])), b"garbage".to_vec()].concat();
    let entries = read(&packed, &Limits::default());
    assert_eq!(
        entries.iter().flat_map(Entry::codes).collect::<Vec<_>>(),
        ["(trailing-garbage)"]
    );
}

#[test]
fn the_entry_limit_holds_to_the_entry() {
    let limits = Limits {
        archive_entries: 3,
        ..small()
    };
    for (count, over) in [(2, false), (3, false), (4, true)] {
        let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), LINES)).collect();
        let mut expected: Vec<_> = names.iter().take(3).map(|name| row(name, 3, "")).collect();
        if over {
            expected.push(row("", 0, "entry-limit"));
        }
        assert_eq!(summary(&read(&tar(&files), &limits)), expected);
        assert_eq!(
            summary(&read_file(&zip(CompressionMethod::STORE, &files), &limits)),
            expected
        );
    }
}

#[test]
fn a_wrong_checksum_costs_its_entry_only() {
    for method in METHODS {
        let bytes = zip(method, &[("a", LINES), ("b", LINES)]);
        // The CRC of the first entry is in the directory, 16 bytes after the entry's signature.
        let directory = bytes
            .windows(4)
            .position(|window| window == b"PK\x01\x02")
            .unwrap();
        let mut wrong = bytes.clone();
        wrong[directory + 16] ^= 1;
        let expected = [row("a", 3, "corrupt-stream"), row("b", 3, "")];
        assert_eq!(
            summary(&read_file(&wrong, &Limits::default())),
            expected,
            "{method}"
        );
        let mut encrypted = bytes.clone();
        encrypted[directory + 8] |= 1;
        let expected = [row("a", 0, "unsupported-container"), row("b", 3, "")];
        assert_eq!(
            summary(&read_file(&encrypted, &Limits::default())),
            expected,
            "{method}"
        );
        let mut unknown = bytes.clone();
        unknown[directory + 10] = 77;
        assert_eq!(
            summary(&read_file(&unknown, &Limits::default())),
            expected,
            "{method}"
        );
        // A wrong declared size has no effect.
        let mut lying = bytes;
        lying[directory + 24] = 1;
        assert_eq!(
            summary(&read_file(&lying, &Limits::default())),
            [row("a", 3, ""), row("b", 3, "")],
            "{method}"
        );
    }
}

#[test]
fn a_misplaced_header_loses_only_its_entry() {
    let mut bytes = zip(CompressionMethod::DEFLATE, &[("a", LINES), ("b", LINES)]);
    bytes[0..4].copy_from_slice(b"PK\x03\x04");
    let directory = bytes
        .windows(4)
        .position(|window| window == b"PK\x01\x02")
        .unwrap();
    bytes[directory + 42] = 5;
    assert_eq!(
        summary(&read_file(&bytes, &Limits::default())),
        [row("a", 0, "corrupt-stream"), row("b", 3, "")]
    );
}

/// The offsets of the headers in the directory.
fn directory(bytes: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(4).enumerate();
    let found = windows.filter(|(_, window)| window == b"PK\x01\x02");
    found.map(|(at, _)| at).collect()
}

/// Adds to a number of four bytes.
fn add(bytes: &mut [u8], at: usize, more: i32) {
    let number = i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    bytes[at..at + 4].copy_from_slice(&(number + more).to_le_bytes());
}

#[test]
fn a_zip_whose_entries_lie_over_one_another_is_refused_whole() {
    let inner = zip(CompressionMethod::STORE, &[("b", LINES)]);
    let local = &inner[..directory(&inner)[0]];
    for method in METHODS {
        let bytes = zip(method, &[("a", local), ("b", LINES), ("c", LINES)]);
        let headers = directory(&bytes);
        let starts: Vec<i32> = headers
            .iter()
            .map(|at| i32::from_le_bytes(bytes[at + 42..at + 46].try_into().unwrap()))
            .collect();
        let is_refused = |at: usize, more: i32| {
            let mut changed = bytes.clone();
            add(&mut changed, at, more);
            let entries = read_file(&changed, &Limits::default());
            summary(&entries) == [row("", 0, "corrupt-stream")]
        };
        // Entries overlap by one byte, or the last one overlaps the directory by one.
        assert!(is_refused(headers[0] + 20, 1), "{method}");
        assert!(is_refused(headers[2] + 20, 1), "{method}");
        // One header for two entries.
        assert!(is_refused(headers[1] + 42, -starts[1]), "{method}");
        // One entry inside another.
        if method == CompressionMethod::STORE {
            assert!(is_refused(headers[1] + 42, LOCAL + 1 - starts[1]));
        }
        // Adjacent entries, entries with gaps, and entries after other bytes are valid.
        let expected = ["a", "b", "c"].map(|name| row(name, 3, ""));
        let behind = [inner.clone(), bytes.clone()].concat();
        for bytes in [&bytes, &behind] {
            let entries = read_file(bytes, &Limits::default());
            assert_eq!(summary(&entries)[1..], expected[1..], "{method}");
        }
        assert!(!is_refused(headers[0] + 20, -1), "{method}");
    }
}

/// The length of the header in front of a member without its name, in bytes.
const LOCAL: i32 = 30;

#[test]
fn sizes_behind_an_entry_or_of_64_bits_lie_over_nothing() {
    let mut streamed = zip::ZipWriter::new_stream(Vec::new());
    let mut wide = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for name in ["a", "b"] {
        streamed.start_file(name, options).unwrap();
        streamed.write_all(LINES).unwrap();
        wide.start_file(name, options.large_file(true)).unwrap();
        wide.write_all(LINES).unwrap();
    }
    let streamed = streamed.finish().unwrap().into_inner();
    assert_eq!(streamed[6] & 8, 8, "the sizes stand behind it");
    let wide = wide.finish().unwrap().into_inner();
    for bytes in [streamed, wide] {
        let expected = [row("a", 3, ""), row("b", 3, "")];
        assert_eq!(summary(&read_file(&bytes, &Limits::default())), expected);
    }
}

#[test]
fn xz_inside_a_zip_is_read() {
    // The writer does not know the method, so the method of a stored entry is patched.
    let packed = xz(LINES);
    let mut bytes = zip(CompressionMethod::STORE, &[("a", &packed)]);
    let directory = bytes
        .windows(4)
        .position(|window| window == b"PK\x01\x02")
        .unwrap();
    bytes[directory + 10] = 95;
    let mut sum = flate2::Crc::new();
    sum.update(LINES);
    bytes[directory + 16..directory + 20].copy_from_slice(&sum.sum().to_le_bytes());
    assert_eq!(summary(&read_file(&bytes, &Limits::default())), [row("a", 3, "")]);
}

#[test]
fn links_in_a_zip_are_not_followed_and_folders_passed_over() {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .add_directory("folder/", SimpleFileOptions::default())
        .unwrap();
    writer
        .add_symlink("link", "/etc/passwd", SimpleFileOptions::default())
        .unwrap();
    writer
        .start_file("folder/a", SimpleFileOptions::default())
        .unwrap();
    writer.write_all(LINES).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let expected = [row("link", 0, "(link-not-followed)"), row("folder/a", 3, "")];
    assert_eq!(summary(&read_file(&bytes, &Limits::default())), expected);
}

#[test]
fn a_zip_behind_other_bytes_or_in_a_pipe_is_not_read() {
    let bytes = zip(CompressionMethod::STORE, &[("a", LINES)]);
    assert_eq!(
        summary(&read(&bytes, &Limits::default())),
        [row("", 0, "unsupported-container")]
    );
    assert_eq!(
        summary(&read_file(&gzip(&bytes), &Limits::default())),
        [row("", 0, "unsupported-container")]
    );
}

#[test]
fn a_zip_cut_anywhere_keeps_its_entries_and_never_counts_as_complete() {
    for method in METHODS {
        let bytes = zip(method, &[("a", LINES), ("b", LINES)]);
        let directory = bytes
            .windows(4)
            .position(|window| window == b"PK\x01\x02")
            .unwrap();
        for cut in chatmill_drawn::some_of(4..bytes.len(), 100) {
            let entries = read_file(&bytes[..cut], &Limits::default());
            let codes: Vec<_> = entries.iter().flat_map(Entry::codes).collect();
            assert!(
                codes.iter().any(|code| code == "truncated-stream"),
                "{method} {cut}: {codes:?}"
            );
            assert!(
                codes.iter().all(|code| code == "truncated-stream"),
                "{method} {cut}: {codes:?}"
            );
            if cut >= directory {
                assert_eq!(
                    entries.iter().map(|entry| entry.frames.len()).sum::<usize>(),
                    6,
                    "{method} {cut}"
                );
            }
        }
    }
}

#[test]
fn the_decompression_limit_of_a_zip_covers_all_entries() {
    let mut text = LINES.to_vec();
    text.resize(MIB as usize / 2, b' ');
    let files: Vec<(&str, &[u8])> = vec![("a", &text), ("b", &text), ("c", LINES)];
    for method in METHODS {
        let entries = read_file(
            &zip(method, &files),
            &Limits {
                decompressed_ratio: 0,
                ..small()
            },
        );
        assert_eq!(
            summary(&entries),
            [
                row("a", 3, ""),
                row("b", 3, ""),
                row("c", 0, "decompression-limit")
            ],
            "{method}"
        );
    }
}

#[test]
fn the_hash_of_a_zip_is_that_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = zip(CompressionMethod::DEFLATE, &[("a", LINES)]);
    let mut reader = open(folder.path(), &bytes, &Limits::default());
    read_all(&mut reader);
    let (length, hash) = content_hash(&folder.path().join("input"), &mut |_| true)
        .unwrap()
        .unwrap();
    assert_eq!(
        (length, reader.raw_hash(&mut |_| true).unwrap()),
        (bytes.len() as u64, Some(hash))
    );
    assert!(reader.raw_bytes_read() > 0);
}
