//! Cuts a head into records and finds the field names of one, reading only brackets and quotes.

use chatmill_diag::cut;
use memchr::{memchr, memchr2};

use super::{MAX_STRING_BYTES, RecordSketch, plain};
use crate::frame::balance::{Balance, structural};
use crate::json;

/// The next line that is not blank, and the text after it; `None` follows a line that is cut.
pub(super) fn line(rest: &[u8], complete: bool) -> Option<(&[u8], Option<&[u8]>)> {
    let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let rest = rest.get(start..)?;
    match memchr(b'\n', rest) {
        Some(end) => Some((rest.get(..end)?, rest.get(end + 1..))),
        None => Some((rest, complete.then_some(&[]))),
    }
}

/// The next value after `separators`, and the text after it; `None` follows a value that is cut.
///
/// With `opening`, one bracket precedes the value. Without, `]` ends the values.
pub(super) fn value<'h>(
    rest: &'h [u8],
    separators: &[u8],
    opening: bool,
) -> Option<(&'h [u8], Option<&'h [u8]>)> {
    let mut rest = skip(rest, separators)?;
    if opening {
        rest = skip(rest.get(1..)?, separators)?;
    }
    let end = match rest.first()? {
        b']' => return None,
        b'{' | b'[' | b'"' => Balance::default().run(rest),
        _ => rest
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || b",:[]{}\"".contains(byte))
            .map(|end| end.max(1)),
    };
    Some(match end {
        Some(end) => (rest.get(..end)?, rest.get(end..)),
        None => (rest, None),
    })
}

fn skip<'h>(rest: &'h [u8], separators: &[u8]) -> Option<&'h [u8]> {
    rest.get(rest.iter().position(|byte| !separators.contains(byte))?..)
}

/// The shape of a record, as far as its bytes reach.
pub(super) fn outline(record: &[u8]) -> RecordSketch {
    let start = record
        .iter()
        .position(|byte| !byte.is_ascii_whitespace())
        .unwrap_or_default();
    let mut sketch = RecordSketch {
        is_object: record.get(start) == Some(&b'{'),
        ..RecordSketch::default()
    };
    if !sketch.is_object {
        let record = record.split_at(start).1;
        if record.starts_with(b"\"") {
            sketch.starts.push((String::new(), beginning(record)));
        }
        return first_of_array(record).unwrap_or(sketch);
    }
    let mut open: Vec<u8> = Vec::new();
    let mut field = String::new();
    // Whether the first object in the current field's array has ended.
    let mut first_is_over = false;
    let mut at = start;
    while let Some(found) = structural(record.split_at(at).1) {
        at += found;
        match record.get(at) {
            Some(b'"') => {
                let rest = record.split_at(at).1;
                let Some(token) = string(rest) else {
                    if open.len() == 1 && !field.is_empty() {
                        sketch.starts.push((field, beginning(rest)));
                    }
                    break;
                };
                at += token.len();
                let is_key =
                    skip(record.split_at(at).1, b" \t\r\n").is_some_and(|next| next.starts_with(b":"));
                match open.as_slice() {
                    [_] if is_key => {
                        field = plain(token);
                        sketch.keys.push(field.clone());
                    }
                    [_] if token.len() <= MAX_STRING_BYTES + 2 => {
                        sketch.strings.push((field.clone(), plain(token)));
                    }
                    [_] => sketch.starts.push((field.clone(), beginning(token))),
                    [_, b'{'] if is_key => sketch.nested.push((field.clone(), plain(token))),
                    [_, b'[', b'{'] if is_key && !first_is_over => {
                        sketch.nested.push((field.clone(), plain(token)));
                    }
                    _ => {}
                }
                continue;
            }
            Some(bracket @ (b'{' | b'[')) => {
                open.push(*bracket);
                first_is_over &= open.len() != 2;
            }
            _ => {
                first_is_over |= matches!(open.as_slice(), [_, b'[', b'{']);
                open.pop();
                if open.is_empty() {
                    break;
                }
            }
        }
        at += 1;
    }
    sketch
}

/// The shape of a record that is an array of objects; the names in the first object belong to a field with an empty name.
fn first_of_array(record: &[u8]) -> Option<RecordSketch> {
    let inside = skip(record.strip_prefix(b"[")?, b" \t\r\n")?;
    let first = inside.starts_with(b"{").then(|| outline(inside))?;
    let after = Balance::default().run(inside).and_then(|end| inside.get(end..));
    let next = after.and_then(|after| skip(after, b" \t\r\n"));
    Some(RecordSketch {
        is_single: next.is_some_and(|next| next.starts_with(b"]")),
        nested: first.keys.into_iter().map(|name| (String::new(), name)).collect(),
        strings: first.strings,
        ..RecordSketch::default()
    })
}

/// The JSON string at the start of `bytes`, with its quotes; `None` if it is cut.
pub(super) fn string(bytes: &[u8]) -> Option<&[u8]> {
    let mut at = 1;
    loop {
        let stop = at + memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(stop) == Some(&b'"') {
            return bytes.get(..=stop);
        }
        at = stop + 2;
    }
}

/// The beginning of a JSON string, which may be cut.
fn beginning(token: &[u8]) -> String {
    let first = cut::up_to(token.split_at(1).1, MAX_STRING_BYTES);
    String::from_utf8_lossy(&json::unescape_lossy(first)).into_owned()
}

/// The maximum number of lines of a text in a sketch.
const MAX_LINES: usize = 1024;

/// The number of bytes of a text's line that a sketch has.
const MAX_LINE_BYTES: usize = 160;

/// The shape of a text, which is written as an object: the beginning of each of its first non-empty lines.
pub(super) fn of_text(text: &[u8]) -> RecordSketch {
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.trim_ascii().is_empty()).take(MAX_LINES);
    let begins = lines.map(|line| String::from_utf8_lossy(cut::up_to(line, MAX_LINE_BYTES)).into_owned());
    RecordSketch {
        keys: vec!["text".to_owned()],
        is_object: true,
        starts: begins.map(|begin| ("text".to_owned(), begin)).collect(),
        ..RecordSketch::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{Framing, Head};
    use crate::sketch::RecordSketch;

    fn sketch(framing: Framing, complete: bool, text: &str) -> Vec<RecordSketch> {
        Head {
            framing,
            complete,
            bytes: text.as_bytes().to_vec(),
        }
        .sketch()
        .records
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(one, other)| ((*one).to_owned(), (*other).to_owned()))
            .collect()
    }

    #[test]
    fn a_record_shows_its_fields_and_one_level_below() {
        let text = r#" { "a" : "x\u0041", "b":{"c":{"deep":1},"d":"no"}, "e":[1,{"f":[{"deep":1}],"g":2},{"h":3}],
            "i":[[{"deep":2}]], "\u006a":null }"#;
        let records = sketch(Framing::Documents, true, text);
        assert_eq!(records.len(), 1);
        assert!(records[0].is_object);
        assert_eq!(records[0].keys, ["a", "b", "e", "i", "j"]);
        assert_eq!(
            records[0].nested,
            owned(&[("b", "c"), ("b", "d"), ("e", "f"), ("e", "g")])
        );
        assert_eq!(records[0].strings, owned(&[("a", "xA")]));
    }

    #[test]
    fn an_array_of_one_object_is_distinguished_from_others() {
        let lines = "[ {\"a\":[1]} ]\n[{\"a\":1},{}]\n[{\"a\":1},2]\n{\"a\":1}\n[1]\n";
        let single: Vec<bool> = sketch(Framing::Lines, true, lines)
            .iter()
            .map(|record| record.is_single)
            .collect();
        assert_eq!(single, [true, false, false, false, false]);
    }

    #[test]
    fn long_strings_are_left_out() {
        let text = format!(r#"{{"a":"{}","b":"{}"}}"#, "x".repeat(64), "x".repeat(65));
        assert_eq!(
            sketch(Framing::Lines, true, &text)[0].strings,
            [("a".to_owned(), "x".repeat(64))]
        );
    }

    #[test]
    fn a_cut_document_gives_the_fields_before_the_cut() {
        let whole = r#"{"meta":{"name":"n"},"list":[{"id":"1","sender":"s"},{"id":"2"}]}"#;
        for cut in 0..whole.len() {
            let records = sketch(Framing::Documents, false, whole.get(..cut).unwrap());
            let keys: Vec<_> = records.iter().flat_map(|record| record.keys.clone()).collect();
            let seen = usize::from(cut > 7) + usize::from(cut > 27);
            assert_eq!(keys, ["meta", "list"][..seen], "{cut}");
        }
        let records = sketch(Framing::Documents, false, whole.get(..50).unwrap());
        assert_eq!(
            records[0].nested,
            owned(&[("meta", "name"), ("list", "id"), ("list", "sender")])
        );
    }

    #[test]
    fn broken_first_records_are_passed_over() {
        let lines = "{\"a\":\n{\"b\":1}\nx\n[1]\n{\"c\":1}\n{\"cut\":1";
        let shapes: Vec<_> = sketch(Framing::Lines, false, lines)
            .into_iter()
            .map(|record| (record.is_object, record.keys))
            .collect();
        assert_eq!(
            shapes,
            [
                (true, vec!["b".to_owned()]),
                (false, vec![]),
                (true, vec!["c".to_owned()])
            ]
        );
        let array = sketch(
            Framing::Array,
            false,
            r#" [ {"a":nope}, 1, {"b":1} {"c":2}, {"cut"#,
        );
        assert_eq!(
            array
                .iter()
                .map(|record| record.keys.join("+"))
                .collect::<Vec<_>>(),
            ["", "b", "c"]
        );
    }

    #[test]
    fn a_cut_first_line_is_still_sketched() {
        let records = sketch(Framing::Lines, false, r#"{"a":1,"b":"#);
        assert_eq!(records[0].keys, ["a", "b"]);
    }

    #[test]
    fn there_are_at_most_sixteen_records() {
        assert_eq!(
            sketch(Framing::Array, true, &format!("[{}{{}}]", "{},".repeat(40))).len(),
            16
        );
        assert_eq!(sketch(Framing::Empty, true, "  "), []);
        assert_eq!(sketch(Framing::Array, true, "[]"), []);
    }
}
