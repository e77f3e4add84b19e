//! An arena for texts that are made while a conversation is rendered: words before quotes, respelled names, text without leaked metadata.
//!
//! Each text is stored once and lives as long as the renderings of the conversation, so that turns borrow all of their text and renderings
//! share it.

use std::borrow::Cow;

use elsa::index_set::FrozenIndexSet;

/// The texts that were made while one conversation was rendered.
#[derive(Default)]
pub struct TextArena(FrozenIndexSet<String>);

impl TextArena {
    /// Stores an owned text, unless an equal one is stored already, and returns it; a borrowed text is returned unchanged.
    pub(crate) fn keep<'a>(&'a self, text: impl Into<Cow<'a, str>>) -> &'a str {
        match text.into() {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => self.0.insert(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_and_borrowed_ones_stay_where_they_are() {
        let arena = TextArena::default();
        let borrowed = "a";
        assert!(std::ptr::eq(arena.keep(borrowed), borrowed));
        let first = arena.keep("b".to_owned());
        for number in 0..100 {
            arena.keep(number.to_string());
        }
        assert!(std::ptr::eq(arena.keep("b".to_owned()), first));
        assert_eq!(first, "b");
    }
}
