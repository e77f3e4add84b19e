//! Groups of members that share keys: a union-find forest.

use std::collections::HashMap;

use chatmill_diag::cut;

/// Members and their connections.
#[derive(Debug, Default)]
pub struct Forest {
    parents: Vec<usize>,
    first: HashMap<u128, usize>,
}

impl Forest {
    /// Adds a member and returns its number, counted from 0.
    pub fn add(&mut self) -> usize {
        let member = self.parents.len();
        self.parents.push(member);
        member
    }

    /// Connects a member with all members that have this key.
    pub fn connect(&mut self, member: usize, key: u128) {
        let first = *self.first.entry(key).or_insert(member);
        self.join(first, member);
    }

    /// Connects two members.
    pub fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        // The older member stays on top, so a root is always the first of its group.
        *cut::at_mut(&mut self.parents, one.max(other)) = one.min(other);
    }

    /// The first member of a member's group.
    pub fn root(&mut self, member: usize) -> usize {
        let mut at = member;
        loop {
            let parent = *cut::at(&self.parents, at);
            if parent == at {
                return at;
            }
            // Halves the path for later calls.
            let skipped = *cut::at(&self.parents, parent);
            *cut::at_mut(&mut self.parents, at) = skipped;
            at = skipped;
        }
    }
}
