//! Shared words of the parts: moves or drops conversations that share words with an earlier part, and counts the rest.

use std::collections::BTreeMap;

use chatmill_diag::cut;
use chatmill_link::Forest;

use crate::error::ExportError;
use crate::split::shared::{Met, Placement, Shared};
use crate::split::texts::ConversationTexts;
use crate::split::{LeakRule, Split};

/// A division with parts that may still share words.
pub(crate) struct Division<'d> {
    pub(crate) split: &'d Split,
    pub(crate) texts: ConversationTexts<'d>,
    /// The group of each conversation.
    pub(crate) groups: &'d [usize],
    /// The part of each conversation in an earlier export, which it keeps.
    pub(crate) assigned: &'d [Option<usize>],
    /// Whether an earlier export has a conversation of a group, by the index of the group.
    pub(crate) is_bound: &'d dyn Fn(usize) -> bool,
    /// The part of each conversation.
    pub(crate) parts: Vec<Option<usize>>,
}

/// The words that the parts of a division share.
pub(crate) struct Leaks {
    /// Conversations that went to another part.
    pub(crate) moved: u64,
    /// Whether each conversation is left out.
    pub(crate) dropped: Vec<bool>,
    /// Whether each conversation shares words with an earlier part, or the reason for which that was not counted.
    pub(crate) left: Result<Vec<bool>, String>,
}

impl Division<'_> {
    /// Handles shared words as the plan requires; moved conversations get their new parts.
    pub(crate) fn resolve(&mut self) -> Result<Leaks, ExportError> {
        let mut leaks = Leaks {
            moved: 0,
            dropped: vec![false; self.parts.len()],
            left: Err("the dataset has no table `messages`".to_owned()),
        };
        let has_texts = self
            .texts
            .corpora
            .iter()
            .all(|corpus| corpus.dataset.has("messages"));
        match self.split.ngram_leaks {
            LeakRule::Keep if !has_texts => return Ok(leaks),
            LeakRule::Keep => {}
            LeakRule::Move => {
                leaks.moved = self.move_all()?;
                // A new conversation may share words with two parts of the earlier export, and then belongs in neither.
                if self.split.like.is_some() {
                    leaks.dropped = self.sharing()?;
                }
            }
            LeakRule::Drop => leaks.dropped = self.sharing()?,
        }
        let is_there = |(part, dropped): (&Option<usize>, &bool)| part.filter(|_| !dropped);
        let placements: Vec<Option<Placement>> = self
            .parts
            .iter()
            .zip(&leaks.dropped)
            .map(is_there)
            .map(|part| part.map(|part| Placement { part, turn: part }))
            .collect();
        leaks.left = self
            .find_shared(&placements, Met::Counts)?
            .ok_or_else(|| self.excess());
        Ok(leaks)
    }

    /// The conversations that share words with an earlier part. Conversations of an earlier export come first and stay.
    fn sharing(&self) -> Result<Vec<bool>, ExportError> {
        let placement = |(part, assigned): (&Option<usize>, &Option<usize>)| {
            part.map(|part| Placement {
                part,
                turn: if assigned.is_some() { 0 } else { part + 1 },
            })
        };
        let placements: Vec<Option<Placement>> =
            self.parts.iter().zip(self.assigned).map(placement).collect();
        self.find_shared(&placements, Met::Goes)?
            .ok_or_else(|| self.refusal())
    }

    fn find_shared(
        &self,
        placements: &[Option<Placement>],
        met: Met,
    ) -> Result<Option<Vec<bool>>, ExportError> {
        let is_later =
            |number: usize| cut::at(placements, number).is_some_and(|placement| placement.part > 0);
        let shared = self.index(&is_later)?;
        shared
            .map(|shared| shared.find_shared(placements, met))
            .transpose()
    }

    fn index(&self, is_indexed: &dyn Fn(usize) -> bool) -> Result<Option<Shared<'_>>, ExportError> {
        Shared::index(&self.texts, self.split.ngram, self.split.most_words, is_indexed)
    }

    /// Moves groups that share words with one another to the earliest of their parts, and returns the number of moved conversations.
    fn move_all(&mut self) -> Result<u64, ExportError> {
        let has_part = |number: usize| cut::at(&self.parts, number).is_some();
        // With an earlier export, new conversations of the first part may have to leave it.
        let may_move = |number: usize| {
            let is_later = cut::at(&self.parts, number).is_some_and(|part| part > 0);
            is_later
                || (self.split.like.is_some() && has_part(number) && cut::at(self.assigned, number).is_none())
        };
        let shared = self.index(&may_move)?.ok_or_else(|| self.refusal())?;
        let mut forest = Forest::default();
        for _ in &self.parts {
            forest.add();
        }
        shared.join(&has_part, self.groups, &mut forest)?;
        let roots: Vec<usize> = self.groups.iter().map(|group| forest.root(*group)).collect();
        // The first member that an earlier export has decides, as for a group; without one, the earliest part.
        let mut group_parts: BTreeMap<usize, (bool, usize)> = BTreeMap::new();
        for ((root, part), assigned) in roots.iter().zip(&self.parts).zip(self.assigned) {
            let Some(part) = assigned.or(*part) else {
                continue;
            };
            let target = group_parts.entry(*root).or_insert((assigned.is_some(), part));
            match (target.0, assigned.is_some()) {
                (false, true) => *target = (true, part),
                (false, false) => target.1 = target.1.min(part),
                (true, _) => {}
            }
        }
        let mut moved = 0;
        for (number, root) in roots.iter().enumerate() {
            let Some((_, target)) = group_parts.get(root) else {
                continue;
            };
            let part = cut::at_mut(&mut self.parts, number);
            let is_free =
                cut::at(self.assigned, number).is_none() && !(self.is_bound)(*cut::at(self.groups, number));
            if is_free && part.is_some_and(|part| part != *target) {
                *part = Some(*target);
                moved += 1;
            }
        }
        Ok(moved)
    }

    fn excess(&self) -> String {
        let most = self.split.most_words;
        format!(
            "the parts after the first have more than the {most} words that `limits.split_words` allows to compare"
        )
    }

    fn refusal(&self) -> ExportError {
        ExportError::request(
            self.excess(),
            "raise `limits.split_words` and run the pipeline again, make these parts smaller, or take `split.ngram_leaks = \"keep\"`",
        )
    }
}
