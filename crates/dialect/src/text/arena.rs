//! Texts that are made while a conversation is rendered: quoted heads, respelled names, text freed of what leaked into it.
//!
//! They stay as long as the conversation's renderings are made, each once, so that turns hold nothing but borrowed text and
//! all renderings share what one of them made.

use std::borrow::Cow;

use elsa::index_set::FrozenIndexSet;

/// The texts that were made for one conversation.
#[derive(Default)]
pub struct MadeTexts(FrozenIndexSet<String>);

impl MadeTexts {
    /// Keeps a text: as it is where it is borrowed, else one of each.
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
        let made = MadeTexts::default();
        let borrowed = "a";
        assert!(std::ptr::eq(made.keep(borrowed), borrowed));
        let first = made.keep("b".to_owned());
        for number in 0..100 {
            made.keep(number.to_string());
        }
        assert!(std::ptr::eq(made.keep("b".to_owned()), first));
        assert_eq!(first, "b");
    }
}
