//! Pairing by place: in the message that a result names as its caller, else in the nearest round before it.
//!
//! Two ids that differ never pair here: at least one side has none.

use std::collections::{HashMap, VecDeque};

use chatmill_model::PairedBy;

use super::{Step, is_open, join};

/// The tool that calls on a shelf have in common.
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

/// A list of open calls: all that have an id or all that have none.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Shelf<'m> {
    with_id: bool,
    tool: Tool<'m>,
}

impl<'m> Shelf<'m> {
    /// The shelves that a call stands on.
    fn of_call(call: &Step<'m>) -> [Self; 2] {
        let with_id = call.id.is_some();
        [Tool::Any, Tool::of(call.name)].map(|tool| Self { with_id, tool })
    }

    /// The shelves where any call for a result may stand.
    fn for_any(result: &Step<'m>) -> impl Iterator<Item = Self> {
        reach(result).map(|with_id| Self {
            with_id,
            tool: Tool::Any,
        })
    }

    /// The shelves where a call of its name stands, or one without a name.
    fn for_name(result: &Step<'m>) -> impl Iterator<Item = Self> {
        let tools = [Tool::of(result.name), Tool::Unnamed];
        reach(result).flat_map(move |with_id| tools.map(|tool| Self { with_id, tool }))
    }
}

/// Whether calls without, and calls with an id may belong to a result.
fn reach(result: &Step<'_>) -> impl Iterator<Item = bool> + use<> {
    [false, true]
        .into_iter()
        .take(if result.id.is_some() { 1 } else { 2 })
}

/// Pairs results with the calls of the message that they name: in order, first where the names agree, then the rest.
pub(super) fn pair_by_caller(steps: &mut [Step<'_>]) {
    if steps.iter().all(|step| step.caller.is_none()) {
        return;
    }
    let mut shelves: HashMap<(u32, Shelf<'_>), VecDeque<usize>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        if step.is_call && step.partner.is_none() {
            for shelf in Shelf::of_call(step) {
                shelves
                    .entry((step.place.position, shelf))
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
            let wanted: Vec<Shelf<'_>> = if names_agree && step.name.is_some() {
                Shelf::for_name(step).collect()
            } else {
                Shelf::for_any(step).collect()
            };
            let first = wanted.into_iter().filter_map(|shelf| {
                let calls = shelves.get_mut(&(caller, shelf))?;
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

/// Open calls by shelf and round; a call that was answered elsewhere is cleared away when it comes to the front.
#[derive(Default)]
struct OpenCalls<'m> {
    by_shelf: HashMap<Shelf<'m>, Vec<(u32, VecDeque<usize>)>>,
}

impl<'m> OpenCalls<'m> {
    fn put(&mut self, place: Shelf<'m>, round: u32, call: usize) {
        let rounds = self.by_shelf.entry(place).or_default();
        match rounds.last_mut() {
            Some((last, calls)) if *last == round => calls.push_back(call),
            _ => rounds.push((round, VecDeque::from([call]))),
        }
    }

    /// The first open call of the latest round on a shelf that has one.
    fn front(&mut self, place: Shelf<'m>, steps: &[Step<'m>]) -> Option<(u32, usize)> {
        let rounds = self.by_shelf.get_mut(&place)?;
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

    /// The best of several shelves: the latest round, there the first call.
    fn best(&mut self, shelves: impl Iterator<Item = Shelf<'m>>, steps: &[Step<'m>]) -> Option<(u32, usize)> {
        shelves
            .filter_map(|shelf| self.front(shelf, steps))
            .min_by_key(|(round, call)| (u32::MAX - round, *call))
    }
}

/// Pairs calls and results without ids, in order of the results, each with the nearest round before it that
/// has an open call.
///
/// The names must agree where both are known. `Position`: the result took the next open call; `Name`: it
/// skipped one. A result whose caller is in the conversation takes no other message's call.
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
            for shelf in Shelf::of_call(step) {
                open.put(shelf, step.round, index);
            }
            continue;
        }
        if step.caller.is_some() {
            continue;
        }
        let next = open.best(Shelf::for_any(step), steps);
        let chosen = match step.name {
            None => next,
            Some(_) => open.best(Shelf::for_name(step), steps),
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
