//! References that show only the beginning of their target's text, without an id.
//!
//! The target is the nearest earlier message with this beginning, ignoring white space; only messages of the
//! author count, where the reference names a participant. All excerpts of a conversation form one tree of
//! characters, and every message walks down this tree once: the time is linear in excerpts and texts, however
//! many there are of either.

use std::collections::HashMap;

use chatmill_diag::cut;
use chatmill_model::{Conversation, Message, Reference, ReferenceForm};

/// A prefix tree of all excerpts, with the messages that were matched against it so far.
#[derive(Default)]
pub(crate) struct Excerpts<'c> {
    branches: HashMap<(usize, char), usize>,
    /// For each node whether an excerpt ends there; the root is 0.
    ends: Vec<bool>,
    /// The last message whose text begins with an excerpt, by sender and for any sender.
    passed: HashMap<(usize, Option<usize>), u32>,
    /// Participants by id.
    authors: HashMap<&'c str, usize>,
}

impl<'c> Excerpts<'c> {
    /// A tree with the excerpts of a conversation; no message has been matched yet.
    pub(crate) fn of(conversation: &'c Conversation) -> Self {
        let mut tree = Self::default();
        let references = conversation
            .messages
            .iter()
            .flat_map(|message| &message.references);
        for shown in references.filter_map(excerpt) {
            tree.plant(shown);
        }
        if !tree.branches.is_empty() {
            for (index, participant) in conversation.participants.iter().enumerate() {
                tree.authors.entry(&participant.id).or_insert(index);
            }
        }
        tree
    }

    fn plant(&mut self, shown: &str) {
        if self.ends.is_empty() {
            self.ends.push(false);
        }
        let mut node = 0;
        for character in collapsed(shown.chars()) {
            let next = self.ends.len();
            node = *self.branches.entry((node, character)).or_insert(next);
            if node == next {
                self.ends.push(false);
            }
        }
        if node > 0 {
            *cut::at_mut(&mut self.ends, node) = true;
        }
    }

    /// The last message that passed and begins as the reference shows.
    pub(crate) fn find(&self, reference: &Reference) -> Option<u32> {
        let mut node = 0;
        for character in collapsed(excerpt(reference)?.chars()) {
            node = *self.branches.get(&(node, character))?;
        }
        let author = reference.preview.as_ref()?.sender.as_deref();
        let author = author.and_then(|id| self.authors.get(id).copied());
        self.passed.get(&(node, author)).copied()
    }

    /// Lets a message pass, so that later references find it.
    pub(crate) fn pass(&mut self, message: &Message) {
        if self.branches.is_empty() {
            return;
        }
        let texts = message
            .texts()
            .flat_map(|text| std::iter::once(' ').chain(text.chars()));
        let mut node = 0;
        for character in collapsed(texts) {
            let Some(next) = self.branches.get(&(node, character)) else {
                return;
            };
            node = *next;
            if self.ends.get(node) == Some(&true) {
                self.passed.insert((node, None), message.position);
                if message.sender.is_some() {
                    self.passed.insert((node, message.sender), message.position);
                }
            }
        }
    }
}

/// The text that a reference shows, without the dots that mark a cut.
fn excerpt(reference: &Reference) -> Option<&str> {
    if reference.form != ReferenceForm::Excerpt {
        return None;
    }
    let shown = reference.preview.as_ref()?.content.as_deref()?.trim_end();
    let cut = shown.strip_suffix('…').or_else(|| {
        shown
            .strip_suffix("..")
            .map(|rest| rest.strip_suffix('.').unwrap_or(rest))
    });
    Some(cut.unwrap_or(shown))
}

/// Characters with every run of white space as one blank, and none at the ends.
fn collapsed(characters: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    let mut started = false;
    let mut owes_blank = false;
    characters
        .flat_map(move |character| {
            if character.is_whitespace() {
                owes_blank = started;
                return [None, None];
            }
            started = true;
            [std::mem::take(&mut owes_blank).then_some(' '), Some(character)]
        })
        .flatten()
}
