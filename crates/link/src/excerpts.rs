//! References that contain only the beginning of their target's text, without an id.
//!
//! The target is the nearest earlier message with this beginning, ignoring white space; if the reference names a participant as the author,
//! only that author's messages count. The excerpts of a conversation form one prefix tree with an excerpt per node, and every message goes
//! down this tree once: time and memory are linear in excerpts and texts, except for the logarithm of a search among siblings. (A tree of
//! single characters has the better bound, and was slower: an excerpt of a megabyte took 50 MB and a cache miss for each of its
//! characters.)

use std::collections::HashMap;

use chatmill_diag::cut;
use chatmill_model::{Conversation, Message, Reference, ReferenceForm};

/// A prefix tree of all excerpts, with the messages that were matched against it so far.
pub(crate) struct Excerpts<'c> {
    /// The excerpts, sorted; the first node is the root.
    nodes: Vec<Prefix>,
    /// The length of the longest excerpt, in bytes.
    longest: usize,
    /// The last message that begins with an excerpt, for each node and sender, and for any sender.
    passed: HashMap<(usize, Option<usize>), u32>,
    /// Indexes of participants, by id.
    authors: HashMap<&'c str, usize>,
}

/// A node: the text that an excerpt adds to the longest other excerpt that it begins with.
#[derive(Default)]
struct Prefix {
    added: String,
    /// The excerpts that have this one as their longest prefix, sorted.
    children: Vec<usize>,
}

impl<'c> Excerpts<'c> {
    /// Makes the tree for the excerpts of a conversation; no message has been matched yet.
    pub(crate) fn of(conversation: &'c Conversation) -> Self {
        let references = conversation
            .messages
            .iter()
            .flat_map(|message| &message.references);
        let mut texts: Vec<String> = references
            .filter_map(excerpt)
            .map(|shown| collapsed(shown.chars()).collect())
            .collect();
        texts.sort_unstable();
        texts.dedup();
        let participants = conversation.participants.iter().enumerate();
        let mut authors = HashMap::new();
        for (index, participant) in participants.filter(|_| !texts.is_empty()) {
            authors.entry(participant.id.as_str()).or_insert(index);
        }
        Self {
            longest: texts.iter().map(String::len).max().unwrap_or(0),
            nodes: tree(&texts),
            passed: HashMap::new(),
            authors,
        }
    }

    /// The child of a node with which a text continues, and the rest of the text after it.
    fn step<'t>(&self, node: usize, text: &'t str) -> Option<(usize, &'t str)> {
        let children = &self.nodes.get(node)?.children;
        let added = |child: usize| self.nodes.get(child).map(|child| child.added.as_str());
        let greater = children.partition_point(|child| added(*child) <= Some(text));
        let child = *children.get(greater.checked_sub(1)?)?;
        Some((child, text.strip_prefix(added(child)?)?))
    }

    /// The last message that passed and begins with the excerpt of the reference.
    pub(crate) fn find(&self, reference: &Reference) -> Option<u32> {
        let shown: String = collapsed(excerpt(reference)?.chars()).collect();
        let (mut node, mut rest) = (0, shown.as_str());
        while !rest.is_empty() {
            (node, rest) = self.step(node, rest)?;
        }
        let author = reference.preview.as_ref()?.sender.as_deref();
        let author = author.and_then(|id| self.authors.get(id).copied());
        self.passed.get(&(node, author)).copied()
    }

    /// Adds a message, so that later references find it.
    pub(crate) fn pass(&mut self, message: &Message) {
        if self.longest == 0 {
            return;
        }
        let texts = message
            .texts()
            .flat_map(|text| std::iter::once(' ').chain(text.chars()));
        let text: String = collapsed(texts).take(self.longest).collect();
        let (mut node, mut rest) = (0, text.as_str());
        while let Some((child, left)) = self.step(node, rest) {
            (node, rest) = (child, left);
            self.passed.insert((node, None), message.position);
            if message.sender.is_some() {
                self.passed.insert((node, message.sender), message.position);
            }
        }
    }
}

/// The prefix tree of sorted, different texts.
fn tree(texts: &[String]) -> Vec<Prefix> {
    let mut nodes = vec![Prefix::default()];
    // The path from the root to the last node, with the text of each.
    let mut above = vec![(0, "")];
    for text in texts.iter().filter(|text| !text.is_empty()) {
        let (parent, added) = loop {
            match above.last() {
                Some((node, beginning)) => match text.strip_prefix(beginning) {
                    Some(added) => break (*node, added),
                    None => above.pop(),
                },
                None => break (0, text.as_str()),
            };
        };
        let node = nodes.len();
        cut::at_mut(&mut nodes, parent).children.push(node);
        nodes.push(Prefix {
            added: added.to_owned(),
            children: Vec::new(),
        });
        above.push((node, text));
    }
    nodes
}

/// The text that a reference contains, without the dots that mark a cut.
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

/// The characters with every run of white space as one space, and none at the ends.
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
