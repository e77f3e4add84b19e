//! Extra fields: values without a place in the canonical model, retained as written, each under its path in the message or record.

use chatmill_intake::json::{Kind, Mark, Value, append_key};
use chatmill_model::json::{push_compact, push_string};
use chatmill_model::{Extra, RawJson};

/// Fields without a place, by path and in input order.
pub(crate) type ExtraFields = Vec<(String, RawJson)>;

/// A holder of extra fields.
pub(crate) trait Keep {
    /// The fields so far.
    fn extra_fields(&mut self) -> &mut ExtraFields;

    /// Whether fields that a reader does not know are kept here; otherwise they are left unread, and the format's lists decide.
    fn keeps_rest(&self) -> bool {
        true
    }

    /// Retains a value under its path as unused; it is reported as unread unless the format lists it as without meaning.
    fn keep(&mut self, path: impl Into<String>, value: Value<'_>) {
        self.extra_fields().push((path.into(), left(value)));
    }

    /// Retains a value that a separate finding reports.
    fn keep_reported(&mut self, path: impl Into<String>, value: Value<'_>) {
        self.keep(path, value);
        value.mark(Mark::Reported);
    }

    /// Keeps a value, if there is one.
    fn keep_some(&mut self, path: &str, value: Option<Value<'_>>) {
        if let Some(value) = value {
            self.keep(path, value);
        }
    }

    /// Keeps a text, as a JSON string.
    fn keep_text(&mut self, path: impl Into<String>, text: &str) {
        self.extra_fields().push((path.into(), quoted(text)));
    }

    /// Keeps the fields of an object that are neither among `known` nor null. `path` is the path of the object, empty for the message.
    fn keep_rest(&mut self, object: Value<'_>, path: &str, known: &[&str]) {
        if !self.keeps_rest() {
            return;
        }
        for (key, value) in object.fields() {
            if !known.contains(&&*key) && !value.is_null() {
                self.keep(below(path, &key), value);
            }
        }
    }
}

impl Keep for ExtraFields {
    fn extra_fields(&mut self) -> &mut ExtraFields {
        self
    }
}

impl Keep for Extra {
    fn extra_fields(&mut self) -> &mut ExtraFields {
        &mut self.0
    }
}

/// The path of a field inside an object; the path of the message itself is empty.
pub(crate) fn below(path: &str, key: &str) -> String {
    if path.is_empty() {
        return key.to_owned();
    }
    let mut place = path.to_owned();
    append_key(&mut place, key);
    place
}

/// Marks the values of a copy that equal those of its original as read. Other values of the copy are left unread.
pub(crate) fn repeats(copy: Value<'_>, original: Value<'_>) {
    if copy.written() == original.written() {
        copy.mark(Mark::Taken);
    } else if copy.kind() == Kind::Object {
        for (key, field) in copy.fields() {
            if let Some(own) = original.get(&key) {
                repeats(field, own);
            }
        }
    } else {
        copy.items()
            .zip(original.items())
            .for_each(|(copy, original)| repeats(copy, original));
    }
}

/// Whether a value has content: null, `false` and empty values have none.
pub(crate) fn holds_something(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::Bool(false) => false,
        Kind::String => value.written() != "\"\"",
        Kind::Array | Kind::Object => !value.is_empty(),
        Kind::Bool(true) | Kind::Number => true,
    }
}

/// Marks retained values, and values inside, as unread again, because the fields that retained them are dropped.
pub(crate) fn drop_extra(value: Value<'_>) {
    if value.marked() == Mark::Retained {
        value.mark(Mark::Left);
    }
    value.fields().for_each(|(_, field)| drop_extra(field));
    value.items().for_each(drop_extra);
    for document in value.opened() {
        drop_extra(document.root());
    }
}

/// An unused value, as it was written; marked as retained.
pub(crate) fn left(value: Value<'_>) -> RawJson {
    let raw = raw(value);
    value.mark(Mark::Retained);
    raw
}

/// A value as it was written.
pub(crate) fn raw(value: Value<'_>) -> RawJson {
    RawJson(value.raw().to_owned())
}

/// A value as JSON without white space between its tokens.
pub(crate) fn compact(value: Value<'_>) -> String {
    let mut compact = String::with_capacity(value.raw().len());
    push_compact(&mut compact, value.raw());
    compact
}

/// A value as text: a string unquoted, null as the empty text, everything else as compact JSON.
pub(crate) fn text_of(value: Value<'_>) -> String {
    match value.as_str() {
        Some(text) => text.into_owned(),
        None if value.is_null() => String::new(),
        None => compact(value),
    }
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
