//! The top-level keys of a rendering with the raw JSON text of their values, which become lines and columns.

pub(crate) mod of_conversations;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// One key and the JSON text of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The key.
    pub name: Cow<'a, str>,
    /// JSON text, unchanged from the rendering or written by an envelope.
    pub json: Cow<'a, str>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(name: &'static str, json: impl Into<Cow<'a, str>>) -> Self {
        Self {
            name: Cow::Borrowed(name),
            json: json.into(),
        }
    }

    /// The value, if it is a text.
    pub(crate) fn text(&self) -> Option<String> {
        serde_json::from_str(&self.json).ok()
    }
}

/// The fields of an object, in order; `None` if the text is not an object.
pub(crate) fn of(json: &str) -> Option<Vec<Field<'_>>> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let fields = deserializer.deserialize_map(Fields).ok()?;
    deserializer.end().ok()?;
    Some(fields)
}

/// The elements of a list, each with its JSON; `None` if the text is not a list of such elements.
pub(crate) fn elements<'a, T: Deserialize<'a>>(json: &'a str) -> Option<Vec<(&'a str, T)>> {
    let raw: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    let elements = raw.into_iter().map(RawValue::get);
    elements
        .map(|json| Some((json, serde_json::from_str(json).ok()?)))
        .collect()
}

/// The object with these fields, without white space between them.
pub(crate) fn object<'f, 'v: 'f>(fields: impl IntoIterator<Item = &'f Field<'v>> + Clone) -> String {
    let bytes = fields.clone().into_iter().map(|field| field.json.len() + 16);
    let mut json = String::with_capacity(bytes.sum());
    for field in fields {
        json.push(if json.is_empty() { '{' } else { ',' });
        json.push_str(&text(&field.name));
        json.push(':');
        json.push_str(&field.json);
    }
    if json.is_empty() {
        json.push('{');
    }
    json.push('}');
    json
}

/// A text as JSON.
pub(crate) fn text(text: &str) -> String {
    // A text always becomes JSON.
    serde_json::to_string(text).unwrap_or_default()
}

/// The text of a JSON string, borrowed if it has no escapes; `None` if the value is not a string.
pub(crate) fn string_value(json: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str(json).ok().map(|Text(text)| text)
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Vec<Field<'de>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields: Vec<Field<'de>> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            fields.push(Field {
                name: Cow::Owned(name),
                json: Cow::Borrowed(value.get()),
            });
        }
        let mut names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(A::Error::custom("a key occurs twice"));
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_written_with_the_bytes_that_were_read() {
        for json in [
            r#"{"messages":[{"role":"user","content":"a\"b\n"}],"tools":[]}"#,
            r#"{"big":12345678901234567890123456789.50,"odd \u0000\"key":null}"#,
            "{}",
        ] {
            assert_eq!(object(&of(json).unwrap()), json);
        }
    }

    #[test]
    fn json_that_is_no_object_has_no_fields() {
        for json in ["[]", "\"a\"", "{\"a\":1", "{\"a\":1} x", "", r#"{"a":1,"a":2}"#] {
            assert_eq!(of(json), None, "{json}");
        }
    }

    #[test]
    fn an_object_nested_a_hundred_thousand_deep_is_read() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(object(&of(&deep).unwrap()), deep);
    }
}
