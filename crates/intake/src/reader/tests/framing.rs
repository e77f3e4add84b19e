use chatmill_diag::Limits;
use chatmill_diag::codes::UNKNOWN_FORMAT;

use crate::event::{Event, Framing};
use crate::json;
use crate::reader::Reader;
use crate::reader::testing::{cases, framing, read_all, read_one, small};

#[test]
fn frames_of_texts_match_the_case_file() {
    cases("framing", |_, text| {
        let entry = read_one(text.as_bytes(), &Limits::default());
        format!("{:?}: {}", framing(&entry), entry.script())
    });
}

#[test]
fn white_space_of_many_windows_is_noted() {
    let long = " ".repeat(3 << 20);
    assert_eq!(
        read_one(long.as_bytes(), &Limits::default()).script(),
        format!("S{}, N empty-input", long.len())
    );
}

#[test]
fn one_broken_line_at_any_place_costs_one_record() {
    let broken = [
        "{\"n\":",
        "{\"n\":\"",
        "}",
        "]",
        "\"",
        "[[[[",
        "{\"n\":1}}",
        "{\"n\":1,}",
        "x",
        "{\"n\":1} {\"n\":2}",
        "{\"a\":\u{1}}",
        "\\",
    ];
    let lines: Vec<String> = (0..1_000).map(|number| format!("{{\"n\":{number}}}")).collect();
    for at in chatmill_drawn::some_of(0..lines.len(), 100) {
        let mut broken_lines = lines.clone();
        broken_lines[at] = broken[at % broken.len()].to_owned();
        let entry = read_one((broken_lines.join("\n") + "\n").as_bytes(), &Limits::default());
        assert_eq!(entry.frames.len(), 1_000, "{at}");
        for (number, frame) in entry.frames.iter().enumerate() {
            assert_eq!(
                json::scan(frame, 128).is_ok(),
                number != at,
                "line {number}, broken line {at}"
            );
            assert_eq!(frame, broken_lines[number].as_bytes());
        }
    }
}

#[test]
fn invalid_utf8_in_a_line_leaves_the_next_line_intact() {
    for byte in [0xFF, 0xC3, 0xE4, 0x80] {
        let entry = read_one(
            &[b"{\"a\":\"x", &[byte][..], b"\"}\n{\"b\":1}\n"].concat(),
            &Limits::default(),
        );
        assert_eq!(framing(&entry), Framing::Lines);
        assert_eq!(
            json::scan(&entry.frames[0], 128)
                .map(|_| ())
                .unwrap_err()
                .code
                .name,
            "invalid-utf8"
        );
        assert_eq!(entry.frames[1], b"{\"b\":1}");
    }
}

/// A JSON object of exactly `length` bytes.
fn object(length: usize) -> String {
    format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8))
}

#[test]
fn the_record_limit_holds_for_lines_and_elements_to_the_byte() {
    let limits = small();
    let limit = usize::try_from(limits.record).unwrap();
    for (before, between, after) in [
        ("{}\n", "\n", "\n"),
        ("{}\r\n", "\r\n", "\r\n"),
        ("[{},", ",", "]"),
    ] {
        for length in [limit - 1, limit, limit + 1, limit * 3] {
            let long = object(length);
            let entry = read_one(format!("{before}{long}{between}{{}}{after}").as_bytes(), &limits);
            if length <= limit {
                assert_eq!(entry.frames, [b"{}".to_vec(), long.into_bytes(), b"{}".to_vec()]);
                assert_eq!(entry.codes(), [""; 0]);
                continue;
            }
            assert_eq!(entry.frames, [b"{}", b"{}"], "the neighbours are intact");
            assert_eq!(entry.codes(), ["record-too-long"]);
            let Some(Event::FramingError(error)) = entry
                .events
                .iter()
                .find(|event| matches!(event, Event::FramingError(_)))
            else {
                panic!("{:?}", entry.events)
            };
            assert_eq!(error.end - error.start, length as u64);
            assert_eq!(error.hash, blake3::hash(long.as_bytes()).to_hex().as_str());
            assert_eq!(error.head, &long.as_bytes()[..16]);
        }
    }
}

#[test]
fn the_document_limit_holds_to_the_byte() {
    let limits = small();
    let limit = usize::try_from(limits.document).unwrap();
    for length in [limit - 1, limit, limit + 1] {
        let entry = read_one(format!(" {}{{}}", object(length)).as_bytes(), &limits);
        assert_eq!(framing(&entry), Framing::Documents);
        let expected: &[&str] = if length <= limit {
            &[]
        } else {
            &["document-too-large"]
        };
        assert_eq!(entry.codes(), expected, "{length}");
        assert_eq!(entry.frames.last().unwrap(), b"{}", "the next document is read");
    }
    let entry = read_one("x".repeat(limit + 1).as_bytes(), &limits);
    assert_eq!(entry.codes(), ["invalid-json"]);
}

#[test]
fn a_long_record_is_never_buffered_whole() {
    let limits = small();
    let text = format!("{{}}\n{}\n{{}}\n", "x".repeat(5 << 20));
    let mut reader = Reader::of_stream(Box::new(std::io::Cursor::new(text.into_bytes())), None, &limits);
    let mut buffer = Vec::new();
    let mut frames = 0;
    while let Some(event) = reader.next(&mut buffer) {
        frames += usize::from(matches!(event, Event::Frame(_)));
    }
    assert_eq!((frames, buffer.len()), (2, 4));
    assert!(buffer.capacity() < 1_024, "{}", buffer.capacity());
}

#[test]
fn records_over_several_windows_are_whole() {
    let text = "中\\\"{[".repeat(300_000);
    let record = format!("{{\"a\":{}}}", serde_json::to_string(&text).unwrap());
    let limits = Limits::default();
    for (layout, framing_of) in [
        (format!("{{}}\n{record}\n{record}\n"), Framing::Lines),
        (format!("[{{}},{record}\n,{record}]"), Framing::Array),
        (format!("{{\n}}{record}\n{record}"), Framing::Documents),
    ] {
        let entry = read_one(layout.as_bytes(), &limits);
        assert_eq!(framing(&entry), framing_of);
        assert!(!entry.head.complete && entry.head.bytes.len() == 1 << 20);
        assert_eq!(entry.frames.len(), 3);
        assert!(entry.frames[1..].iter().all(|frame| frame == record.as_bytes()));
        let last = entry.events.iter().rev().find_map(|event| match event {
            Event::Frame(frame) => Some((frame.line, frame.column)),
            _ => None,
        });
        let expected = match framing_of {
            Framing::Array => (2, 2),
            _ => (3, 1),
        };
        assert_eq!(last, Some(expected));
    }
}

#[test]
fn a_refused_entry_is_one_framing_error_over_all_its_bytes() {
    for text in ["\u{feff}{}\n{}\n", "[1,2]", "text", "{\n}{"] {
        let mut reader = Reader::of_stream(
            Box::new(std::io::Cursor::new(text.as_bytes().to_vec())),
            None,
            &small(),
        );
        let mut buffer = Vec::new();
        assert!(matches!(reader.next(&mut buffer), Some(Event::EntryStart { .. })));
        reader.refuse_entry(&UNKNOWN_FORMAT, "no source reads this".to_owned(), None);
        let Some(Event::FramingError(error)) = reader.next(&mut buffer) else {
            panic!("{text}")
        };
        assert_eq!((error.start, error.end, error.record), (0, text.len() as u64, 0));
        assert_eq!(
            (error.code, error.message.as_str()),
            (&UNKNOWN_FORMAT, "no source reads this")
        );
        assert_eq!(error.hash, blake3::hash(text.as_bytes()).to_hex().as_str());
        assert_eq!(
            reader.next(&mut buffer),
            Some(Event::EntryEnd {
                decoded_bytes: text.len() as u64
            })
        );
        assert_eq!((reader.next(&mut buffer), buffer.len()), (None, 0));
    }
}

#[test]
fn an_empty_entry_cannot_be_refused() {
    let mut reader = Reader::of_stream(Box::new(std::io::Cursor::new(b" \n".to_vec())), None, &small());
    let start = reader.next(&mut Vec::new());
    assert!(matches!(start, Some(Event::EntryStart { .. })));
    reader.refuse_entry(&UNKNOWN_FORMAT, String::new(), None);
    let mut codes = Vec::new();
    while let Some(event) = reader.next(&mut Vec::new()) {
        match event {
            Event::FramingError(error) => panic!("{error:?}"),
            Event::Note(note) => codes.push(note.code.name),
            _ => {}
        }
    }
    assert_eq!(codes, ["empty-input"]);
}

#[test]
fn the_hash_and_the_count_cover_the_stored_bytes() {
    let text = b"{}\n{}\n";
    let mut reader = Reader::of_stream(Box::new(std::io::Cursor::new(text.to_vec())), Some(6), &small());
    read_all(&mut reader);
    assert_eq!(reader.raw_bytes_read(), 6);
    assert_eq!(reader.raw_hash(&mut |_| true).unwrap(), Some(blake3::hash(text)));
}
