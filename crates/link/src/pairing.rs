//! Pairing of tool calls with their results.
//!
//! Ids decide first: a result belongs to the nearest preceding open call of its id, else to the next one that
//! follows. Where a call or a result has no id, order and name decide, backwards only: a result whose call was cut
//! off must not take the next call of the same tool.

use std::collections::{HashMap, VecDeque};

use chatmill_model::{CallStatus, Message, MessageKind, PairedBy, Pairing, Part, PartPlace};

/// A call or a result, in order of appearance.
struct Step<'m> {
    place: PartPlace,
    /// Number of the round it stands in: a run of calls and the run of results directly after it. 0: in none.
    round: u32,
    is_call: bool,
    id: Option<&'m str>,
    name: Option<&'m str>,
    /// Whether it is a further result for the id of an answered call.
    is_duplicate: bool,
    partner: Option<(usize, PairedBy)>,
}

/// Pairs every call and every result; calls in order of appearance, results without a pair where they stand.
pub fn pair(messages: &[Message]) -> Vec<Pairing> {
    let mut steps = steps(messages);
    if steps.is_empty() {
        return Vec::new();
    }
    pair_by_id(&mut steps);
    pair_by_order(&mut steps);
    steps.iter().filter_map(|step| pairing(step, &steps)).collect()
}

/// Lists calls and results with their rounds.
fn steps(messages: &[Message]) -> Vec<Step<'_>> {
    #[derive(PartialEq)]
    enum Run {
        None,
        Calls,
        Results,
    }
    let mut steps = Vec::new();
    let mut round = 0;
    let mut run = Run::None;
    for message in messages {
        let before = steps.len();
        for (part, content) in (0..).zip(&message.parts) {
            let (is_call, id, name) = match content {
                Part::ToolCall(call) => (true, &call.id, &call.name),
                Part::ToolResult(result) => (false, &result.call_id, &result.name),
                _ => continue,
            };
            if is_call {
                round += u32::from(run != Run::Calls);
                run = Run::Calls;
            } else if run != Run::None {
                run = Run::Results;
            }
            steps.push(Step {
                place: PartPlace {
                    position: message.position,
                    part,
                },
                round: if run == Run::None { 0 } else { round },
                is_call,
                id: id.as_deref(),
                name: name.as_deref(),
                is_duplicate: false,
                partner: None,
            });
        }
        if steps.len() == before && message.kind == MessageKind::Message {
            run = Run::None;
        }
    }
    steps
}

/// What is known of one id.
#[derive(Default)]
struct SameId {
    has_call: bool,
    open_calls: Vec<usize>,
    early_results: Vec<usize>,
}

/// Pairs by equal ids. A result that stays alone although a call has its id is marked as a duplicate in `steps`.
fn pair_by_id(steps: &mut [Step<'_>]) {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<SameId> = Vec::new();
    let mut pairs = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let Some(id) = step.id else { continue };
        let number = *numbers.entry(id).or_insert(groups.len());
        if number == groups.len() {
            groups.push(SameId::default());
        }
        let Some(group) = groups.get_mut(number) else {
            continue;
        };
        if step.is_call {
            group.has_call = true;
            group.open_calls.push(index);
        } else if let Some(call) = group.open_calls.pop() {
            pairs.push((call, index));
        } else {
            group.early_results.push(index);
        }
    }
    for group in groups {
        // A result found no open call when none stood before it: the calls that are still open all follow.
        let mut results = group.early_results.into_iter();
        pairs.extend(group.open_calls.into_iter().zip(results.by_ref()));
        if group.has_call {
            for result in results {
                if let Some(step) = steps.get_mut(result) {
                    step.is_duplicate = true;
                }
            }
        }
    }
    for (call, result) in pairs {
        join(steps, call, result, PairedBy::Id);
    }
}

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
                if steps.get(index).is_some_and(|step| step.partner.is_none()) {
                    return Some((*round, index));
                }
                calls.pop_front();
            }
            rounds.pop();
        }
        None
    }

    /// The best of several shelves: the latest round, there the first call.
    fn best(&mut self, shelves: &[Shelf<'m>], steps: &[Step<'m>]) -> Option<(u32, usize)> {
        shelves
            .iter()
            .filter_map(|shelf| self.front(*shelf, steps))
            .min_by_key(|(round, call)| (u32::MAX - round, *call))
    }
}

/// Pairs what has no id, in order of the results, each with the nearest round before it that has an open call.
///
/// The names must agree where both are known. `Position`: the result took the next open call; `Name`: it passed one over.
fn pair_by_order(steps: &mut [Step<'_>]) {
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
        let shelf = |with_id, tool| Shelf { with_id, tool };
        if step.is_call {
            let with_id = step.id.is_some();
            open.put(shelf(with_id, Tool::Any), step.round, index);
            open.put(shelf(with_id, Tool::of(step.name)), step.round, index);
            continue;
        }
        // Two ids that differ never pair: at least one side has none.
        let any = [shelf(false, Tool::Any), shelf(true, Tool::Any)];
        let named = [
            shelf(false, Tool::of(step.name)),
            shelf(false, Tool::Unnamed),
            shelf(true, Tool::of(step.name)),
            shelf(true, Tool::Unnamed),
        ];
        let reach = if step.id.is_some() { 1 } else { 2 };
        let next = open.best(any.get(..reach).unwrap_or_default(), steps);
        let chosen = match step.name {
            None => next,
            Some(_) => open.best(named.get(..2 * reach).unwrap_or_default(), steps),
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

fn join(steps: &mut [Step<'_>], call: usize, result: usize, rule: PairedBy) {
    for (index, partner) in [(call, result), (result, call)] {
        if let Some(step) = steps.get_mut(index) {
            step.partner = Some((partner, rule));
        }
    }
}

/// The row of a call, or of a result without a pair; a paired result has none of its own.
fn pairing(step: &Step<'_>, steps: &[Step<'_>]) -> Option<Pairing> {
    let partner = step
        .partner
        .and_then(|(index, rule)| Some((steps.get(index)?, rule)));
    match (step.is_call, partner) {
        (true, Some((result, rule))) => Some(Pairing {
            call: Some(step.place),
            result: Some(result.place),
            status: if result.place < step.place {
                CallStatus::Early
            } else if result.round == step.round {
                CallStatus::Paired
            } else {
                CallStatus::Late
            },
            paired_by: Some(rule),
        }),
        (true, None) => Some(Pairing {
            call: Some(step.place),
            result: None,
            status: CallStatus::Unanswered,
            paired_by: None,
        }),
        (false, Some(_)) => None,
        (false, None) => Some(Pairing {
            call: None,
            result: Some(step.place),
            status: if step.is_duplicate {
                CallStatus::Duplicate
            } else {
                CallStatus::Orphaned
            },
            paired_by: None,
        }),
    }
}
