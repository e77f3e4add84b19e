//! Finds each atom of a conversation in what is read back, in order.
//!
//! The search reads both lists of atoms from the front. An atom of the conversation is found as what it is, or as the words
//! that a declared loss puts in its place; it may be missing, or stand elsewhere, where a loss of its message says so. An
//! atom that was read back and is no atom of the conversation has to be one that a declared loss adds.

use std::collections::{BTreeSet, HashSet};

use chatmill_dialect::LossCode;
use chatmill_model::Role;

use super::atoms::{Atom, Kind};
use super::case::Case;
use super::declared::Declared;

/// States that a search may try.
const MAX_STATES: usize = 3_000;

/// Where an atom was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Index among the atoms that were read back.
    pub read: usize,
    /// Who says it, where a word before it says so.
    pub role: Option<Role>,
    /// Whether other words stand for it.
    pub is_worded: bool,
    /// Whether a name stands before it.
    pub is_named: bool,
}

/// For each atom of the conversation where it was found.
#[derive(Clone, Debug)]
pub(super) struct Alignment {
    /// By atom of the conversation; none where it is lost.
    pub found: Vec<Option<Found>>,
}

/// How far a search has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// Atoms of the conversation that are done, but for those in `moved`.
    pub(super) source: usize,
    /// Atoms that were read back and are done.
    pub(super) read: usize,
    /// How much of the next one is done.
    pub(super) offset: usize,
    /// Atoms before `source` that are still to be found, and those after it that are found already.
    pub(super) moved: BTreeSet<usize>,
}

/// Two lists of atoms and what is declared.
pub(super) struct Search<'s, 'c> {
    /// What is judged.
    pub case: &'s Case<'c>,
    /// Atoms of the conversation.
    pub source: &'s [Atom<'c>],
    /// Atoms that were read back.
    pub read: &'s [Atom<'c>],
    pub(super) declared: &'s Declared,
    /// Atoms that may stand elsewhere.
    pub movable: Vec<bool>,
    /// Atoms that may be missing.
    pub losable: Vec<bool>,
}

/// One way to go on.
struct Step {
    next: State,
    found: Option<(usize, Found)>,
}

impl<'s, 'c> Search<'s, 'c> {
    pub(super) fn new(case: &'s Case<'c>, source: &'s [Atom<'c>], read: &'s [Atom<'c>]) -> Self {
        let declared = case.declared;
        let mut search = Self {
            case,
            source,
            read,
            declared,
            movable: Vec::new(),
            losable: Vec::new(),
        };
        search.movable = (0..source.len()).map(|index| search.may_move(index)).collect();
        search.losable = source.iter().map(|atom| search.may_be_lost(atom)).collect();
        search
    }

    pub(super) fn align(&self) -> Result<Alignment, String> {
        let mut starts = vec![(0, 0)];
        if self.declared.whole(LossCode::SystemAdded) > 0
            && let Some(text) = self.read.first().and_then(text_of)
        {
            let added = usize::try_from(self.declared.whole(LossCode::SystemAdded)).unwrap_or(usize::MAX);
            starts = (1..=added).rev().map(|read| (read, 0)).collect();
            starts.extend(text.match_indices("\n\n").map(|(at, _)| (0, at)));
        }
        let mut failed = HashSet::new();
        let mut furthest = (0, 0, 0);
        for (read, offset) in starts {
            let mut alignment = Alignment {
                found: vec![None; self.source.len()],
            };
            let state = State {
                source: 0,
                read,
                offset,
                moved: BTreeSet::new(),
            };
            if self.go(state, &mut failed, &mut alignment, &mut furthest) {
                return Ok(alignment);
            }
        }
        let (read, offset, source) = furthest;
        let rest = self.read.get(read).map(|atom| match text_of(atom) {
            Some(text) => format!("{:?}", text.get(offset..)),
            None => format!("{:?}", atom.kind),
        });
        let many = if failed.len() > MAX_STATES {
            "too many ways; "
        } else {
            ""
        };
        Err(many.to_owned()
            + &format!(
                "what is read back from {rest:?} on is not {:?}",
                self.source.get(source).map(|atom| (atom.position(), &atom.kind))
            ))
    }

    fn go(
        &self,
        mut state: State,
        failed: &mut HashSet<State>,
        alignment: &mut Alignment,
        furthest: &mut (usize, usize, usize),
    ) -> bool {
        while state.moved.remove(&state.source) {
            state.source += 1;
        }
        *furthest = (*furthest).max((state.read, state.offset, state.source));
        if state.source == self.source.len() && state.read == self.read.len() {
            return state.moved.is_empty();
        }
        if failed.len() > MAX_STATES || failed.contains(&state) {
            return false;
        }
        for step in self.steps(&state) {
            if let Some((source, found)) = step.found {
                alignment.found[source] = Some(found);
            }
            if self.go(step.next, failed, alignment, furthest) {
                return true;
            }
            if let Some((source, _)) = step.found {
                alignment.found[source] = None;
            }
        }
        failed.insert(state);
        false
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        let next = state.source;
        if state.read < self.read.len() {
            let after = (next + 1..self.source.len()).filter(|index| self.movable[*index]);
            let waiting = state.moved.iter().copied().filter(|index| *index < next);
            let ahead = after.filter(|index| !state.moved.contains(index));
            for index in (next..self.source.len().min(next + 1))
                .chain(waiting)
                .chain(ahead)
            {
                self.find(state, index, &mut steps);
            }
            if state.offset == 0 && self.is_added(state) {
                steps.push(Step {
                    next: self.advanced(state, None),
                    found: None,
                });
            }
            self.emptied(state, &mut steps);
            self.filled(state, &mut steps);
        }
        if next < self.source.len() {
            if self.losable[next] {
                steps.push(Step {
                    next: State {
                        source: next + 1,
                        ..state.clone()
                    },
                    found: None,
                });
            }
            if self.movable[next] {
                let mut later = state.clone();
                later.moved.insert(next);
                later.source += 1;
                steps.push(Step {
                    next: later,
                    found: None,
                });
            }
        }
        steps
    }

    fn advanced(&self, state: &State, offset: Option<usize>) -> State {
        let length = self.read.get(state.read).and_then(text_of).map_or(0, str::len);
        let mut next = state.clone();
        if let Some(offset) = offset.filter(|offset| *offset < length) {
            next.offset = offset;
        } else {
            (next.read, next.offset) = (state.read + 1, 0);
        }
        next
    }

    fn find(&self, state: &State, index: usize, steps: &mut Vec<Step>) {
        let (atom, read) = (&self.source[index], &self.read[state.read]);
        if !self.is_id(atom, read) || !self.is_of_one_kind(atom, read) {
            return;
        }
        let Some(whole) = text_of(read) else {
            if self.is(atom, read) && self.is_said_as(atom, read, read.message.role, false) {
                steps.push(Self::taken(
                    state,
                    self.advanced(state, None),
                    index,
                    None,
                    [false; 2],
                ));
            }
            return;
        };
        let Some(text) = whole.get(state.offset..) else {
            return;
        };
        if state.offset == 0
            && let Kind::Text(found) = &atom.kind
            && let Some((count, end)) = self.thoughts(found, atom.position(), state.read)
        {
            let later = State {
                read: state.read + count,
                ..state.clone()
            };
            let next = if end == 0 {
                later
            } else {
                self.advanced(&later, Some(end))
            };
            steps.push(Self::taken(state, next, index, None, [false; 2]));
        }
        let joints: &[&str] = if state.offset > 0 {
            &["", "\n\n", "\n", " ", "\n\n\n"]
        } else {
            &["", "\n"]
        };
        for joint in joints {
            let Some(text) = text.strip_prefix(joint) else {
                continue;
            };
            for (prefix, role, is_named) in self.prefixes(atom, text) {
                let Some(rest) = text.get(prefix..) else { continue };
                let at = whole.len() - rest.len();
                for (end, is_worded) in self.spelled(atom, read, rest) {
                    if end == 0 && !matches!(&atom.kind, Kind::Result(result) if result.content.is_empty()) {
                        continue;
                    }
                    let is_block = self.declared.whole(LossCode::TurnMerged) > 0;
                    let speaks = role.unwrap_or(read.message.role);
                    if !(is_block && role.is_none() || self.is_said_as(atom, read, speaks, is_worded)) {
                        continue;
                    }
                    let next = self.advanced(state, Some(at + end));
                    steps.push(Self::taken(state, next, index, role, [is_worded, is_named]));
                }
            }
        }
    }

    /// Whether what a notice says is read back in a notice, and what a message says in a message: the same words may stand in both.
    fn is_of_one_kind(&self, atom: &Atom<'_>, read: &Atom<'_>) -> bool {
        let is_quiet = match atom.kind {
            Kind::Quote(_) | Kind::CacheMark => true,
            Kind::Result(_) => !matches!(read.kind, Kind::Text(_)),
            _ => read.kind == Kind::Nothing,
        };
        is_quiet || self.case.is_text || atom.message.kind == read.message.kind
    }

    fn taken(
        state: &State,
        mut next: State,
        index: usize,
        role: Option<Role>,
        [is_worded, is_named]: [bool; 2],
    ) -> Step {
        if index == state.source {
            next.source += 1;
        } else if !next.moved.remove(&index) {
            next.moved.insert(index);
        }
        let found = Found {
            read: state.read,
            role,
            is_worded,
            is_named,
        };
        Step {
            next,
            found: Some((index, found)),
        }
    }

    fn emptied(&self, state: &State, steps: &mut Vec<Step>) {
        let is_nothing = matches!(
            self.read[state.read].kind,
            Kind::Nothing | Kind::Text("(no content)")
        );
        let first = self
            .source
            .get(state.source)
            .filter(|_| is_nothing && state.offset == 0);
        let Some(first) = first.filter(|first| self.is_id(first, &self.read[state.read])) else {
            return;
        };
        // A result of the message may have become a turn of its own.
        let before = state.source.checked_sub(1).map(|before| &self.source[before]);
        let before = before.filter(|before| !matches!(before.kind, Kind::Result(_)));
        let before = before.map(Atom::position);
        let role = self.read[state.read].message.role;
        let is_text = matches!(self.read[state.read].kind, Kind::Text(_));
        if before == Some(first.position()) || !is_text && !self.case.is_role(first, role, false) {
            return;
        }
        let rest = self.source[state.source..]
            .iter()
            .take_while(|atom| atom.position() == first.position());
        if self.declared.at(LossCode::EmptyDropped, first.position()) > 0 {
            return;
        }
        let is_filled = self.declared.at(LossCode::EmptyFilled, first.position()) > 0;
        let is_gone = |atom: &&Atom<'_>| self.may_be_lost(atom) || is_filled && atom.kind == Kind::Nothing;
        let splits = self.declared.at(LossCode::TurnSplit, first.position()) > 0;
        let count = rest.clone().take_while(is_gone).count();
        // Its calls may be a turn of their own; its results are.
        let mut others = rest.skip(count);
        let is_apart = |atom: &Atom<'_>| match atom.kind {
            Kind::Call(_) => splits,
            Kind::Result(_) => true,
            _ => false,
        };
        if count > 0 && others.all(is_apart) {
            let mut next = self.advanced(state, None);
            next.source += count;
            let found = Found {
                read: state.read,
                role: None,
                is_worded: false,
                is_named: false,
            };
            steps.push(Step {
                next,
                found: Some((state.source, found)),
            });
        }
    }

    fn filled(&self, state: &State, steps: &mut Vec<Step>) {
        let text = text_of(&self.read[state.read]).and_then(|text| text.get(state.offset..));
        let Some(text) = text else { return };
        let missing = ["Tool: no result was recorded"];
        let blank = ["User: [system]", "[system]"];
        let has = |code| self.declared.anywhere(code);
        let missing = missing.iter().filter(|_| has(LossCode::MissingResultSynthesised));
        let blank = blank
            .iter()
            .filter(|_| has(LossCode::SystemInlined) && has(LossCode::WhitespaceTrimmed));
        for words in missing.chain(blank) {
            if let Some(rest) = text.trim_start_matches('\n').strip_prefix(words) {
                steps.push(Step {
                    next: self.advanced(state, Some(state.offset + text.len() - rest.len())),
                    found: None,
                });
            }
        }
    }
}

pub(super) fn text_of<'a>(atom: &'a Atom<'_>) -> Option<&'a str> {
    match &atom.kind {
        Kind::Text(text) | Kind::Reasoning(text) => Some(text),
        Kind::Result(result) if !result.content.is_empty() => Some(&result.content),
        _ => None,
    }
}
