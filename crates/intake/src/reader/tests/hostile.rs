use std::io::Cursor;

use chatmill_diag::Limits;
use proptest::prelude::*;
use zip::CompressionMethod;

use crate::json;
use crate::reader::Reader;
use crate::reader::testing::{CODECS, Drip, Entry, gzip, open, read_all, read_one, small, tar, zip, zstd};

/// Texts that look like inputs: records in each framing, with errors.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let record = prop_oneof![
        4 => r#"\{"[a-c]{1,3}":("[a-z 中\\\\"{]{0,9}"|[0-9]{1,9}|\[[0-9,]{0,9}\])\}"#,
        1 => r#"[\[\]{}",:\\a \n\r]{0,9}"#,
        1 => r#"\{"long":"[a-z]{50,300}"\}"#,
    ];
    (prop::collection::vec(record, 0..12), 0..5).prop_map(|(records, layout)| {
        let text = match layout {
            0 => records.join("\n") + "\n",
            1 => records.join("\r\n"),
            2 => format!("[{}]", records.join(", ")),
            3 => format!("\u{feff} {{\n}} {}", records.join("\n\n")),
            _ => records.concat(),
        };
        text.into_bytes()
    })
}

/// Puts a text into a container, chosen by number. Zips are recognised by their magic bytes.
fn contain(container: usize, text: &[u8]) -> Vec<u8> {
    let files: [(&str, &[u8]); 3] = [("a", text), ("../b.gz", &gzip(text)), ("c", b"{}\n")];
    match container {
        0 => text.to_vec(),
        1..=4 => CODECS[container - 1].1(text),
        5 => tar(&files),
        6 => zstd(&tar(&files)),
        7 => zip(
            CompressionMethod::DEFLATE,
            &[("a", text), ("b.gz", &gzip(text)), ("c", b"{}\n")],
        ),
        8 => zip(CompressionMethod::ZSTD, &[("a", text), ("c", b"{}\n")]),
        _ => [gzip(text), gzip(text)].concat(),
    }
}

/// Reads through a file, as zips need it.
fn read_anything(bytes: &[u8], limits: &Limits) -> Vec<Entry> {
    let folder = tempfile::tempdir().unwrap();
    read_all(&mut open(folder.path(), bytes, limits))
}

proptest! {
    #![proptest_config(chatmill_drawn::law(40))]

    /// `read_all` checks that the events tile every entry.
    #[test]
    fn random_bytes_are_accounted_for(
        text in text(),
        container in 0_usize..10,
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut bytes = contain(container, &text);
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        for (at, byte) in flips {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] ^= byte;
            }
        }
        prop_assert!(!read_anything(&bytes, &small()).is_empty());
    }

    #[test]
    fn noise_is_accounted_for(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(!read_anything(&bytes, &small()).is_empty());
    }

    #[test]
    fn the_sizes_of_reads_change_nothing(
        text in text(),
        container in 0_usize..7,
        sizes in prop::collection::vec(1_usize..40, 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = contain(container, &text);
        bytes.truncate(cut.index(bytes.len() * 2 + 1).min(bytes.len()));
        let length = Some(bytes.len() as u64);
        let whole = read_all(&mut Reader::of_stream(Box::new(Cursor::new(bytes.clone())), length, &small()));
        let drip = Drip { bytes: Cursor::new(bytes), sizes, turn: 0 };
        let dripped = read_all(&mut Reader::of_stream(Box::new(drip), length, &small()));
        prop_assert_eq!(dripped, whole);
    }

    #[test]
    fn a_whole_text_comes_out_of_any_container_alike(text in text(), container in 1_usize..7) {
        let plain = read_one(&text, &small());
        let contained = read_anything(&contain(container, &text), &small());
        prop_assert_eq!(&contained[0].events, &plain.events);
        prop_assert_eq!(&contained[0].frames, &plain.frames);
    }

    /// Frames have exactly the bytes of their range, unless they are derived from them.
    #[test]
    fn frames_are_cut_from_the_text(text in text()) {
        let entry = read_one(&text, &small());
        let mut frames = entry.frames.iter();
        for event in &entry.events {
            match event {
                crate::Event::Frame(frame) if frame.form != crate::Form::Original => {
                    prop_assert!(frames.next().is_some());
                }
                crate::Event::Frame(frame) => {
                    prop_assert_eq!(&text[frame.start as usize..frame.end as usize], frames.next().unwrap());
                }
                crate::Event::FramingError(error) => {
                    let bytes = &text[error.start as usize..error.end as usize];
                    prop_assert_eq!(&error.hash, &blake3::hash(bytes).to_hex().to_string());
                    prop_assert_eq!(&error.head, &bytes[..bytes.len().min(16)]);
                }
                _ => {}
            }
        }
    }

    /// Arrays and lines of valid values give exactly these values.
    #[test]
    fn valid_records_survive_every_layout(
        records in prop::collection::vec(r#"\{"[a-c]":("[a-z ,\[\]{}中]{0,9}"|-?[1-9][0-9]{0,8}|\[(null|\{\}|,0){0}\])\}"#, 1..20),
    ) {
        let limits = Limits::default();
        for layout in [
            records.join("\n"),
            format!("[{}]", records.join(" ,\r\n")),
            format!("\n {}", records.join("\n ")),
        ] {
            let entry = read_one(layout.as_bytes(), &limits);
            let frames: Vec<_> = entry.frames.iter().map(|frame| std::str::from_utf8(frame).unwrap()).collect();
            prop_assert_eq!(&frames, &records, "{}", layout);
            prop_assert!(entry.frames.iter().all(|frame| json::scan(frame, 128).is_ok()));
        }
    }
}

#[test]
fn a_million_brackets_cost_one_record() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        let deep = open.repeat(1_000_000);
        let lines = format!("{{}}\n{deep}\n{{}}\n");
        let entry = read_one(lines.as_bytes(), &Limits::default());
        assert_eq!(entry.frames.len(), 3);
        assert!(json::scan(&entry.frames[1], 128).is_err());
        let array = read_one(format!("[{{}},{deep}").as_bytes(), &Limits::default());
        assert_eq!(
            (array.frames.len(), array.codes()),
            (1, vec!["truncated-stream".to_owned()])
        );
    }
}

#[test]
fn a_million_empty_entries_end_at_the_limit() {
    let header = tar(&[("x", b"")]);
    let many = header[..512].repeat(2_000);
    let entries = crate::reader::testing::read(
        &zstd(&many),
        &Limits {
            archive_entries: 1_000,
            ..small()
        },
    );
    assert_eq!(entries.len(), 1_001);
    assert_eq!(entries[1_000].codes(), ["entry-limit"]);
}

#[test]
fn a_reader_can_move_to_another_thread() {
    let reader = Reader::of_stream(Box::new(Cursor::new(gzip(b"{}\n"))), None, &small());
    let entries = std::thread::spawn(move || read_all(&mut { reader }))
        .join()
        .unwrap();
    assert_eq!(entries[0].frames, [b"{}"]);
}
