//! Results of parallel calls that name one message as their parent.
//!
//! The results of one message's calls are no alternatives of each other, and what follows the message follows all of them. A
//! second result of the same call is an alternative to the first.

use std::collections::HashMap;

use super::Node;

/// Puts results with the same parent below one another, and what follows one of them, or their parent, below the last. Returns
/// the last result of the same answer for each result.
pub(super) fn chain(entries: &[Node], parents: &mut [Option<usize>]) -> HashMap<usize, usize> {
    let named = parents.to_vec();
    let groups = groups(entries, &named);
    let (mut before, mut last, mut answered) = (HashMap::new(), HashMap::new(), HashMap::new());
    for ResultGroup {
        parent,
        shared,
        results,
    } in &groups
    {
        before.extend(results.iter().skip(1).copied().zip(results.iter().copied()));
        before.extend(results.first().copied().zip(*shared));
        let Some(end) = results.last() else { continue };
        last.extend(results.iter().map(|at| (*at, *end)));
        answered.entry(*parent).or_insert(*end);
    }
    for ((at, parent), above) in (0..).zip(named).zip(parents) {
        let Some(parent) = parent else { continue };
        let behind = || answered.get(&parent).filter(|_| !last.contains_key(&at));
        let next = before.get(&at).or_else(|| last.get(&parent)).or_else(behind);
        *above = Some(next.copied().unwrap_or(parent));
    }
    last
}

/// Results of one message's calls.
struct ResultGroup {
    parent: usize,
    /// The last of the results that precede these, because no other is an alternative to them.
    shared: Option<usize>,
    results: Vec<usize>,
}

/// The results of each message's calls, those of calls with one result first. The second results of its calls are a separate group, and so on.
fn groups(entries: &[Node], parents: &[Option<usize>]) -> Vec<ResultGroup> {
    let all = entries.iter().enumerate().zip(parents);
    let all = all.filter_map(|((at, node), parent)| Some((at, (*parent, node.answers.as_deref()?))));
    let results: Vec<(usize, (usize, &str))> = all
        .filter_map(|(at, (parent, call))| Some((at, (parent?, call))))
        .collect();
    let mut counts: HashMap<(usize, &str), usize> = HashMap::new();
    for (_, call) in &results {
        *counts.entry(*call).or_default() += 1;
    }
    let (single, repeated): (Vec<_>, Vec<_>) = results
        .into_iter()
        .partition(|(_, call)| counts.get(call) == Some(&1));
    let mut groups: Vec<ResultGroup> = Vec::new();
    let mut places: HashMap<(usize, usize), usize> = HashMap::new();
    let mut shared: HashMap<usize, usize> = HashMap::new();
    let mut times: HashMap<(usize, &str), usize> = HashMap::new();
    shared.extend(single.iter().map(|(at, (parent, _))| (*parent, *at)));
    for (at, call) in single.into_iter().chain(repeated) {
        let (parent, time) = (call.0, times.entry(call).or_default());
        let place = *places.entry((parent, *time)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.results.push(at),
            None => groups.push(ResultGroup {
                parent,
                shared: shared.get(&parent).copied().filter(|_| *time > 0),
                results: vec![at],
            }),
        }
        *time += 1;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parents after chaining, of nodes with an index of the parent and the call that they answer.
    fn chained(nodes: &[(Option<usize>, &str)]) -> (Vec<Option<usize>>, HashMap<usize, usize>) {
        let mut parents: Vec<Option<usize>> = nodes.iter().map(|(parent, _)| *parent).collect();
        let node = |(_, call): &(Option<usize>, &str)| Node {
            id: String::new(),
            parent: None,
            answers: (!call.is_empty()).then(|| (*call).to_owned()),
            span: 0..0,
            path: String::new(),
        };
        let entries: Vec<Node> = nodes.iter().map(node).collect();
        let last = chain(&entries, &mut parents);
        (parents, last)
    }

    #[test]
    fn results_of_parallel_calls_are_below_one_another_and_answers_below_the_last() {
        let call = (None, "");
        let (parents, last) = chained(&[call, (Some(0), "a"), (Some(0), "b"), (Some(2), "")]);
        assert_eq!(parents, [None, Some(0), Some(1), Some(2)]);
        assert_eq!(last, HashMap::from([(1, 2), (2, 2)]));
        // The answer names the first result, or the call; and another answer the last result.
        for parent in [0, 1] {
            let (parents, _) = chained(&[
                call,
                (Some(0), "a"),
                (Some(parent), ""),
                (Some(0), "b"),
                (Some(3), ""),
            ]);
            assert_eq!(parents, [None, Some(0), Some(3), Some(1), Some(3)]);
        }
    }

    #[test]
    fn second_results_of_the_same_calls_are_alternatives() {
        let (parents, _) = chained(&[
            (None, ""),
            (Some(0), "a"),
            (Some(0), "b"),
            (Some(0), "a"),
            (Some(0), "b"),
            (Some(4), ""),
        ]);
        assert_eq!(parents, [None, Some(0), Some(1), Some(0), Some(3), Some(4)]);
        // Only one call has a second result.
        let (parents, _) = chained(&[
            (None, ""),
            (Some(0), "a"),
            (Some(0), "b"),
            (Some(0), "a"),
            (Some(3), ""),
        ]);
        assert_eq!(parents, [None, Some(2), Some(0), Some(2), Some(3)]);
    }

    #[test]
    fn chains_of_results_and_forks_without_results_stay() {
        for nodes in [
            [(None, ""), (Some(0), "a"), (Some(1), "b"), (Some(2), "")],
            [(None, ""), (Some(0), ""), (Some(0), ""), (Some(1), "a")],
        ] {
            let own: Vec<Option<usize>> = nodes.iter().map(|(parent, _)| *parent).collect();
            assert_eq!(chained(&nodes).0, own);
        }
    }
}
