//! Trees of messages: parents, children, and the branches that are read.
//!
//! An edited question or a regenerated answer begins a branch. Parents may be missing or form circles; no
//! function recurses for each level.

pub(crate) mod branch;
pub(crate) mod listed;
mod results;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::Value;

use crate::base::{Keep as _, Notes};
use crate::frame::Reading;
use crate::options::Branches;

/// A message of a tree, before it is read.
#[derive(Debug)]
pub(crate) struct Node {
    /// The id of the message.
    pub id: String,
    /// The id of the parent.
    pub parent: Option<String>,
    /// The call that the message is the result of, if it names one.
    pub answers: Option<String>,
    /// The bytes of the message in the frame.
    pub span: Range<usize>,
    /// The path of the message in the record.
    pub path: String,
}

/// Messages with their parents, without circles.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The index of each parent.
    parents: Vec<Option<usize>>,
    is_leaf: Vec<bool>,
    depths: Vec<u32>,
    /// The preference for each message among its siblings; empty if the latest is the best.
    preferences: Vec<u64>,
    /// For each result of a call, the last result of the same answer.
    last_results: HashMap<usize, usize>,
}

impl Tree {
    /// Builds the tree of these nodes. Missing parents and circles are reported, and the nodes begin
    /// branches. Results of parallel calls follow one another.
    pub(crate) fn of(entries: &[Node], notes: &mut Notes) -> Self {
        let places: HashMap<&str, usize> = (0..)
            .zip(entries)
            .map(|(at, node)| (node.id.as_str(), at))
            .collect();
        let mut parents: Vec<Option<usize>> = Vec::with_capacity(entries.len());
        for node in entries {
            let parent = node.parent.as_deref().map(|parent| places.get(parent).copied());
            if parent == Some(None) {
                let text = "the parent of this message is missing: it begins a branch";
                notes.findings.push(broken(text, node, notes));
            }
            parents.push(parent.flatten());
        }
        for at in circles(&mut parents) {
            if let Some(node) = entries.get(at) {
                let text = "the parents of this message lead back to it: it begins a branch";
                notes.findings.push(broken(text, node, notes));
            }
        }
        let last_results = results::chain(entries, &mut parents);
        let mut is_leaf = vec![true; entries.len()];
        for parent in parents.iter().flatten() {
            if let Some(is_leaf) = is_leaf.get_mut(*parent) {
                *is_leaf = false;
            }
        }
        let depths = depths(&parents);
        Self {
            parents,
            is_leaf,
            depths,
            preferences: Vec::new(),
            last_results,
        }
    }

    /// Sets the preference for each message among its siblings: of equally good ones, the first is taken.
    pub(crate) fn prefer(&mut self, preferences: Vec<u64>) {
        self.preferences = preferences;
    }

    /// The best of some messages with the same parent.
    fn best(&self, siblings: impl Iterator<Item = usize>) -> Option<usize> {
        if self.preferences.is_empty() {
            return siblings.max();
        }
        let preference = |at: usize| self.preferences.get(at).copied().unwrap_or_default();
        siblings.max_by_key(|at| (preference(*at), std::cmp::Reverse(*at)))
    }

    /// The children of each message, and the messages that state no parent.
    fn below(&self, entries: &[Node]) -> (Vec<Vec<usize>>, Vec<usize>) {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
        let mut first = Vec::new();
        for (at, node) in entries.iter().enumerate() {
            match self.parent(at).and_then(|parent| below.get_mut(parent)) {
                Some(below) => below.push(at),
                // A node with a missing parent is an alternative to no other.
                None if node.parent.is_none() => first.push(at),
                None => {}
            }
        }
        (below, first)
    }

    /// The end of the branch that takes the best at each step.
    pub(crate) fn best_end(&self, entries: &[Node]) -> Option<usize> {
        let (below, first) = self.below(entries);
        let next = |at: &usize| self.best(below.get(*at)?.iter().copied());
        let start = self
            .best(first.into_iter())
            .or_else(|| (!entries.is_empty()).then_some(0));
        std::iter::successors(start, next).last()
    }

    /// From the first message down to this one.
    pub(crate) fn path(&self, leaf: usize) -> Vec<usize> {
        let above = |at: &usize| self.parents.get(*at).copied().flatten();
        let mut path: Vec<usize> = std::iter::successors(Some(leaf), above).collect();
        path.reverse();
        path
    }

    /// The parent of a message.
    pub(crate) fn parent(&self, at: usize) -> Option<usize> {
        self.parents.get(at).copied().flatten()
    }

    /// The last messages of the branches that are read, that of the visible one first, and the number of all
    /// branches.
    pub(crate) fn ends(&self, visible: Option<usize>, branches: Branches) -> (Vec<usize>, usize) {
        let leaves = || (0..self.is_leaf.len()).filter(|at| self.is_leaf.get(*at) == Some(&true));
        let depth = |at: &usize| self.depths.get(*at).copied().unwrap_or_default();
        let shown = visible.or_else(|| leaves().max_by_key(|leaf| (depth(leaf), *leaf)));
        // The results after it belong to the same answer.
        let shown = shown.and_then(|shown| self.last_results.get(&shown).copied().or(Some(shown)));
        // If users left the tree in the middle of a branch, the branch ends there.
        let under = shown.map(|shown| self.under(shown)).unwrap_or_default();
        let others: Vec<usize> = leaves().filter(|leaf| under.get(*leaf) != Some(&true)).collect();
        let all = others.len() + usize::from(shown.is_some());
        let ends = match branches {
            Branches::Visible => shown.into_iter().collect(),
            Branches::Longest => {
                let longest = others.iter().copied().max_by_key(|leaf| (depth(leaf), *leaf));
                let longest = longest.filter(|leaf| shown.is_none_or(|shown| depth(leaf) > depth(&shown)));
                longest.or(shown).into_iter().collect()
            }
            Branches::All => shown.into_iter().chain(others).collect(),
        };
        (ends, all)
    }

    /// For each message, whether it is this one or a descendant: computed from the top, so that each is
    /// visited once.
    fn under(&self, upper: usize) -> Vec<bool> {
        let mut under = vec![false; self.parents.len()];
        let mut order: Vec<usize> = (0..self.parents.len()).collect();
        order.sort_by_key(|at| self.depths.get(*at));
        for at in order {
            let above = self.parent(at).and_then(|parent| under.get(parent));
            let is_under = at == upper || above == Some(&true);
            if let Some(place) = under.get_mut(at) {
                *place = is_under;
            }
        }
        under
    }
}

fn broken(text: &str, node: &Node, notes: &Notes) -> Finding {
    let finding = Finding::new(&codes::BROKEN_TREE, text).at_path(node.path.clone());
    notes.spanned(finding, node.span.clone())
}

/// Cuts each circle above its first message; returns those messages.
fn circles(parents: &mut [Option<usize>]) -> Vec<usize> {
    let mut cut = Vec::new();
    // The number of the walk that first visited a message.
    let mut met = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(here) = at {
            match met.get_mut(here) {
                Some(walk) if *walk == start => {
                    if let Some(parent) = parents.get_mut(here) {
                        *parent = None;
                    }
                    cut.push(here);
                    break;
                }
                Some(walk) if *walk == usize::MAX => *walk = start,
                _ => break,
            }
            at = parents.get(here).copied().flatten();
        }
    }
    cut
}

/// The number of ancestors of each message.
fn depths(parents: &[Option<usize>]) -> Vec<u32> {
    let mut depths: Vec<Option<u32>> = vec![None; parents.len()];
    for start in 0..parents.len() {
        let mut walk = Vec::new();
        let mut at = Some(start);
        let mut depth = 0;
        while let Some(here) = at {
            if let Some(known) = depths.get(here).copied().flatten() {
                depth = known + 1;
                break;
            }
            walk.push(here);
            at = parents.get(here).copied().flatten();
        }
        for here in walk.into_iter().rev() {
            if let Some(place) = depths.get_mut(here) {
                *place = Some(depth);
            }
            depth += 1;
        }
    }
    depths.into_iter().map(Option::unwrap_or_default).collect()
}

/// An alternative to a part of a branch.
#[derive(Debug)]
pub(crate) struct Sibling {
    /// The steps of the branch that it is an alternative to.
    pub place: Range<usize>,
    /// Whether the alternative begins with a user's message: another question, and its answer.
    pub is_question: bool,
    /// The messages from the first to the last.
    pub nodes: Vec<usize>,
}

/// A branch that is read.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    /// The alternatives by position, unless each branch is a separate conversation.
    pub siblings: Vec<Sibling>,
    /// Messages from the first to the last.
    pub path: Vec<usize>,
    /// The number of leading messages shared with an earlier branch.
    pub shared: usize,
}

impl Branch {
    /// The messages that are read with it.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = usize> {
        let siblings = self.siblings.iter().flat_map(|sibling| &sibling.nodes);
        self.path.iter().chain(siblings).copied()
    }
}

/// The branches that are read, up to the limits, with a finding about the others.
pub(crate) fn branches(
    entries: &[Node],
    tree: &Tree,
    visible: Option<usize>,
    wanted: Branches,
    limits: &Limits,
    asks: impl Fn(usize) -> bool,
    notes: &mut Notes,
) -> Vec<Branch> {
    let (ends, all) = tree.ends(visible, wanted);
    let mut read: Vec<Branch> = Vec::new();
    let mut seen: HashSet<usize> = HashSet::new();
    let (mut messages, mut bytes) = (0_u64, 0_u64);
    for end in ends.iter().copied() {
        let path = tree.path(end);
        messages += path.len() as u64;
        let of_path = path.iter().filter_map(|at| entries.get(*at));
        bytes += of_path.map(|node| node.span.len() as u64).sum::<u64>();
        // The reader of the first branch checks it against the limits.
        if !read.is_empty() && (messages > limits.messages_per_conversation || bytes > limits.document) {
            break;
        }
        let shared = path.iter().take_while(|at| seen.contains(at)).count();
        seen.extend(&path);
        let siblings = if wanted == Branches::All {
            Vec::new()
        } else {
            siblings(entries, tree, &path, &asks)
        };
        read.push(Branch {
            siblings,
            path,
            shared,
        });
    }
    let left = all - read.len();
    if left > 0 {
        let too_many = ends.len() > read.len();
        let (code, text) = if too_many {
            (
                &codes::LOST_BRANCHES,
                "all branches together are larger than the limits of a record: the rest is left out",
            )
        } else {
            (
                &codes::OTHER_BRANCHES,
                "further branches: their messages are among the alternatives of the messages that are read; `branches = \"all\"` makes each branch a conversation",
            )
        };
        let mut finding = Finding::new(code, text);
        finding.count = left as u64;
        notes.findings.push(finding);
    }
    read
}

/// The alternatives to messages of a branch: an answer up to the next question, or a question with its
/// answer. If an alternative branches further, the best continuation is taken, or the latest.
fn siblings(entries: &[Node], tree: &Tree, path: &[usize], asks: &impl Fn(usize) -> bool) -> Vec<Sibling> {
    let (below, first) = tree.below(entries);
    let ends = ends_of_turns(path, asks);
    let mut found = Vec::new();
    let forks = std::iter::once(None).chain(path.iter().copied().map(Some));
    for (step, above) in forks.enumerate() {
        let siblings = above.map_or(Some(&first), |above| below.get(above));
        let own = path.get(step).copied();
        let others = siblings
            .into_iter()
            .flatten()
            .copied()
            .filter(|at| Some(*at) != own);
        for other in others {
            let next = |at: &usize| tree.best(below.get(*at)?.iter().copied());
            let walk = std::iter::successors(Some(other), next);
            found.push(Sibling {
                place: step..ends.get(step).copied().unwrap_or(step),
                is_question: asks(other),
                nodes: walk.clone().take(turn(walk, asks)).collect(),
            });
        }
    }
    found
}

/// The end of the turn that begins at each message of a path, up to the next question: computed from the end,
/// so that each message is visited once.
fn ends_of_turns(path: &[usize], asks: &impl Fn(usize) -> bool) -> Vec<usize> {
    let mut ends = Vec::with_capacity(path.len());
    let (mut question, mut end) = (path.len(), path.len());
    for (step, at) in path.iter().enumerate().rev() {
        if asks(*at) {
            question = step;
        } else {
            end = question;
        }
        ends.push(end);
    }
    ends.reverse();
    ends
}

/// The number of messages in a walk's first turn: up to the next question.
fn turn(walk: impl Iterator<Item = usize>, asks: &impl Fn(usize) -> bool) -> usize {
    let mut is_answered = false;
    walk.take_while(|at| {
        let is_question = asks(*at);
        let belongs = !(is_question && is_answered);
        is_answered |= !is_question;
        belongs
    })
    .count()
}

/// The nodes of a record, each with its value, and their tree.
#[derive(Clone, Copy)]
pub(crate) struct Nodes<'v, 'd> {
    /// The values of the messages.
    pub values: &'v [Value<'d>],
    /// The tree nodes of the messages.
    pub entries: &'v [Node],
    pub tree: &'v Tree,
    /// The message that people saw last, if it is known.
    pub visible: Option<usize>,
}

/// Reads each branch, with its number if there are several. Findings on the tree belong to the first, and so
/// do messages outside all branches, as raw values.
pub(crate) fn read(
    branches: &[Branch],
    notes: Notes,
    record: Nodes<'_, '_>,
    read: impl Fn(&Branch, Option<u32>) -> Reading,
) -> Reading {
    let is_one_of_several = branches.len() > 1;
    let none = Branch::default();
    let mut first = read(branches.first().unwrap_or(&none), is_one_of_several.then_some(0));
    first.findings.extend(notes.findings);
    let others = (1..).zip(branches.iter().skip(1));
    first.also = others
        .map(|(number, branch)| read(branch, Some(number)))
        .collect();
    if let Some(conversation) = &mut first.conversation {
        let read: HashSet<usize> = branches.iter().flat_map(Branch::nodes).collect();
        let mut around = 0..0;
        let all = record.values.iter().zip(record.entries).enumerate();
        for (_, (value, node)) in all.filter(|(at, _)| !read.contains(at)) {
            let span = value.span();
            // A message may contain its descendants.
            if span.start < around.start || span.end > around.end {
                let path = node.path.trim_start_matches(['$', '.']);
                conversation.extra.keep_reported(path, *value);
                around = span;
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(parents: &[(&str, &str)]) -> (Vec<Node>, Tree, usize) {
        let entries: Vec<Node> = parents
            .iter()
            .map(|(id, parent)| Node {
                id: (*id).to_owned(),
                parent: (!parent.is_empty()).then(|| (*parent).to_owned()),
                answers: None,
                span: 0..10,
                path: format!("$.{id}"),
            })
            .collect();
        let mut notes = Notes::new(0);
        let tree = Tree::of(&entries, &mut notes);
        (entries, tree, notes.findings.len())
    }

    const FORKED: [(&str, &str); 6] = [
        ("a", ""),
        ("b", "a"),
        ("c", "b"),
        ("d", "b"),
        ("e", "d"),
        ("f", "c"),
    ];

    #[test]
    fn each_policy_has_its_branches_and_the_visible_one_is_first() {
        let (_, tree, findings) = tree(&FORKED);
        assert_eq!(findings, 0);
        assert_eq!(tree.ends(Some(4), Branches::Visible), (vec![4], 2));
        assert_eq!(tree.ends(Some(4), Branches::All), (vec![4, 5], 2));
        assert_eq!(tree.ends(None, Branches::Visible), (vec![5], 2));
        // Of branches with equal length, the visible one.
        assert_eq!(tree.ends(Some(4), Branches::Longest), (vec![4], 2));
        // People see the branch to `d` only, which ends in the middle of that to `e`.
        assert_eq!(tree.ends(Some(3), Branches::Longest), (vec![5], 2));
        assert_eq!(tree.ends(Some(3), Branches::All), (vec![3, 5], 2));
        assert_eq!(tree.path(5), [0, 1, 2, 5]);
    }

    #[test]
    fn circles_and_missing_parents_are_cut_and_reported() {
        let (_, circle, findings) = tree(&[("a", "b"), ("b", "c"), ("c", "a")]);
        assert_eq!(findings, 1);
        assert_eq!(circle.path(1), [0, 2, 1]);
        let (_, itself, findings) = tree(&[("a", "a")]);
        assert_eq!((findings, itself.path(0)), (1, vec![0]));
        let (_, orphan, findings) = tree(&[("a", "?"), ("b", "a")]);
        assert_eq!((findings, orphan.path(1)), (1, vec![0, 1]));
    }

    #[test]
    fn a_turn_ends_where_the_next_question_follows_an_answer() {
        let questions = [true, true, false, false, true, false, true];
        let path: Vec<usize> = (0..questions.len()).collect();
        let asks = |at: usize| questions[at];
        let ends: Vec<usize> = (0..path.len())
            .map(|step| step + turn(path.iter().skip(step).copied(), &asks))
            .collect();
        assert_eq!(ends_of_turns(&path, &asks), ends);
        assert_eq!(ends, [4, 4, 4, 4, 6, 6, 7]);
    }

    #[test]
    fn forks_do_not_multiply_the_checks_for_questions() {
        // Answers one below the other, each with an alternative.
        let names: Vec<[String; 2]> = (0..500)
            .map(|step| [format!("a{step}"), format!("b{step}")])
            .collect();
        let mut parents: Vec<(&str, &str)> = vec![("q", "")];
        let mut above = "q";
        for [own, other] in &names {
            parents.extend([(other.as_str(), above), (own.as_str(), above)]);
            above = own;
        }
        let (entries, tree, _) = tree(&parents);
        let asked = std::cell::Cell::new(0);
        let asks = |at: usize| {
            asked.set(asked.get() + 1);
            at == 0
        };
        let visible = Some(entries.len() - 1);
        let branches = branches(
            &entries,
            &tree,
            visible,
            Branches::default(),
            &Limits::default(),
            asks,
            &mut Notes::new(0),
        );
        assert_eq!(branches[0].siblings.len(), 500);
        assert!(asked.get() < 5 * entries.len(), "{}", asked.get());
    }

    #[test]
    fn branches_stay_within_the_limits_of_a_record() {
        let (entries, tree, _) = tree(&FORKED);
        for (messages, document, read, left) in [(8, 80, 2, 0), (7, 80, 1, 1), (8, 79, 1, 1)] {
            let limits = Limits {
                messages_per_conversation: messages,
                document,
                ..Limits::default()
            };
            let mut notes = Notes::new(0);
            let branches = branches(
                &entries,
                &tree,
                Some(4),
                Branches::All,
                &limits,
                |_| false,
                &mut notes,
            );
            assert_eq!(branches.len(), read, "{messages} {document}");
            let counted: u64 = notes.findings.iter().map(|finding| finding.count).sum();
            assert_eq!(counted, left);
        }
        let mut notes = Notes::new(0);
        let limits = Limits::default();
        let shared: Vec<usize> = branches(
            &entries,
            &tree,
            Some(4),
            Branches::All,
            &limits,
            |_| false,
            &mut notes,
        )
        .iter()
        .map(|branch| branch.shared)
        .collect();
        assert_eq!(shared, [0, 2]);
    }

    #[test]
    fn a_chain_of_any_length_takes_no_stack() {
        let names: Vec<String> = (0..200_000).map(|at| at.to_string()).collect();
        let chain: Vec<(&str, &str)> = names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                (
                    name.as_str(),
                    at.checked_sub(1).map_or("", |above| names[above].as_str()),
                )
            })
            .collect();
        let (_, tree, findings) = tree(&chain);
        assert_eq!((findings, tree.path(199_999).len()), (0, 200_000));
    }
}
