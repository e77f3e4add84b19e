//! Compares the scan with two other JSON parsers: a text that one accepts the others must accept, with equal trees.
//!
//! The documented differences are lone surrogates (repaired here, refused there), numbers that no parser can represent
//! (text here) and depth (each parser has another limit).

use crate::json::{Document, Kind, Value, scan};
use proptest::prelude::*;
use serde_json::Value as Tree;

/// The tree that the tape describes. `serde_json` parses the numbers from their text.
fn tree(value: Value<'_>) -> Tree {
    match value.kind() {
        Kind::Null => Tree::Null,
        Kind::Bool(value) => Tree::Bool(value),
        Kind::Number => serde_json::from_str(value.number_text().unwrap()).unwrap(),
        Kind::String => Tree::String(value.as_str().unwrap().into_owned()),
        Kind::Array => Tree::Array(value.items().map(tree).collect()),
        Kind::Object => Tree::Object(
            value
                .fields()
                .map(|(name, value)| (name.into_owned(), tree(value)))
                .collect(),
        ),
    }
}

fn has_note(document: &Document<'_>, name: &str) -> bool {
    document.notes().iter().any(|note| note.code.name == name)
}

/// Whether the parsers may differ on an accepted text because of its numbers.
fn has_odd_numbers(document: &Document<'_>) -> bool {
    has_note(document, "number-out-of-range")
}

/// Compares the three parsers on one text.
fn compare(bytes: &[u8]) -> Result<(), TestCaseError> {
    let serde: Result<Tree, _> = serde_json::from_slice(bytes);
    match scan(bytes, 128) {
        Err(error) => {
            prop_assert!(serde.is_err(), "{error:?} but serde_json reads {serde:?}");
            let mut copy = bytes.to_vec();
            prop_assert!(
                simd_json::to_owned_value(&mut copy).is_err(),
                "{error:?} but simd-json reads it"
            );
        }
        Ok(document) => {
            prop_assert_eq!(document.text().len(), bytes.len());
            if has_odd_numbers(&document) {
                return Ok(());
            }
            let ours = tree(document.root());
            match serde {
                Ok(theirs) => prop_assert!(alike(&ours, &theirs), "{ours} {theirs}"),
                Err(error) => prop_assert!(has_note(&document, "lone-surrogate"), "{error}"),
            }
            let repaired: Tree = serde_json::from_str(document.text()).unwrap();
            prop_assert!(alike(&ours, &repaired), "{ours} {repaired}");
            let mut repaired = document.text().as_bytes().to_vec();
            let simd: Tree = simd_json::serde::from_slice(&mut repaired)
                .map_err(|error| TestCaseError::fail(format!("simd-json: {error} in {}", document.text())))?;
            prop_assert!(alike(&ours, &simd), "{ours} {simd}");
        }
    }
    Ok(())
}

/// Whether two trees are equal, where the other parsers round doubles in the last place and read -0 as 0.
fn alike(one: &Tree, other: &Tree) -> bool {
    match (one, other) {
        (Tree::Number(a), Tree::Number(b)) if a.is_f64() || b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= a.abs() * 1e-14
        }
        (Tree::Array(a), Tree::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Tree::Object(a), Tree::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((x, a), (y, b))| x == y && alike(a, b))
        }
        _ => one == other,
    }
}

/// JSON texts with unusual spacing, escapes, repeated names and extreme numbers.
fn json_text() -> impl Strategy<Value = String> {
    let string = prop_oneof![
        "[a-z]{0,3}".prop_map(|text| format!("\"{text}\"")),
        ".{0,12}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        r"(\\u[0-9a-fA-F]{4}|\\u[dD][89a-fA-F][0-9a-f]{2}|\\[nrtbf/]|[ -!#-\[\]-~]|中|😀){0,12}"
            .prop_map(|text| format!("\"{text}\"")),
    ];
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?",
    ];
    let space = || "[ \t\r\n]{0,2}";
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        number,
        string.clone(),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        let element =
            (space(), inner.clone(), space()).prop_map(|(before, value, after)| before + &value + &after);
        let field = (space(), string.clone(), space(), space(), inner, space()).prop_map(
            |(one, key, two, three, value, four)| one + &key + &two + ":" + &three + &value + &four,
        );
        prop_oneof![
            (prop::collection::vec(element, 0..6), space()).prop_map(|(list, empty)| if list.is_empty() {
                format!("[{empty}]")
            } else {
                format!("[{}]", list.join(","))
            }),
            (prop::collection::vec(field, 0..6), space()).prop_map(|(list, empty)| if list.is_empty() {
                format!("{{{empty}}}")
            } else {
                format!("{{{}}}", list.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(chatmill_drawn::law(200))]

    #[test]
    fn generated_texts_read_alike(text in json_text()) {
        prop_assert!(scan(text.as_bytes(), 128).is_ok(), "{text}");
        compare(text.as_bytes())?;
    }

    #[test]
    fn corrupt_texts_get_the_same_verdict_from_all_parsers(
        text in json_text(),
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\\u0eE-+. \n\xFF".to_vec())],
        operation in 0..3,
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        match operation {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => drop(bytes.remove(at)),
        }
        compare(&bytes)?;
    }

    #[test]
    fn noise_gets_one_verdict(text in r#"[\[\]{}",:\\ue0-2truefalsn. \n-]{0,12}"#) {
        compare(text.as_bytes())?;
    }
}
