//! Writes a JSON object key by key.

use std::borrow::Cow;

use chatmill_model::{Component, Level, RawJson, Sink};

/// Makes a key with the comma before it, and the colon and the quotation mark of a string after it, so that all of it is one segment.
macro_rules! key {
    ($key:literal) => {
        concat!(",\"", $key, "\":\"")
    };
}
pub(crate) use key;

/// Writes a list: each item with `write`, with commas between them.
pub(crate) fn list<'a, T>(
    sink: &mut Sink<'a>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Sink<'a>),
) {
    sink.framing("[");
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            sink.framing(",");
        }
        write(item, sink);
    }
    sink.framing("]");
}

/// An object that is being written.
pub(crate) struct Object<'r, 'a> {
    sink: &'r mut Sink<'a>,
    is_empty: bool,
}

impl<'r, 'a> Object<'r, 'a> {
    /// Opens an object.
    pub(crate) fn open(sink: &'r mut Sink<'a>) -> Self {
        sink.framing("{");
        Self { sink, is_empty: true }
    }

    /// Closes the object.
    pub(crate) fn close(self) {
        self.sink.framing("}");
    }

    fn separate(&mut self) {
        if !self.is_empty {
            self.sink.framing(",");
        }
        self.is_empty = false;
    }

    /// Writes a key of the format, quoted and with its colon ([`key!`]); its value has to follow.
    pub(crate) fn key(&mut self, key: &'static str) -> &mut Sink<'a> {
        let (key, _) = key.split_at(key.len() - 1);
        self.segment(key)
    }

    /// Writes a key, without the comma if it is the first.
    fn segment(&mut self, key: &'static str) -> &mut Sink<'a> {
        let comma = usize::from(std::mem::take(&mut self.is_empty));
        self.sink.framing(key.split_at(comma).1);
        self.sink
    }

    /// Writes a string, if there is one.
    pub(crate) fn string(
        &mut self,
        key: &'static str,
        value: Option<impl Into<Cow<'a, str>>>,
        component: Component,
    ) {
        if let Some(value) = value {
            let sink = self.segment(key);
            sink.content(value, Level::JsonString, component);
            sink.framing("\"");
        }
    }

    /// Writes a word of the format, with its quotes.
    pub(crate) fn word(&mut self, key: &'static str, word: &'static str) {
        self.key(key).framing(word);
    }

    /// Writes JSON as the source wrote it, if there is any.
    pub(crate) fn raw(&mut self, key: &'static str, value: Option<&'a RawJson>) {
        if let Some(value) = value {
            self.key(key).raw_json(value.as_str(), Component::Meta);
        }
    }

    /// Writes a key that the format does not know; its value has to follow.
    pub(crate) fn named(&mut self, key: &'a str) -> &mut Sink<'a> {
        self.separate();
        self.sink.json_string(key, Component::Meta);
        self.sink.framing(":");
        self.sink
    }

    /// Writes a field that the format does not know.
    pub(crate) fn field(&mut self, key: &'a str, value: &'a RawJson) {
        self.named(key).raw_json(value.as_str(), Component::Meta);
    }

    /// Writes fields that the format does not know, in order.
    pub(crate) fn fields(&mut self, fields: impl IntoIterator<Item = (&'a str, &'a RawJson)>) {
        for (key, value) in fields {
            self.field(key, value);
        }
    }
}
