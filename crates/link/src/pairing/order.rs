//! Pairs by place: in the message that a result names as its caller, else in the nearest round before it.
//!
//! Two different ids never pair here: at least one side has none. A result looks only backwards. If its call was cut off, the next call of
//! the same tool must keep its own answer, and every pair after it.

use std::collections::{HashMap, VecDeque};

use chatmill_model::PairedBy;

use super::{Step, is_open, join};

/// The tool of the calls in a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Tool<'m> {
    Any,
    Unnamed,
    Named(&'m str),
}

impl<'m> Tool<'m> {
    fn of(name: Option<&'m str>) -> Self {
        name.map_or(Self::Unnamed, Self::Named)
    }
}

/// The key of a list of open calls: all with an id, or all without.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct CallListKey<'m> {
    with_id: bool,
    tool: Tool<'m>,
}

impl<'m> CallListKey<'m> {
    /// The lists that contain a call.
    fn of_call(call: &Step<'m>) -> [Self; 2] {
        let with_id = call.id.is_some();
        [Tool::Any, Tool::of(call.name)].map(|tool| Self { with_id, tool })
    }

    /// The lists with all calls that a result may answer.
    fn for_any(result: &Step<'m>) -> impl Iterator<Item = Self> {
        reach(result).map(|with_id| Self {
            with_id,
            tool: Tool::Any,
        })
    }

    /// The lists with calls of the result's name, or without a name.
    fn for_name(result: &Step<'m>) -> impl Iterator<Item = Self> {
        let tools = [Tool::of(result.name), Tool::Unnamed];
        reach(result).flat_map(move |with_id| tools.map(|tool| Self { with_id, tool }))
    }
}

/// Whether a result may answer calls without an id, and calls with one.
fn reach(result: &Step<'_>) -> impl Iterator<Item = bool> + use<> {
    [false, true]
        .into_iter()
        .take(if result.id.is_some() { 1 } else { 2 })
}

/// Pairs results with the calls of the message that they name: in order, first if the names agree, then the rest.
pub(super) fn pair_by_caller(steps: &mut [Step<'_>]) {
    if steps.iter().all(|step| step.caller.is_none()) {
        return;
    }
    let mut lists: HashMap<(u32, CallListKey<'_>), VecDeque<usize>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        if step.is_call && step.partner.is_none() {
            for key in CallListKey::of_call(step) {
                lists
                    .entry((step.place.position, key))
                    .or_default()
                    .push_back(index);
            }
        }
    }
    for names_agree in [true, false] {
        for index in 0..steps.len() {
            let Some((step, caller)) = steps.get(index).and_then(|step| Some((step, step.caller?))) else {
                continue;
            };
            if step.partner.is_some() || step.is_duplicate {
                continue;
            }
            let wanted: Vec<CallListKey<'_>> = if names_agree && step.name.is_some() {
                CallListKey::for_name(step).collect()
            } else {
                CallListKey::for_any(step).collect()
            };
            let first = wanted.into_iter().filter_map(|key| {
                let calls = lists.get_mut(&(caller, key))?;
                while calls.front().is_some_and(|call| !is_open(steps, *call)) {
                    calls.pop_front();
                }
                calls.front().copied()
            });
            if let Some(call) = first.min() {
                join(steps, call, index, PairedBy::Metadata);
            }
        }
    }
}

/// Open calls by list and round; a call that was answered elsewhere is removed when it reaches the front.
#[derive(Default)]
struct OpenCalls<'m> {
    by_key: HashMap<CallListKey<'m>, Vec<(u32, VecDeque<usize>)>>,
}

impl<'m> OpenCalls<'m> {
    fn put(&mut self, key: CallListKey<'m>, round: u32, call: usize) {
        let rounds = self.by_key.entry(key).or_default();
        match rounds.last_mut() {
            Some((last, calls)) if *last == round => calls.push_back(call),
            _ => rounds.push((round, VecDeque::from([call]))),
        }
    }

    /// The first open call of a list, in the latest round that has one.
    fn front(&mut self, key: CallListKey<'m>, steps: &[Step<'m>]) -> Option<(u32, usize)> {
        let rounds = self.by_key.get_mut(&key)?;
        while let Some((round, calls)) = rounds.last_mut() {
            while let Some(&index) = calls.front() {
                if is_open(steps, index) {
                    return Some((*round, index));
                }
                calls.pop_front();
            }
            rounds.pop();
        }
        None
    }

    /// The best call of several lists: in the latest round, the first call.
    fn best(
        &mut self,
        lists: impl Iterator<Item = CallListKey<'m>>,
        steps: &[Step<'m>],
    ) -> Option<(u32, usize)> {
        lists
            .filter_map(|key| self.front(key, steps))
            .min_by_key(|(round, call)| (u32::MAX - round, *call))
    }
}

/// Pairs calls and results without ids, in order of the results, each with the nearest round before it that has an open call.
///
/// The names must agree if both are known. `Position`: the result took the next open call; `Name`: it skipped one. A result with a caller
/// in the conversation takes no other message's call.
pub(super) fn pair_by_order(steps: &mut [Step<'_>]) {
    if steps.iter().all(|step| step.id.is_some()) {
        return;
    }
    let mut open = OpenCalls::default();
    for index in 0..steps.len() {
        let Some(step) = steps
            .get(index)
            .filter(|step| step.partner.is_none() && !step.is_duplicate)
        else {
            continue;
        };
        if step.is_call {
            for key in CallListKey::of_call(step) {
                open.put(key, step.round, index);
            }
            continue;
        }
        if step.caller.is_some() {
            continue;
        }
        let next = open.best(CallListKey::for_any(step), steps);
        let chosen = match step.name {
            None => next,
            Some(_) => open.best(CallListKey::for_name(step), steps),
        };
        if let Some((_, call)) = chosen {
            let rule = if chosen == next {
                PairedBy::Position
            } else {
                PairedBy::Name
            };
            join(steps, call, index, rule);
        }
    }
}
