//! Numbers for texts that many rows contain, so that no row copies, compares or hashes them.

use std::collections::HashMap;
use std::sync::Arc;

/// The number of a text that many rows of a [`PartSet`](crate::PartSet) contain, such as an id, a name or a code. The
/// default is the empty text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key(u32);

impl Key {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The keys of a set of files.
pub struct Keys {
    texts: Vec<Arc<str>>,
    known: HashMap<Arc<str>, Key>,
}

impl Keys {
    pub(crate) fn new() -> Self {
        let mut keys = Self {
            texts: Vec::new(),
            known: HashMap::new(),
        };
        keys.key("");
        keys
    }

    /// The key of a text.
    pub(crate) fn key(&mut self, text: &str) -> Key {
        if let Some(key) = self.known.get(text) {
            return *key;
        }
        let key = Key(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.known.insert(text, key);
        key
    }

    /// The text of a key. The key of another set is either unknown, which ends the run, or names another text.
    #[expect(clippy::indexing_slicing, reason = "a set has the text of every key it gave")]
    pub(crate) fn text(&self, key: Key) -> &str {
        &self.texts[key.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_a_key_and_the_default_is_empty() {
        let mut keys = Keys::new();
        let (one, other) = (keys.key("a"), keys.key("b"));
        assert_ne!(one, other);
        assert_eq!(keys.key("a"), one);
        assert_eq!(keys.key(""), Key::default());
        assert_eq!((keys.text(other), keys.text(Key::default())), ("b", ""));
    }
}
