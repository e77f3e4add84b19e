//! Fields that the model has no place for: kept as written, each under its path in the message or record.

use chatmill_intake::json::{Value, append_key};
use chatmill_model::json::push_string;
use chatmill_model::{Extra, Part, RawJson};

/// Fields without a place, by path and in input order.
pub(crate) type Kept = Vec<(String, RawJson)>;

/// Something that keeps such fields.
pub(crate) trait Keep {
    /// The fields so far.
    fn kept(&mut self) -> &mut Kept;

    /// Keeps a value under its path.
    fn keep(&mut self, path: impl Into<String>, value: Value<'_>) {
        self.kept().push((path.into(), raw(value)));
    }

    /// Keeps a value, where there is one.
    fn keep_some(&mut self, path: &str, value: Option<Value<'_>>) {
        if let Some(value) = value {
            self.keep(path, value);
        }
    }

    /// Keeps a text, as a JSON string.
    fn keep_text(&mut self, path: impl Into<String>, text: &str) {
        self.kept().push((path.into(), quoted(text)));
    }

    /// Keeps the fields of an object that are not among `known` and not null. `path` is the object's own, empty for the
    /// message.
    fn keep_rest(&mut self, object: Value<'_>, path: &str, known: &[&str]) {
        for (key, value) in object.fields() {
            if !known.contains(&&*key) && !value.is_null() {
                self.keep(below(path, &key), value);
            }
        }
    }
}

impl Keep for Kept {
    fn kept(&mut self) -> &mut Kept {
        self
    }
}

impl Keep for Extra {
    fn kept(&mut self) -> &mut Kept {
        &mut self.0
    }
}

/// The pieces of a message, and what has no place in them.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// The pieces.
    pub parts: Vec<Part>,
    /// The fields without a place, by path.
    pub extra: Kept,
}

impl Keep for Content {
    fn kept(&mut self) -> &mut Kept {
        &mut self.extra
    }
}

/// The path of a field inside an object; that of the message itself is empty.
pub(crate) fn below(path: &str, key: &str) -> String {
    if path.is_empty() {
        return key.to_owned();
    }
    let mut place = path.to_owned();
    append_key(&mut place, key);
    place
}

/// A value as it was written.
pub(crate) fn raw(value: Value<'_>) -> RawJson {
    RawJson(value.raw().to_owned())
}

/// Texts as a list of JSON strings.
pub(crate) fn quoted_list(texts: &[impl AsRef<str>]) -> RawJson {
    let mut raw = String::from("[");
    for text in texts {
        if raw.len() > 1 {
            raw.push(',');
        }
        push_string(&mut raw, text.as_ref());
    }
    raw.push(']');
    RawJson(raw)
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> RawJson {
    let mut raw = String::new();
    push_string(&mut raw, text);
    RawJson(raw)
}
