//! Extended JSON of `MongoDB`: `{"$oid": "65a0…"}`, `{"$date": …}`, `{"$numberLong": "7"}` and similar objects, as
//! `mongoexport` writes ids, times and numbers.
//!
//! They become plain values in the fields of a row that has an id or a time in this form, and in the messages of such a
//! record. What people, models and tools wrote does not change, because such an object may be an argument of a tool.

use super::row::push_string;
use super::times::time;
use crate::json::{Kind, Value, scan};

/// Fields with text, or with the arguments or results of tools.
const WORDS: [&str; 14] = [
    "content",
    "text",
    "body",
    "msg",
    "message",
    "parts",
    "arguments",
    "args",
    "input",
    "parameters",
    "result",
    "results",
    "output",
    "value",
];

/// The nesting of lists and objects below which nothing is converted.
const DEPTH: u8 = 4;

/// Appends a record without Extended JSON to `out`; false if it has none, in which case nothing is written.
pub fn fold(record: Value<'_>, out: &mut Vec<u8>) -> bool {
    let before = out.len();
    let is_folded = row(record, false, DEPTH, out);
    if !is_folded {
        out.truncate(before);
    }
    is_folded
}

/// Writes a record, a message or a list of them; `is_known` if an enclosing record has ids or times in this form.
fn row(value: Value<'_>, is_known: bool, depth: u8, out: &mut Vec<u8>) -> bool {
    let is_known = is_known || has_own(value);
    let mut any = false;
    let mut write = |value: Value<'_>, is_words: bool, out: &mut Vec<u8>| {
        let plain = Some(value).filter(|_| is_known && !is_words).and_then(plain);
        any |= match (plain, depth.checked_sub(1).filter(|_| !is_words)) {
            (Some(plain), _) => {
                out.extend_from_slice(plain.as_bytes());
                true
            }
            (None, Some(depth)) if matches!(value.kind(), Kind::Array | Kind::Object) => {
                row(value, is_known, depth, out)
            }
            (None, _) => {
                out.extend_from_slice(value.raw().as_bytes());
                false
            }
        };
    };
    let mut mark = None;
    match value.kind() {
        Kind::Object => {
            for (key, value) in value.fields() {
                out.push(mark.replace(b',').unwrap_or(b'{'));
                push_string(&key, out);
                out.push(b':');
                write(value, WORDS.contains(&&*key), out);
            }
            out.extend_from_slice(if mark.is_none() { b"{}" } else { b"}" });
        }
        Kind::Array => {
            for value in value.items() {
                out.push(mark.replace(b',').unwrap_or(b'['));
                write(value, false, out);
            }
            out.extend_from_slice(if mark.is_none() { b"[]" } else { b"]" });
        }
        _ => out.extend_from_slice(value.raw().as_bytes()),
    }
    any
}

/// Whether a field of an object is an id or a time in this form.
fn has_own(row: Value<'_>) -> bool {
    let is_own = |value: Value<'_>| value.get("$oid").or_else(|| value.get("$date")).is_some();
    row.kind() == Kind::Object
        && row
            .fields()
            .any(|(key, value)| !WORDS.contains(&&*key) && is_own(value))
}

/// The plain value, as JSON, of an object of Extended JSON.
fn plain(value: Value<'_>) -> Option<String> {
    let mut fields = value.fields();
    let (Some((key, inside)), None) = (fields.next(), fields.next()) else {
        return None;
    };
    let text = inside.string();
    let string = |text: &str| {
        let mut out = Vec::new();
        push_string(text, &mut out);
        String::from_utf8(out).ok()
    };
    match &*key {
        "$oid" => string(&text?),
        "$numberLong" | "$numberInt" | "$numberDouble" | "$numberDecimal" => {
            let text = text?;
            let is_number =
                scan(text.as_bytes(), 0).is_ok_and(|document| document.root().kind() == Kind::Number);
            if is_number {
                Some(text.into_owned())
            } else {
                string(&text)
            }
        }
        "$date" => {
            let long = inside.get("$numberLong").and_then(Value::string);
            match long.or_else(|| inside.number_text().map(Into::into)) {
                Some(millis) => string(&time(millis.parse().ok()?, 1_000, true)),
                None => string(&text?),
            }
        }
        "$binary" => string(&text.or_else(|| inside.get("base64").and_then(Value::string))?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Option<String> {
        let document = scan(text.as_bytes(), 64).unwrap();
        let mut out = Vec::new();
        fold(document.root(), &mut out).then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn ids_times_and_numbers_of_rows_are_plain() {
        let row = r#"{"_id": {"$oid": "65a0"}, "at": {"$date": {"$numberLong": "1767607200250"}}, "n": {"$numberInt": "7"}, "to": [{"$oid": "1"}], "usage": {"in": {"$numberLong": "12"}}, "x": {"$numberDouble": "NaN"}, "d": {"$numberDecimal": "1.50"}, "b": {"$binary": {"base64": "AA==", "subType": "00"}}}"#;
        let expected = r#"{"_id":"65a0","at":"2026-01-05T10:00:00.250Z","n":7,"to":["1"],"usage":{"in":12},"x":"NaN","d":1.50,"b":"AA=="}"#;
        assert_eq!(folded(row).as_deref(), Some(expected));
        let relaxed = r#"{"messages": [{"id": {"$oid": "1"}, "at": {"$date": "2026-01-05T10:00:00Z"}}]}"#;
        let expected = r#"{"messages":[{"id":"1","at":"2026-01-05T10:00:00Z"}]}"#;
        assert_eq!(folded(relaxed).as_deref(), Some(expected));
    }

    #[test]
    fn what_a_tool_was_given_and_what_people_wrote_stays_as_it_is() {
        let call = r#"{"_id": {"$oid": "1"}, "content": {"$date": "x"}, "tool_calls": [{"id": "c", "arguments": {"_id": {"$oid": "2"}}}]}"#;
        let expected = r#"{"_id":"1","content":{"$date": "x"},"tool_calls":[{"id":"c","arguments":{"_id": {"$oid": "2"}}}]}"#;
        assert_eq!(folded(call).as_deref(), Some(expected));
        for plain in [
            r#"{"role": "user", "content": {"$oid": "1"}}"#,
            r#"{"messages": [{"role": "tool", "result": {"_id": {"$oid": "1"}}}]}"#,
            r#"{"n": {"$numberInt": "7"}}"#,
        ] {
            assert_eq!(folded(plain), None, "{plain}");
        }
    }
}
