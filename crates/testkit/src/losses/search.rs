//! Finds each element of a conversation among the elements that were read back, in order.
//!
//! The search goes through both lists from the front. An element of the conversation is found unchanged, or as the
//! words with which a declared loss replaces it; it may be missing or elsewhere if a loss of its message declares that.
//! An element that was read back and is not in the conversation must be one that a declared loss adds.

use std::collections::{BTreeSet, HashSet};

use chatmill_dialect::LossCode;
use chatmill_model::Role;

use super::case::Case;
use super::declared::Declared;
use super::elements::{Element, Kind};

/// How long a search goes on.
#[derive(Clone, Copy)]
pub(super) struct SearchLimits {
    /// The maximum number of dead ends that it visits.
    states: usize,
    /// The maximum number of alignments that it tries.
    alignments: u32,
}

impl SearchLimits {
    /// Enough for nearly every conversation.
    pub(super) const FEW: Self = Self {
        states: 3_000,
        alignments: 5_000,
    };
    /// For a conversation of which none of the few alignments is accepted.
    pub(super) const MANY: Self = Self {
        states: 100_000,
        alignments: 50_000,
    };
}

/// The place where an element was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The index among the elements that were read back.
    pub read: usize,
    /// The role of the speaker, if a word in front of the element names it.
    pub role: Option<Role>,
    /// Whether other words replace it.
    pub is_worded: bool,
    /// Whether a name is in front of it.
    pub is_named: bool,
}

/// The place of each element of the conversation.
#[derive(Clone, Debug)]
pub(super) struct Alignment {
    /// For each element of the conversation; `None` if it is lost.
    pub found: Vec<Option<Found>>,
}

/// The state of a search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// The number of elements of the conversation that are done, except those in `moved`.
    pub(super) source: usize,
    /// The number of elements that were read back and are done.
    pub(super) read: usize,
    /// The length of the next element that is done.
    pub(super) offset: usize,
    /// The elements before `source` that are still to be found, and those after it that have been found.
    pub(super) moved: BTreeSet<usize>,
    /// The last message that lost cache marks, by position, and the number that it lost.
    pub(super) lost_marks: (u32, u64),
}

/// Two lists of elements, and the declared losses.
pub(super) struct Search<'s, 'c> {
    /// The case under test.
    pub case: &'s Case<'c>,
    /// The elements of the conversation.
    pub source: &'s [Element<'c>],
    /// The elements that were read back.
    pub read: &'s [Element<'c>],
    pub(super) declared: &'s Declared,
    /// For each element of the conversation, whether it may be elsewhere.
    pub movable: Vec<bool>,
    /// For each element of the conversation, whether it may be missing.
    pub losable: Vec<bool>,
}

/// One possible continuation.
struct Step {
    next: State,
    found: Option<(usize, Found)>,
}

/// A search under way.
struct SearchWalk<C> {
    /// The check of an alignment.
    check: C,
    limits: SearchLimits,
    /// States from which the end cannot be reached.
    failed: HashSet<State>,
    /// The alignment so far.
    alignment: Alignment,
    /// The furthest point that was reached: element that was read back, offset in it, element of the conversation.
    furthest: (usize, usize, usize),
    /// The number of alignments that were tried.
    alignments: u32,
    /// The breaches of the best alignment so far.
    best: Option<Vec<String>>,
}

impl<C: Fn(&Alignment) -> Vec<String>> SearchWalk<C> {
    /// Checks an alignment that reached the end.
    fn end(&mut self) {
        self.alignments += 1;
        let breaches = (self.check)(&self.alignment);
        if self.best.as_ref().is_none_or(|best| breaches.len() < best.len()) {
            self.best = Some(breaches);
        }
    }

    fn is_done(&self) -> bool {
        self.alignments >= self.limits.alignments || self.best.as_ref().is_some_and(Vec::is_empty)
    }
}

impl<'s, 'c> Search<'s, 'c> {
    pub(super) fn new(case: &'s Case<'c>, source: &'s [Element<'c>], read: &'s [Element<'c>]) -> Self {
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
        search.losable = source.iter().map(|element| search.may_be_lost(element)).collect();
        search
    }

    /// The breaches of the best alignment: empty if one within the limits is accepted. Similar elements, such as cache
    /// marks, can replace one another, so the first alignment need not be the right one.
    pub(super) fn breaches(
        &self,
        limits: SearchLimits,
        check: impl Fn(&Alignment) -> Vec<String>,
    ) -> Vec<String> {
        let mut starts = vec![(0, 0)];
        if self.declared.whole(LossCode::SystemAdded) > 0
            && let Some(text) = self.read.first().and_then(text_of)
        {
            let added = usize::try_from(self.declared.whole(LossCode::SystemAdded)).unwrap_or(usize::MAX);
            starts = (1..=added).rev().map(|read| (read, 0)).collect();
            starts.extend(text.match_indices("\n\n").map(|(at, _)| (0, at)));
        }
        let mut walk = SearchWalk {
            check,
            limits,
            failed: HashSet::new(),
            alignment: Alignment {
                found: vec![None; self.source.len()],
            },
            furthest: (0, 0, 0),
            alignments: 0,
            best: None,
        };
        for (read, offset) in starts {
            let state = State {
                source: 0,
                read,
                offset,
                moved: BTreeSet::new(),
                lost_marks: (0, 0),
            };
            self.go(state, &mut walk);
        }
        if let Some(best) = walk.best {
            return best;
        }
        let (read, offset, source) = walk.furthest;
        let rest = self.read.get(read).map(|element| match text_of(element) {
            Some(text) => format!("{:?}", text.get(offset..)),
            None => format!("{:?}", element.kind),
        });
        let many = if walk.failed.len() > limits.states {
            "too many ways; "
        } else {
            ""
        };
        let next = self
            .source
            .get(source)
            .map(|element| (element.position(), &element.kind));
        vec![format!(
            "{many}what is read back from {rest:?} on is not {next:?}"
        )]
    }

    /// Tries each step from a state; true if one of them reached the end.
    fn go<C: Fn(&Alignment) -> Vec<String>>(&self, mut state: State, walk: &mut SearchWalk<C>) -> bool {
        while state.moved.remove(&state.source) {
            state.source += 1;
        }
        walk.furthest = walk.furthest.max((state.read, state.offset, state.source));
        if state.source == self.source.len() && state.read == self.read.len() {
            if state.moved.is_empty() {
                walk.end();
            }
            return state.moved.is_empty();
        }
        if walk.failed.len() > walk.limits.states || walk.failed.contains(&state) {
            return false;
        }
        let mut is_way = false;
        for step in self.steps(&state) {
            if let Some((source, found)) = step.found {
                walk.alignment.found[source] = Some(found);
            }
            is_way |= self.go(step.next, walk);
            if let Some((source, _)) = step.found {
                walk.alignment.found[source] = None;
            }
            if walk.is_done() {
                return is_way;
            }
        }
        if !is_way {
            walk.failed.insert(state);
        }
        is_way
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        let next = state.source;
        let read = self.read.get(state.read);
        let is_mark = read.is_some_and(|read| read.kind == Kind::CacheMark);
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
            if state.offset == 0 && !is_mark && self.is_added(state) {
                steps.push(Step {
                    next: self.advanced(state, None),
                    found: None,
                });
            }
            self.emptied(state, &mut steps);
            self.filled(state, &mut steps);
        }
        if next < self.source.len() {
            let lost_marks = self.lost_marks(state, &self.source[next]);
            if let (true, Some(lost_marks)) = (self.losable[next], lost_marks) {
                steps.push(Step {
                    next: State {
                        source: next + 1,
                        lost_marks,
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
        // Marks cannot be told apart, so a mark is an added one only if it matches no other.
        if is_mark && self.is_added(state) {
            steps.push(Step {
                next: self.advanced(state, None),
                found: None,
            });
        }
        steps
    }

    /// The lost marks of a state if another element is lost; `None` if that is one mark more than declared.
    fn lost_marks(&self, state: &State, element: &Element<'_>) -> Option<(u32, u64)> {
        if element.kind != Kind::CacheMark {
            return Some(state.lost_marks);
        }
        let (position, lost) = state.lost_marks;
        let lost = if position == element.position() {
            lost + 1
        } else {
            1
        };
        let declared = self.declared.any_at(&element.dropped_by(), element.position());
        (lost <= declared).then_some((element.position(), lost))
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
        let (element, read) = (&self.source[index], &self.read[state.read]);
        if !self.is_id(element, read) || !self.is_of_one_kind(element, read) {
            return;
        }
        let Some(whole) = text_of(read) else {
            if self.is(element, read) && self.is_read_as(element, read, read.message.role, false) {
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
            && let Kind::Text(found) = &element.kind
            && let Some((count, end)) = self.thoughts(found, element.position(), state.read)
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
        self.before_medium(state, index, text, steps);
        let is_behind_medium = state.read > 0 && matches!(self.read[state.read - 1].kind, Kind::Media(_));
        let boundaries: &[&str] = if state.offset > 0 || is_behind_medium {
            &["", "\n\n", "\n", " ", "\n\n\n"]
        } else {
            &["", "\n"]
        };
        for boundary in boundaries {
            let Some(text) = text.strip_prefix(boundary) else {
                continue;
            };
            for (prefix, role, is_named) in self.prefixes(element, text) {
                let Some(rest) = text.get(prefix..) else { continue };
                let at = whole.len() - rest.len();
                for (end, is_worded) in self.spelled(element, read, rest) {
                    if end == 0 && !matches!(&element.kind, Kind::Result(result) if result.content.is_empty())
                    {
                        continue;
                    }
                    let is_block = self.declared.whole(LossCode::TurnMerged) > 0;
                    let role_here = role.unwrap_or(read.message.role);
                    if !(is_block && role.is_none() || self.is_read_as(element, read, role_here, is_worded)) {
                        continue;
                    }
                    let next = self.advanced(state, Some(at + end));
                    steps.push(Self::taken(state, next, index, role, [is_worded, is_named]));
                }
            }
        }
    }

    /// Steps to a medium after a text of which only line breaks are left, and past the name of the medium's sender.
    fn before_medium(&self, state: &State, index: usize, text: &str, steps: &mut Vec<Step>) {
        let element = &self.source[index];
        let medium = self.read.get(state.read + 1);
        let medium = medium.filter(|medium| self.is_id(element, medium) && self.is(element, medium));
        let Some(medium) = medium.filter(|medium| matches!(medium.kind, Kind::Media(_))) else {
            return;
        };
        let rest = text.trim_matches('\n');
        for (prefix, role, is_named) in self.prefixes(element, rest) {
            let role_here = role.unwrap_or(medium.message.role);
            if prefix == rest.len() && self.is_read_as(element, medium, role_here, false) {
                let found = State {
                    read: state.read + 1,
                    ..state.clone()
                };
                let next = self.advanced(&found, None);
                steps.push(Self::taken(&found, next, index, role, [false, is_named]));
            }
        }
    }

    /// Whether both elements are in notices, or both in messages, because the same text may be in either.
    fn is_of_one_kind(&self, element: &Element<'_>, read: &Element<'_>) -> bool {
        let is_quiet = match element.kind {
            Kind::Quote(_) | Kind::CacheMark => true,
            Kind::Result(_) => !matches!(read.kind, Kind::Text(_)),
            _ => read.kind == Kind::Nothing,
        };
        is_quiet || self.case.is_text || element.message.kind == read.message.kind
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
            // The media of a result belong to it.
            .filter(|first| is_nothing && state.offset == 0 && !first.belongs_to_result);
        let Some(first) = first.filter(|first| self.is_id(first, &self.read[state.read])) else {
            return;
        };
        // A result of the message may have become a separate turn.
        let before = state.source.checked_sub(1).map(|before| &self.source[before]);
        let before =
            before.filter(|before| !matches!(before.kind, Kind::Result(_)) && !before.belongs_to_result);
        let before = before.map(Element::position);
        let role = self.read[state.read].message.role;
        let is_text = matches!(self.read[state.read].kind, Kind::Text(_));
        if before == Some(first.position()) || !is_text && !self.case.is_role(first, role, false) {
            return;
        }
        let rest = self.source[state.source..]
            .iter()
            .take_while(|element| element.position() == first.position());
        if self.declared.at(LossCode::EmptyDropped, first.position()) > 0 {
            return;
        }
        let is_filled = self.declared.at(LossCode::EmptyFilled, first.position()) > 0;
        let is_gone =
            |element: &&Element<'_>| self.may_be_lost(element) || is_filled && element.kind == Kind::Nothing;
        let splits = self.declared.at(LossCode::TurnSplit, first.position()) > 0;
        let count = rest.clone().take_while(is_gone).count();
        // Its calls may be a separate turn; its results always are.
        let mut others = rest.skip(count);
        let is_separate = |element: &Element<'_>| match element.kind {
            Kind::Call(_) => splits,
            Kind::Result(_) => true,
            _ => element.belongs_to_result,
        };
        if count > 0 && others.all(is_separate) {
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

pub(super) fn text_of<'a>(element: &'a Element<'_>) -> Option<&'a str> {
    match &element.kind {
        Kind::Text(text) | Kind::Reasoning(text) => Some(text),
        Kind::Result(result) if !result.content.is_empty() => Some(&result.content),
        _ => None,
    }
}
