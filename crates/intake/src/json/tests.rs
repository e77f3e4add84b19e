use std::time::{Duration, Instant};

use chatmill_diag::codes::{DEPTH_EXCEEDED, ESCAPED_NUL, INVALID_UTF8, NUMBER_OUT_OF_RANGE};
use proptest::prelude::*;

use super::scan::plain_run;
use super::{Kind, Value, scan};
use crate::reader::testing::cases;

#[test]
fn scan_results_match_the_case_file() {
    cases("json", |_, text| match scan(text.as_bytes(), 128) {
        Err(error) => format!("{} at {}: {}", error.code.name, error.at, error.message),
        Ok(document) => {
            assert_eq!(document.text().len(), text.len());
            let root = document.root();
            let notes = document.notes().iter();
            let notes = notes.map(|note| format!("\n{} {}..{}", note.code.name, note.at, note.end));
            let decoded = root
                .as_str()
                .map_or(String::new(), |text| format!(" says {text:?}"));
            format!("{}{decoded}{}", root.raw(), notes.collect::<String>())
        }
    });
}

#[test]
fn every_raw_control_character_in_a_string_is_rejected_and_every_other_stays() {
    for byte in 0..=0x7F_u8 {
        let text = format!("\"ab{}\"", char::from(byte));
        let expected = byte >= 0x20 && byte != b'\\' && byte != b'"';
        assert_eq!(scan(text.as_bytes(), 1).is_ok(), expected, "{byte:#x}");
    }
}

#[test]
fn invalid_utf8_is_located_at_any_byte() {
    let sequences: [&[u8]; 8] = [
        b"\xFF",
        b"\xC0\xAF",
        b"\xE0\x80\xAF",
        b"\xED\xA0\x80",
        b"\xF4\x90\x80\x80",
        b"\x80",
        b"\xC3",
        b"\xE4\xB8",
    ];
    let text = br#"{"a":["b",{"key":1}]} "#;
    for sequence in sequences {
        for at in 0..=text.len() {
            let mut bytes = text.to_vec();
            bytes.splice(at..at, sequence.iter().copied());
            let error = scan(&bytes, 128).map(|_| ()).expect_err("must fail");
            assert_eq!(
                (error.code.name, error.at),
                (INVALID_UTF8.name, at),
                "{sequence:x?}"
            );
        }
    }
}

/// Nested values: the opening and the closing of a level.
const NESTS: [(&str, &str); 3] = [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")];

fn assert_too_deep(text: &str) {
    let error = scan(text.as_bytes(), 128).map(|_| ()).expect_err("must fail");
    assert_eq!(error.code.name, DEPTH_EXCEEDED.name);
}

#[test]
fn depth_is_bounded_at_its_limit() {
    for (open, close) in NESTS {
        let levels = open.matches(['[', '{']).count();
        let nested =
            |depth: usize| format!("{}0{}", open.repeat(depth / levels), close.repeat(depth / levels));
        assert!(scan(nested(126).as_bytes(), 126).is_ok());
        assert!(scan(nested(128).as_bytes(), 128).is_ok());
        let error = scan(nested(130).as_bytes(), 128)
            .map(|_| ())
            .expect_err("must fail");
        assert_eq!(error.code.name, DEPTH_EXCEEDED.name);
        for text in [
            nested(1_000),
            open.repeat(1_000),
            nested(100_000),
            open.repeat(100_000),
        ] {
            assert_too_deep(&text);
        }
    }
    assert!(scan(b"[[1]]", 2).is_ok() && scan(b"[[1]]", 1).is_err() && scan(b"[]", 0).is_err());
}

#[test]
#[ignore = "by the clock, on a machine that does nothing else: `just in-time`"]
fn a_million_levels_are_refused_in_time() {
    for (open, close) in NESTS {
        for text in [
            open.repeat(1_000_000),
            open.repeat(1_000_000) + &close.repeat(1_000_000),
        ] {
            // The verdict falls at level 129; the time is spent on the check of UTF-8 before.
            let start = Instant::now();
            assert_too_deep(&text);
            assert!(
                start.elapsed() < Duration::from_millis(50),
                "{:?}",
                start.elapsed()
            );
        }
    }
}

#[test]
fn a_million_levels_are_walked_and_dropped_without_recursion() {
    let text = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let document = scan(text.as_bytes(), u32::MAX).unwrap();
    let mut depth = 0;
    let mut value = Some(document.root());
    while let Some(inner) = value {
        depth += 1;
        value = inner.items().next();
    }
    assert_eq!(depth, 1_000_000);
}

#[test]
fn lone_surrogates_of_names_and_values_are_noted() {
    let document = scan(br#"{"k\ud83d":"\ud83d","ok":1}"#, 1).unwrap();
    assert_eq!(document.root().get("k\u{fffd}").unwrap().raw(), r#""\uFFFD""#);
    assert_eq!(document.notes().len(), 2);
    assert_eq!(document.root().get("ok").unwrap().span(), 25..26);
}

#[test]
fn an_escaped_nul_stays_and_is_noted() {
    let document = scan(br#"["\u0000","\\u0000","\u0001"]"#, 1).unwrap();
    let notes: Vec<_> = document
        .notes()
        .iter()
        .map(|note| (note.code.name, note.at, note.end))
        .collect();
    assert_eq!(notes, [(ESCAPED_NUL.name, 2, 8)]);
    assert_eq!(document.root().items().next().unwrap().as_str().unwrap(), "\0");
}

#[test]
fn numbers_beyond_common_parsers_stay_text_and_are_noted() {
    let many = |count: usize| "9".repeat(count);
    let table = [
        ("9007199254740993".to_owned(), false),
        ("9223372036854775808".to_owned(), false),
        ("18446744073709551616".to_owned(), true),
        ("-9223372036854775809".to_owned(), true),
        ("-0".to_owned(), false),
        (many(30), true),
        (many(100_000), true),
        ("1e400".to_owned(), true),
        ("-1E+400".to_owned(), true),
        ("1e99999999999999999999".to_owned(), true),
        ("0e99999999999999999999".to_owned(), false),
        ("1e-400".to_owned(), false),
        ("1e308".to_owned(), false),
        (format!("{}.5", many(308)), false),
        (format!("{}.5", many(400)), true),
        (format!("0.{}", many(100_000)), false),
    ];
    for (text, noted) in table {
        let document = scan(text.as_bytes(), 0).unwrap();
        assert_eq!(document.root().number_text(), Some(text.as_str()));
        let codes: Vec<_> = document
            .notes()
            .iter()
            .map(|note| (note.code.name, note.at, note.end))
            .collect();
        let expected = [(NUMBER_OUT_OF_RANGE.name, 0, text.len())];
        assert_eq!(
            codes,
            expected[..usize::from(noted)],
            "{}",
            text.get(..40).unwrap_or(&text)
        );
    }
}

#[test]
fn a_million_backslashes_take_no_longer_than_plain_text() {
    let text = format!("\"{}\"", "\\\\".repeat(500_000));
    assert_eq!(
        scan(text.as_bytes(), 0).unwrap().root().as_str().unwrap().len(),
        500_000
    );
}

#[test]
fn values_are_walked_with_their_spans() {
    let text = r#" {"a": [1, {"b": null}, "x\ty"], "c": {}, "d": true, "a": -1.5e3} "#;
    let document = scan(text.as_bytes(), 128).unwrap();
    let root = document.root();
    assert_eq!(
        (root.kind(), root.len(), root.is_empty()),
        (Kind::Object, 4, false)
    );
    let fields: Vec<_> = root
        .fields()
        .map(|(name, value)| (name.into_owned(), value.raw()))
        .collect();
    let expected = [
        ("a", r#"[1, {"b": null}, "x\ty"]"#),
        ("c", "{}"),
        ("d", "true"),
        ("a", "-1.5e3"),
    ];
    assert_eq!(fields, expected.map(|(name, raw)| (name.to_owned(), raw)));
    assert_eq!(
        root.get("a").unwrap().number_text(),
        Some("-1.5e3"),
        "the last of equal names counts"
    );
    assert_eq!(root.get("d").unwrap().as_bool(), Some(true));
    assert!(root.get("x").is_none());
    let list = root.fields().next().unwrap().1;
    assert_eq!(
        list.items().map(Value::span).collect::<Vec<_>>(),
        [8..9, 11..22, 24..30]
    );
    assert_eq!(list.items().nth(2).unwrap().as_str().unwrap(), "x\ty");
    assert_eq!(
        (list.len(), list.fields().count(), root.items().count()),
        (3, 0, 0)
    );
    assert!(root.get("c").unwrap().is_empty());
}

#[test]
fn find_returns_the_first_value_of_a_text_inside_a_range() {
    let text = r#"{"a":["x\u0079","z",12,{"k":"z"}],"z":"xy"}"#;
    let document = scan(text.as_bytes(), 128).unwrap();
    let find = |from: usize, what: &str| {
        let found = document.find(from..text.len(), what);
        found.map(|range| text.get(range).unwrap())
    };
    assert_eq!(find(0, "xy"), Some(r#""x\u0079""#), "escapes say the same");
    assert_eq!(find(7, "xy"), Some("\"xy\""), "the stretch begins later");
    assert_eq!(find(0, "12"), Some("12"));
    assert_eq!(find(0, r#"{"k":"z"}"#), Some(r#"{"k":"z"}"#));
    assert_eq!(find(0, "nowhere"), None);
    assert_eq!(document.find(0..1, "z"), None, "the stretch ends before");
    assert_eq!(document.find(text.len()..text.len(), "z"), None);
}

#[test]
fn the_path_of_a_byte_leads_to_the_innermost_value_around_it() {
    let text = r#"{"a":[1,{"odd key":"v"}], "b":{}}"#;
    let document = scan(text.as_bytes(), 128).unwrap();
    let path = |what: &str| document.path_at(text.find(what).unwrap());
    assert_eq!(path("1"), "$.a[0]");
    assert_eq!(path("\"v\""), "$.a[1]['odd key']");
    assert_eq!(path("\"odd"), "$.a[1]['odd key']", "a name stands for its field");
    assert_eq!(path(" \"b"), "$", "between two fields");
    assert_eq!(path("{}"), "$.b");
    assert_eq!(document.path_at(10_000), "$");
    for path in ["$.a[0]", "$.a[1]['odd key']", "$.b"] {
        let span = document.locate(path).unwrap();
        assert_eq!(document.path_at(span.start), path);
    }
}

#[test]
fn repeated_names_are_found_in_every_spelling_and_size() {
    let duplicates = |text: &str| scan(text.as_bytes(), 128).unwrap().root().duplicate_keys();
    assert_eq!(duplicates(r#"{"a":1,"b":2}"#), [""; 0]);
    assert_eq!(duplicates(r#"{"b":1,"\u0061":1,"a":2,"b":3,"a":4}"#), ["a", "b"]);
    assert_eq!(duplicates(r#"{"a":{"x":1},"b":{"x":1}}"#), [""; 0]);
    assert_eq!(duplicates("[1,1]"), [""; 0]);
    assert_eq!(duplicates(&object_of(1_000)), ["0"]);
}

/// An object with `names` names, one of them twice.
fn object_of(names: usize) -> String {
    let fields: Vec<String> = (0..=names).map(|key| format!("\"{}\":0", key % names)).collect();
    format!("{{{}}}", fields.join(","))
}

#[test]
#[ignore = "by the clock, on a machine that does nothing else: `just in-time`"]
fn a_repeated_name_among_many_is_found_in_time() {
    let text = object_of(100_000);
    let start = Instant::now();
    assert_eq!(scan(text.as_bytes(), 128).unwrap().root().duplicate_keys(), ["0"]);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn word_and_byte_scans_agree(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let plain = bytes.iter().take_while(|byte| **byte >= 0x20 && !b"\"\\".contains(byte)).count();
        prop_assert_eq!(plain_run(&bytes), plain);
    }
}
