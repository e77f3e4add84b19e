//! The visible turns: the path from the last turn back to the first.
//!
//! Every line names its parent. Going back and asking something else begins a second branch at the same line; the branch with the
//! last turn is shown. Two kinds of lines next to the path belong to it: further pieces of an answer on it, and results of calls
//! on it, because each result of parallel calls names its own call as parent.

use std::collections::{HashMap, HashSet};

use super::line::Line;
use crate::grammar::anthropic::{answered_ids, call_ids};

/// The most forks of a session that become separate conversations: each of them repeats the whole trunk.
const MAX_FORKS: usize = 32;

/// The visible turns, by their index in the list, and whether the lines refer to one another in a circle. In a circle all turns
/// are visible, in the order of the file.
pub(super) fn visible(lines: &[&Line<'_>]) -> (Vec<bool>, bool) {
    let all = vec![true; lines.len()];
    if lines.iter().all(|line| line.parent.is_none()) {
        return (all, false);
    }
    let last = lines.iter().rposition(|line| line.is_turn());
    path(lines, last).map_or_else(|| (all, true), |seen| (seen, false))
}

/// The index of a last turn, and whether each turn is on the path to it.
type Fork = (usize, Vec<bool>);

/// The last turns of sessions that left the visible path, with the turns on the way there, and the last turns above the limit. A
/// fork is a copy of the session up to the line where it leaves, so that only the lines after that are its own.
pub(super) fn forks(lines: &[&Line<'_>], seen: &[bool]) -> (Vec<Fork>, Vec<usize>) {
    let mut ends: Vec<usize> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| line.is_turn()) {
        let Some(session) = line.session.as_deref() else {
            continue;
        };
        let own = *known.entry(session).or_insert(ends.len());
        match ends.get_mut(own) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    ends.retain(|end| seen.get(*end) == Some(&false));
    let further = ends.split_off(ends.len().min(MAX_FORKS));
    let forks = ends.into_iter();
    let forks = forks.filter_map(|end| Some((end, path(lines, Some(end))?)));
    (forks.collect(), further)
}

/// The path to a turn, with the lines that belong to it; `None` if the parents form a circle.
fn path(lines: &[&Line<'_>], last: Option<usize>) -> Option<Vec<bool>> {
    let mut places = HashMap::new();
    for (place, line) in lines.iter().enumerate() {
        if let Some(uuid) = &line.uuid {
            places.entry(uuid.as_str()).or_insert(place);
        }
    }
    let mut seen = vec![false; lines.len()];
    let mut at = last;
    while let Some(place) = at {
        let (Some(line), Some(seen)) = (lines.get(place), seen.get_mut(place)) else {
            break;
        };
        if std::mem::replace(seen, true) {
            return None;
        }
        at = match &line.parent {
            Some(parent) => match places.get(parent.as_str()) {
                Some(found) => Some(*found),
                // The parent is missing: the preceding turn is the nearest to it.
                None => before(lines, place),
            },
            None if line.uuid.is_none() || super::line::is_true(line.fields.is_summary) => {
                before(lines, place)
            }
            None => None,
        };
    }
    widen(lines, &mut seen);
    Some(seen)
}

/// The last turn before a place.
fn before(lines: &[&Line<'_>], place: usize) -> Option<usize> {
    lines.get(..place)?.iter().rposition(|line| line.is_turn())
}

/// Adds the other pieces of visible answers, and the results of their calls.
fn widen(lines: &[&Line<'_>], seen: &mut [bool]) {
    let answers: HashSet<&str> = on(lines, seen)
        .filter_map(|line| line.answer.as_deref())
        .collect();
    for (line, seen) in lines.iter().zip(seen.iter_mut()) {
        *seen |= line.answer.as_deref().is_some_and(|id| answers.contains(id));
    }
    let calls: HashSet<String> = on(lines, seen)
        .filter_map(Line::content)
        .flat_map(call_ids)
        .collect();
    for (line, seen) in lines.iter().zip(seen.iter_mut()) {
        *seen |= !*seen
            && line.is_turn()
            && line
                .content()
                .is_some_and(|content| answered_ids(content).any(|id| calls.contains(&id)));
    }
}

/// The visible turns.
fn on<'l, 'd>(lines: &'l [&'l Line<'d>], seen: &[bool]) -> impl Iterator<Item = &'l Line<'d>> {
    let pairs = lines.iter().zip(seen);
    let seen: Vec<&Line<'d>> = pairs.filter_map(|(line, seen)| seen.then_some(*line)).collect();
    seen.into_iter()
}
