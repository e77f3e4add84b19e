//! Pairs by ids: those of calls and results, then those in the source's metadata.
//!
//! An id may be open more than once, because parallel calls share it by mistake, or because it is used again in every turn. A result goes
//! to the call that it names by other means, then to a call of its tool, then to one of the same speaker, then to the first open one. If
//! fewer results follow than calls are open, the oldest rounds were abandoned: of the calls that have equally much in common with a result,
//! theirs come last.

use std::collections::{HashMap, VecDeque};

use chatmill_diag::cut;
use chatmill_model::PairedBy;

use super::{Step, is_open, join};

/// The id by which a step is compared.
type Key = for<'m> fn(&Step<'m>) -> Option<&'m str>;

/// Pairs by equal ids.
pub(super) fn pair(steps: &mut [Step<'_>]) {
    pair_by(steps, PairedBy::Id, |call| call.id, |result| result.id);
}

/// Pairs by ids in the metadata: those of both sides, or that of one side with the id of the other.
///
/// A result that looked like a duplicate may answer another call.
pub(super) fn pair_by_metadata(steps: &mut [Step<'_>]) {
    if steps.iter().all(|step| step.metadata_id.is_none()) {
        return;
    }
    let own: Key = |step| step.id;
    let other: Key = |step| step.metadata_id;
    for (of_call, of_result) in [(other, other), (own, other), (other, own)] {
        pair_by(steps, PairedBy::Metadata, of_call, of_result);
    }
}

/// Pairs open calls with unpaired results of the same id.
///
/// A result that stays unpaired although a call has its id is marked as a duplicate.
fn pair_by(steps: &mut [Step<'_>], rule: PairedBy, of_call: Key, of_result: Key) {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut families: Vec<Vec<usize>> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let id = if step.is_call {
            // Answered calls are entered too: they distinguish a duplicate from an orphan.
            of_call(step)
        } else {
            of_result(step).filter(|_| step.partner.is_none())
        };
        let Some(id) = id else { continue };
        let number = *numbers.entry(id).or_insert(families.len());
        match families.get_mut(number) {
            Some(family) => family.push(index),
            None => families.push(vec![index]),
        }
    }
    for family in families {
        pair_family(steps, &family, rule);
    }
}

/// Pairs calls and results of one id.
fn pair_family(steps: &mut [Step<'_>], family: &[usize], rule: PairedBy) {
    let is_call = |steps: &[Step<'_>], index: usize| cut::at(steps, index).is_call;
    let mut calls = family.to_vec();
    calls.retain(|index| is_call(steps, *index));
    if let [call] = calls.as_slice() {
        return pair_only_call(steps, *call, family, rule);
    }
    let mut all = OpenCallLists::default();
    let mut lonely = Vec::new();
    let mut rest = family;
    while !rest.is_empty() {
        let calls = rest.iter().take_while(|index| is_call(steps, **index)).count();
        let (calls, after) = rest.split_at(calls);
        let results = after.iter().take_while(|index| !is_call(steps, **index)).count();
        let (results, after) = after.split_at(results);
        rest = after;
        let mut open = calls.to_vec();
        open.retain(|call| is_open(steps, *call));
        all.put(steps, &open);
        let mut likely = OpenCallLists::default();
        likely.put(steps, newest(steps, &open, results.len()));
        for result in results {
            let mut choices = Common::choices(cut::at(steps, *result));
            let call = choices.find_map(|choice| {
                let call = likely.front(choice, steps);
                call.or_else(|| all.front(choice, steps))
            });
            drop(choices);
            match call {
                Some(call) => join(steps, call, *result, rule),
                None => lonely.push(*result),
            }
        }
    }
    // These results have no open call before them: they take the open calls after them.
    let mut waiting = VecDeque::from(calls.clone());
    waiting.retain(|call| is_open(steps, *call));
    for result in lonely {
        if let Some(call) = waiting.pop_front() {
            join(steps, call, result, rule);
        } else if !calls.is_empty() {
            cut::at_mut(steps, result).is_duplicate = true;
        }
    }
}

/// Pairs the only call of an id with the first result after it, else with the first before it.
fn pair_only_call(steps: &mut [Step<'_>], call: usize, family: &[usize], rule: PairedBy) {
    let results = family.iter().copied().filter(|index| *index != call);
    let first = results
        .clone()
        .find(|result| *result > call)
        .or_else(|| results.clone().next());
    let answer = first.filter(|_| is_open(steps, call));
    if let Some(result) = answer {
        join(steps, call, result, rule);
    }
    for duplicate in results.filter(|result| Some(*result) != answer) {
        cut::at_mut(steps, duplicate).is_duplicate = true;
    }
}

/// The calls of the newest rounds that suffice for this number of results.
fn newest<'i>(steps: &[Step<'_>], calls: &'i [usize], results: usize) -> &'i [usize] {
    let round = |index: usize| {
        let call = calls.get(index).and_then(|call| steps.get(*call));
        call.map(|call| call.round)
    };
    let mut start = calls.len().saturating_sub(results.max(1));
    while start > 0 && round(start - 1) == round(start) {
        start -= 1;
    }
    calls.split_at(start).1
}

/// The features that a call and a result must share; `None` if a feature is not compared.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Common<'m> {
    metadata_id: Option<&'m str>,
    caller: Option<u32>,
    name: Option<&'m str>,
    sender: Option<usize>,
}

impl<'m> Common<'m> {
    /// The combinations of features to match by, of those that the step has, the most certain first.
    fn choices(step: &Step<'m>) -> impl Iterator<Item = Self> + use<'m> {
        let caller = if step.is_call {
            Some(step.place.position)
        } else {
            step.caller
        };
        let by_metadata = step.metadata_id.map(|id| (Some(id), None));
        let by_caller = caller.map(|caller| (None, Some(caller)));
        let named = [by_metadata, by_caller, Some((None, None))];
        let (name, sender) = (step.name, step.sender);
        let both = [(name, sender), (name, None), (None, sender), (None, None)];
        named
            .into_iter()
            .flatten()
            .flat_map(move |(metadata_id, caller)| {
                both.into_iter().map(move |(name, sender)| Self {
                    metadata_id,
                    caller,
                    name,
                    sender,
                })
            })
    }
}

/// Open calls of one id, by the features that they may share with a result.
#[derive(Default)]
struct OpenCallLists<'m>(HashMap<Common<'m>, VecDeque<usize>>);

impl<'m> OpenCallLists<'m> {
    fn put(&mut self, steps: &[Step<'m>], calls: &[usize]) {
        for index in calls {
            for choice in Common::choices(cut::at(steps, *index)) {
                let waiting = self.0.entry(choice).or_default();
                // A feature that a call lacks makes two choices equal.
                if waiting.back() != Some(index) {
                    waiting.push_back(*index);
                }
            }
        }
    }

    /// The first open call under a combination of features.
    fn front(&mut self, choice: Common<'m>, steps: &[Step<'m>]) -> Option<usize> {
        let waiting = self.0.get_mut(&choice)?;
        while waiting.front().is_some_and(|call| !is_open(steps, *call)) {
            waiting.pop_front();
        }
        waiting.front().copied()
    }
}
