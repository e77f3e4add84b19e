//! Writing a JSON object key by key.

use std::borrow::Cow;

use chatmill_model::{Component, Extra, RawJson, Rope};

/// A key as it stands in JSON, so that it is one segment.
macro_rules! key {
    ($key:literal) => {
        concat!("\"", $key, "\":")
    };
}
pub(crate) use key;

/// An object that is being written.
pub(crate) struct Object<'r, 'a> {
    rope: &'r mut Rope<'a>,
    is_empty: bool,
}

impl<'r, 'a> Object<'r, 'a> {
    /// Opens an object.
    pub(crate) fn open(rope: &'r mut Rope<'a>) -> Self {
        rope.framing("{");
        Self { rope, is_empty: true }
    }

    /// Closes it.
    pub(crate) fn close(self) {
        self.rope.framing("}");
    }

    fn separate(&mut self) {
        if !self.is_empty {
            self.rope.framing(",");
        }
        self.is_empty = false;
    }

    /// Writes a key of the format, quoted and with its colon ([`key!`]); its value has to follow.
    pub(crate) fn key(&mut self, key: &'static str) -> &mut Rope<'a> {
        self.separate();
        self.rope.framing(key);
        self.rope
    }

    /// Writes a string, if there is one.
    pub(crate) fn string(
        &mut self,
        key: &'static str,
        value: Option<impl Into<Cow<'a, str>>>,
        component: Component,
    ) {
        if let Some(value) = value {
            self.key(key).json_string(value, component);
        }
    }

    /// Writes a word of the format, with its quotes.
    pub(crate) fn word(&mut self, key: &'static str, word: &'static str) {
        self.key(key).framing(word);
    }

    /// Writes JSON as the source wrote it.
    pub(crate) fn raw(&mut self, key: &'static str, value: &'a RawJson) {
        self.key(key).raw_json(value.as_str(), Component::Meta);
    }

    /// Writes a field that the format does not know.
    pub(crate) fn field(&mut self, key: &'a str, value: &'a RawJson) {
        self.separate();
        self.rope.json_string(key, Component::Meta);
        self.rope.framing(":");
        self.rope.raw_json(value.as_str(), Component::Meta);
    }

    /// Writes such fields in order.
    pub(crate) fn fields(&mut self, extra: &'a Extra) {
        for (key, value) in &extra.0 {
            self.field(key, value);
        }
    }
}
