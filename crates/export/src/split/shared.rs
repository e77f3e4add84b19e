//! Sequences of words that conversations of different parts share.
//!
//! An index has the words of all parts except the first, and the others are looked up in it, so that memory follows the smaller parts. The
//! findings about a sequence are kept per sequence and not per pair of conversations: a sentence that everybody uses costs no more than one
//! that two conversations share.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use chatmill_diag::cut;
use chatmill_link::{Forest, KnownRun, Ngrams};

use crate::error::ExportError;
use crate::split::texts::ConversationTexts;

/// The place of a conversation in a comparison.
#[derive(Clone, Copy)]
pub(crate) struct Placement {
    /// The part of the conversation.
    pub(crate) part: usize,
    /// The turn in which it is compared: with all conversations of earlier turns, and not with those of the same turn.
    pub(crate) turn: usize,
}

/// The handling of a conversation that shares words with one of an earlier turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    /// It is found, and later ones are compared with it.
    Counts,
    /// It is found, and later ones are not compared with it.
    Goes,
}

/// An index of the words of some conversations, and the texts of all.
pub(crate) struct Shared<'s> {
    texts: &'s ConversationTexts<'s>,
    index: Ngrams,
}

impl<'s> Shared<'s> {
    /// Indexes some conversations; `None` if they have more words than `most`.
    pub(crate) fn index(
        texts: &'s ConversationTexts<'s>,
        length: NonZeroUsize,
        most: u64,
        is_indexed: &dyn Fn(usize) -> bool,
    ) -> Result<Option<Self>, ExportError> {
        let mut index = Ngrams::new(length, u32::try_from(most).unwrap_or(u32::MAX));
        let is_full = Cell::new(false);
        texts.each(
            &|number| !is_full.get() && is_indexed(number),
            &mut |number, text| {
                let added = u32::try_from(number).map(|owner| index.add(text, owner));
                is_full.set(is_full.get() || !matches!(added, Ok(Ok(()))));
            },
        )?;
        Ok((!is_full.get()).then_some(Self { texts, index }))
    }

    /// Joins the groups of conversations that share a sequence of the index.
    pub(crate) fn join(
        &self,
        is_compared: &dyn Fn(usize) -> bool,
        groups: &[usize],
        forest: &mut Forest,
    ) -> Result<(), ExportError> {
        let mut last = None;
        self.each_run(is_compared, &mut |number, run| {
            let pair = (number, self.index.owner(run) as usize);
            // The sequences of one passage have one owner.
            if last.replace(pair) != Some(pair) {
                forest.join(*cut::at(groups, pair.0), *cut::at(groups, pair.1));
            }
            ControlFlow::Continue(())
        })
    }

    /// Whether each conversation shares a sequence with one of another part in an earlier turn; conversations without a placement are not compared.
    pub(crate) fn find_shared(
        &self,
        placements: &[Option<Placement>],
        becomes: Met,
    ) -> Result<Vec<bool>, ExportError> {
        let mut found = vec![false; placements.len()];
        // The part in which a sequence was found; `None` for several parts.
        let mut met: HashMap<KnownRun, Option<usize>> = HashMap::new();
        let part_in = |number: usize, turn: usize| {
            let placement = placements.get(number).copied().flatten();
            placement
                .filter(|placement| placement.turn == turn)
                .map(|placement| placement.part)
        };
        let turns: BTreeSet<usize> = placements
            .iter()
            .flatten()
            .map(|placement| placement.turn)
            .collect();
        for turn in &turns {
            let turn = *turn;
            if !met.is_empty() {
                self.each_run(
                    &|number| part_in(number, turn).is_some(),
                    &mut |number, run| match met.get(&run) {
                        Some(part) if *part != part_in(number, turn) => {
                            *cut::at_mut(&mut found, number) = true;
                            ControlFlow::Break(())
                        }
                        _ => ControlFlow::Continue(()),
                    },
                )?;
            }
            if turns.last() == Some(&turn) {
                break;
            }
            let stays = |number: usize| becomes == Met::Counts || !*cut::at(&found, number);
            let is_added = |number: usize| part_in(number, turn).is_some() && stays(number);
            self.each_run(&is_added, &mut |number, run| {
                let own = part_in(number, turn);
                let part = met.entry(run).or_insert(own);
                if *part != own {
                    *part = None;
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(found)
    }

    /// Visits the sequences of the index in the texts of conversations; a visit that breaks ends its text.
    fn each_run(
        &self,
        is_wanted: &dyn Fn(usize) -> bool,
        visit: &mut dyn FnMut(usize, KnownRun) -> ControlFlow<()>,
    ) -> Result<(), ExportError> {
        self.texts.each(is_wanted, &mut |number, text| {
            // After a break, the text has nothing more to find.
            let _ = self.index.each_run(text, &mut |run| visit(number, run));
        })
    }
}
