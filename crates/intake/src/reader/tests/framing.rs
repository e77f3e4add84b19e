use chatmill_diag::Limits;
use chatmill_diag::codes::UNKNOWN_FORMAT;

use crate::event::{Event, Framing};
use crate::json;
use crate::reader::Reader;
use crate::reader::testing::{framing, read_all, read_one, small};

/// Checks the script of each text.
fn check(table: &[(&str, Framing, &str)]) {
    for (text, expected, script) in table {
        let entry = read_one(text.as_bytes(), &Limits::default());
        assert_eq!(
            (framing(&entry), entry.script().as_str()),
            (*expected, *script),
            "{text:?}"
        );
    }
}

#[test]
fn lines_end_at_line_feeds_and_blank_lines_separate() {
    use Framing::Lines;
    check(&[
        ("{}", Lines, "F0-2@1:1"),
        ("{}\n", Lines, "F0-2@1:1, S1"),
        ("{}\n{}\n", Lines, "F0-2@1:1, S1, F3-5@2:1, S1"),
        ("{}\r\n{}\r\n", Lines, "F0-2@1:1, S2, F4-6@2:1, S2"),
        ("{}\r\n{}\r", Lines, "F0-2@1:1, S2, F4-6@2:1, S1"),
        (
            "\n \r\n{}\n\n\t\n  {}\n \n",
            Lines,
            "S4, F4-6@3:1, S6, F12-14@6:3, S3",
        ),
        ("{}\nx\ry\n{}", Lines, "F0-2@1:1, S1, F3-6@2:1, S1, F7-9@3:1"),
        ("{} \n{}\r\r\n", Lines, "F0-3@1:1, S1, F4-7@2:1, S2"),
        ("{\"a\":\"\u{2028}中\"}\n{}", Lines, "F0-14@1:1, S1, F15-17@2:1"),
        (
            "\u{feff}{}\n{}",
            Lines,
            "N byte-order-mark, S3, F3-5@1:1, S1, F6-8@2:1",
        ),
        ("{}\n\u{feff}{}\n", Lines, "F0-2@1:1, S1, F3-8@2:1, S1"),
        ("{} {}\n{}\n", Lines, "F0-5@1:1, S1, F6-8@2:1, S1"),
        ("[{}]\n[{}]\n", Lines, "F0-4@1:1, S1, F5-9@2:1, S1"),
        (
            "{\"a\":\n1}\n{}\n",
            Lines,
            "F0-5@1:1, S1, F6-8@2:1, S1, F9-11@3:1, S1",
        ),
    ]);
}

#[test]
fn arrays_give_their_elements() {
    use Framing::Array;
    check(&[
        ("[]", Array, "S2"),
        (" [ ] \n", Array, "S6"),
        ("[{}]", Array, "S1, F1-3@1:2, S1"),
        ("[{},\n {}]\n", Array, "S1, F1-3@1:2, S3, F6-8@2:2, S2"),
        (
            "[1,\"a,]\",[2,[]],null , -1.5e3]",
            Array,
            "S1, F1-2@1:2, S1, F3-8@1:4, S1, F9-15@1:10, S1, F16-20@1:17, S3, F23-29@1:24, S1",
        ),
        ("[\"中\",{}]", Array, "S1, F1-6@1:2, S1, F7-9@1:6, S1"),
        ("\u{feff}[{}]", Array, "N byte-order-mark, S4, F4-6@1:2, S1"),
        // Commas without an element between them are separators.
        ("[,{},,{},]", Array, "S2, F2-4@1:3, S2, F6-8@1:7, S2"),
        // What stands between an element and the next comma is damage, and the next element is intact.
        (
            "[{} {},{}]",
            Array,
            "S1, F1-3@1:2, S1, D4-6@1:5 invalid-json, S1, F7-9@1:8, S1",
        ),
        (
            "[{}x[,],\"],\",{}]",
            Array,
            "S1, F1-3@1:2, D3-7@1:4 invalid-json, S1, F8-12@1:9, S1, F13-15@1:14, S1",
        ),
        ("[},{}]", Array, "S1, D1-2@1:2 invalid-json, S1, F3-5@1:4, S1"),
        (
            "[1 2,3]",
            Array,
            "S1, F1-2@1:2, S1, D3-4@1:4 invalid-json, S1, F5-6@1:6, S1",
        ),
        ("[nope,{}]", Array, "S1, F1-5@1:2, S1, F6-8@1:7, S1"),
        ("[{}] x\ny", Array, "S1, F1-3@1:2, S2, D5-8@1:6 invalid-json"),
        ("[{}]\n{}\n", Array, "S1, F1-3@1:2, S2, D5-8@2:1 invalid-json"),
        // The end comes too early.
        ("[", Array, "S1, D1-1@1:2 truncated-stream"),
        ("[{}", Array, "S1, F1-3@1:2, D3-3@1:4 truncated-stream"),
        ("[{},\n", Array, "S1, F1-3@1:2, S2, D5-5@2:1 truncated-stream"),
        (
            "[{},{\"a\":[",
            Array,
            "S1, F1-3@1:2, S1, D4-10@1:5 truncated-stream",
        ),
        ("[1,2", Array, "S1, F1-2@1:2, S1, D3-4@1:4 truncated-stream"),
        // A string that is not closed swallows the rest, and nothing before it.
        (
            "[{},{\"a\":\"x},{},{}]",
            Array,
            "S1, F1-3@1:2, S1, D4-19@1:5 truncated-stream",
        ),
    ]);
}

#[test]
fn documents_stand_one_after_another() {
    use Framing::Documents;
    check(&[
        ("{\n\"a\":1\n}\n", Documents, "F0-9@1:1, S1"),
        ("{}{}", Documents, "F0-2@1:1, F2-4@1:3"),
        (
            "{\n}\n\n{\n}\n  [1]",
            Documents,
            "F0-3@1:1, S2, F5-8@4:1, S3, F11-14@6:3",
        ),
        ("{}\r{}\r", Documents, "F0-2@1:1, S1, F3-5@1:4, S1"),
        (" {}\n", Documents, "S1, F1-3@1:2, S1"),
        ("\u{feff}{\n}", Documents, "N byte-order-mark, S3, F3-6@1:1"),
        // A scalar is a document; other text is one damage.
        ("42\n", Documents, "F0-3@1:1"),
        ("\"a\nb\"", Documents, "D0-5@1:1 invalid-json"),
        ("hello\nworld {}\n", Documents, "D0-15@1:1 invalid-json"),
        ("hello\n{\n}\n", Documents, "D0-6@1:1 invalid-json, F6-9@2:1, S1"),
        (
            "{\n}x\n{\n}",
            Documents,
            "F0-3@1:1, D3-5@2:2 invalid-json, F5-8@3:1",
        ),
        ("{\n\"a\":1\n", Documents, "D0-8@1:1 truncated-stream"),
        (
            "{\n}\n{\"a\":\"\n}\n{\n}",
            Documents,
            "F0-3@1:1, S1, D4-16@3:1 invalid-json",
        ),
        // A small text that is one document over several lines, one of which could be a record.
        ("{\"a\":[\n{}\n]}\n", Documents, "F0-12@1:1, S1"),
    ]);
}

#[test]
fn nothing_but_white_space_is_noted() {
    check(&[
        ("", Framing::Empty, "N empty-input"),
        (" \r\n\t", Framing::Empty, "S4, N empty-input"),
        ("\u{feff}", Framing::Empty, "N byte-order-mark, S3, N empty-input"),
    ]);
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
        let mut damaged = lines.clone();
        damaged[at] = broken[at % broken.len()].to_owned();
        let entry = read_one((damaged.join("\n") + "\n").as_bytes(), &Limits::default());
        assert_eq!(entry.frames.len(), 1_000, "{at}");
        for (number, frame) in entry.frames.iter().enumerate() {
            assert_eq!(
                json::scan(frame, 128).is_ok(),
                number != at,
                "line {number}, broken line {at}"
            );
            assert_eq!(frame, damaged[number].as_bytes());
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

/// A JSON object of exactly so many bytes.
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
            let Some(Event::FramingError(damage)) = entry
                .events
                .iter()
                .find(|event| matches!(event, Event::FramingError(_)))
            else {
                panic!("{:?}", entry.events)
            };
            assert_eq!(damage.end - damage.start, length as u64);
            assert_eq!(damage.hash, blake3::hash(long.as_bytes()).to_hex().as_str());
            assert_eq!(damage.head, &long.as_bytes()[..16]);
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
fn a_long_record_is_never_held_in_memory() {
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
fn a_refused_entry_is_one_damage_over_all_its_bytes() {
    for text in ["\u{feff}{}\n{}\n", "[1,2]", "text", "{\n}{"] {
        let mut reader = Reader::of_stream(
            Box::new(std::io::Cursor::new(text.as_bytes().to_vec())),
            None,
            &small(),
        );
        let mut buffer = Vec::new();
        assert!(matches!(reader.next(&mut buffer), Some(Event::EntryStart { .. })));
        reader.refuse_entry(&UNKNOWN_FORMAT, "no source reads this".to_owned(), None);
        let Some(Event::FramingError(damage)) = reader.next(&mut buffer) else {
            panic!("{text}")
        };
        assert_eq!(
            (damage.start, damage.end, damage.record),
            (0, text.len() as u64, 0)
        );
        assert_eq!(
            (damage.code, damage.message.as_str()),
            (&UNKNOWN_FORMAT, "no source reads this")
        );
        assert_eq!(damage.hash, blake3::hash(text.as_bytes()).to_hex().as_str());
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
            Event::FramingError(damage) => panic!("{damage:?}"),
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
