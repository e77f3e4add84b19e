//! Fields that the model has no place for: kept as written, each under its path in the message or record.

use chatmill_intake::json::{Kind, Mark, Value, append_key};
use chatmill_model::json::{push_compact, push_string};
use chatmill_model::{Extra, Part, RawJson};

/// Fields without a place, by path and in input order.
pub(crate) type Kept = Vec<(String, RawJson)>;

/// Something that keeps such fields.
pub(crate) trait Keep {
    /// The fields so far.
    fn kept(&mut self) -> &mut Kept;

    /// Keeps a value under its path: nobody has a use for it, which is told unless its format lists it as without meaning.
    fn keep(&mut self, path: impl Into<String>, value: Value<'_>) {
        self.kept().push((path.into(), left(value)));
    }

    /// Keeps a value of which a finding of its own tells.
    fn keep_told(&mut self, path: impl Into<String>, value: Value<'_>) {
        self.keep(path, value);
        value.mark(Mark::Told);
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

/// Marks what a copy says that its original says, too: it is read there. What only the copy says is left.
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

/// Whether a value says anything: null, `false`, and what is empty do not.
pub(crate) fn holds_something(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null | Kind::Bool(false) => false,
        Kind::String => value.written() != "\"\"",
        Kind::Array | Kind::Object => !value.is_empty(),
        Kind::Bool(true) | Kind::Number => true,
    }
}

/// Takes back that values are kept, where whoever kept them is dropped: they are left, and so is what is inside.
pub(crate) fn drop_kept(value: Value<'_>) {
    if value.marked() == Mark::Kept {
        value.mark(Mark::Left);
    }
    value.fields().for_each(|(_, field)| drop_kept(field));
    value.items().for_each(drop_kept);
    for document in value.opened() {
        drop_kept(document.root());
    }
}

/// A value that nobody has a use for, as it was written.
pub(crate) fn left(value: Value<'_>) -> RawJson {
    let raw = raw(value);
    value.mark(Mark::Kept);
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
