//! Values for a template, each in two versions: plain, and with marks around its texts.

use std::fmt;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Object, ObjectRepr};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::measured;

/// Maximum depth of JSON that is read; values of a conversation are never as deep.
const MAX_DEPTH: usize = 192;

/// A value without and with marks.
#[derive(Clone, Debug)]
pub(super) struct MarkedValue {
    /// The value without marks.
    pub(super) plain: Value,
    /// The value with marks around its texts.
    pub(super) marked: Value,
}

impl MarkedValue {
    /// Creates a value without a text to mark.
    pub(super) fn same(value: impl Into<Value>) -> Self {
        let plain = value.into();
        Self {
            marked: plain.clone(),
            plain,
        }
    }

    /// Creates a map; for a repeated key the last value is used.
    pub(super) fn map(pairs: Vec<(String, Self)>) -> Self {
        let marked = pairs
            .iter()
            .map(|(key, marked_value)| (key.clone(), marked_value.marked.clone()));
        let marked = measured::map(marked);
        let plain = measured::map(
            pairs
                .into_iter()
                .map(|(key, marked_value)| (key, marked_value.plain)),
        );
        Self { plain, marked }
    }

    /// Creates a list.
    pub(super) fn list(members: Vec<Self>) -> Self {
        let (plain, marked): (Vec<Value>, Vec<Value>) = members
            .into_iter()
            .map(|marked_value| (marked_value.plain, marked_value.marked))
            .unzip();
        Self {
            plain: measured::list(plain),
            marked: measured::list(marked),
        }
    }
}

/// The place of a text in a JSON value.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPlace<'k> {
    /// The key of the text; empty in a list and at the top.
    pub(super) key: &'k str,
    /// The number of objects and lists around it.
    pub(super) depth: usize,
}

/// Reads JSON into values; `text` converts every string, and `name` every key. Returns `None` for text that is not JSON.
pub(super) fn read(
    raw: &str,
    text: &mut dyn FnMut(String, TextPlace<'_>) -> MarkedValue,
    name: &mut dyn FnMut(String) -> String,
) -> Option<MarkedValue> {
    let raw = serde_json::from_str::<&RawValue>(raw).ok()?;
    walk(raw.get(), TextPlace { key: "", depth: 0 }, text, name)
}

fn walk(
    raw: &str,
    place: TextPlace<'_>,
    text: &mut dyn FnMut(String, TextPlace<'_>) -> MarkedValue,
    name: &mut dyn FnMut(String) -> String,
) -> Option<MarkedValue> {
    if place.depth > MAX_DEPTH {
        return None;
    }
    let depth = place.depth + 1;
    Some(match raw.bytes().next()? {
        b'{' => {
            let members: Members<'_> = serde_json::from_str(raw).ok()?;
            let mut pairs = Vec::with_capacity(members.0.len());
            for (key, member) in members.0 {
                let marked_value = walk(member.get(), TextPlace { key: &key, depth }, text, name)?;
                pairs.push((name(key), marked_value));
            }
            MarkedValue::map(pairs)
        }
        b'[' => {
            let members: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            let place = TextPlace { key: "", depth };
            let members = members
                .into_iter()
                .map(|member| walk(member.get(), place, text, name));
            MarkedValue::list(members.collect::<Option<_>>()?)
        }
        b'"' => text(serde_json::from_str(raw).ok()?, place),
        b't' => MarkedValue::same(true),
        b'f' => MarkedValue::same(false),
        b'n' => MarkedValue::same(()),
        _ => MarkedValue::same(number(raw)),
    })
}

/// Returns a number as Python reads it: whole numbers are exact, however long.
fn number(raw: &str) -> Value {
    if raw.contains(['.', 'e', 'E']) {
        return Value::from(raw.parse::<f64>().unwrap_or(f64::NAN));
    }
    if let Ok(number) = raw.parse::<i64>() {
        return Value::from(number);
    }
    match raw.parse::<i128>() {
        Ok(number) => Value::from(number),
        Err(_) => Value::from_object(Digits(raw.to_owned())),
    }
}

/// A whole number beyond 128 bits, which can only be printed.
#[derive(Debug)]
struct Digits(String);

impl Object for Digits {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Whether a value is a whole number beyond 128 bits.
pub(super) fn is_digits(value: &Value) -> bool {
    value.downcast_object_ref::<Digits>().is_some()
}

/// The members of an object in the order of the text.
struct Members<'r>(Vec<(String, &'r RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::super::python;
    use super::*;
    use minijinja::value::Kwargs;

    fn dumped(raw: &str) -> Option<String> {
        let marked_value = read(raw, &mut |text, _| MarkedValue::same(text), &mut |key| key)?;
        let options = Kwargs::from_iter(Vec::<(&str, Value)>::new());
        Some(python::tojson(&marked_value.plain, &options).unwrap())
    }

    #[test]
    fn numbers_and_the_order_of_keys_survive() {
        for (raw, expected) in [
            (
                r#"{"b":1,"a":[1.50,1e-7,-0,null,true]}"#,
                r#"{"b": 1, "a": [1.5, 1e-07, 0, null, true]}"#,
            ),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            (
                "-1234567890123456789012345678901234567890123",
                "-1234567890123456789012345678901234567890123",
            ),
            ("1e999", "Infinity"),
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a": 3, "b": 2}"#),
            (r#""\u00e9\n""#, "\"é\\n\""),
        ] {
            assert_eq!(dumped(raw).as_deref(), Some(expected), "{raw}");
        }
    }

    #[test]
    fn what_is_no_json_or_too_deep_is_nothing() {
        assert_eq!(dumped("{"), None);
        assert_eq!(dumped(""), None);
        let deep = "[".repeat(MAX_DEPTH + 2) + &"]".repeat(MAX_DEPTH + 2);
        assert_eq!(dumped(&deep), None);
    }

    #[test]
    fn texts_know_their_places() {
        let mut seen = Vec::new();
        let mut text = |text: String, place: TextPlace<'_>| {
            seen.push(format!("{}{}{text}", place.depth, place.key));
            MarkedValue::same(text)
        };
        read(r#"{"f":{"name":"n"},"l":["x"]}"#, &mut text, &mut |key| key).unwrap();
        assert_eq!(seen, ["2namen", "2x"]);
    }
}
