//! Pairing by ids: those of calls and results, then those in the source's metadata.
//!
//! A result belongs to the nearest preceding open call of its id, else to the next one that follows.

use std::collections::{HashMap, VecDeque};

use chatmill_model::PairedBy;

use super::{Step, is_open, join};

/// Pairs by equal ids.
pub(super) fn pair(steps: &mut [Step<'_>]) {
    pair_by(steps, PairedBy::Id, |step| [step.id, None]);
}

/// Pairs by ids in the metadata: those of both sides, or that of one side with the id of the other.
///
/// A result that looked like a duplicate may turn out to answer another call.
pub(super) fn pair_by_metadata(steps: &mut [Step<'_>]) {
    if steps.iter().any(|step| step.metadata_id.is_some()) {
        pair_by(steps, PairedBy::Metadata, |step| [step.metadata_id, step.id]);
    }
}

/// Pairs open calls with lonely results that share one of the ids that `ids` gives.
///
/// A result that stays alone although a call has an id of its own is marked as a duplicate.
fn pair_by<'m>(steps: &mut [Step<'m>], rule: PairedBy, ids: impl Fn(&Step<'m>) -> [Option<&'m str>; 2]) {
    let mut calls: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let mut lonely = Vec::new();
    for index in 0..steps.len() {
        let Some(step) = steps.get(index) else { continue };
        let own = ids(step);
        if step.is_call {
            // Calls that are answered already are entered too: they tell a duplicate from an orphan.
            for id in own.into_iter().flatten() {
                calls.entry(id).or_default().push_back(index);
            }
            continue;
        }
        if step.partner.is_some() {
            continue;
        }
        let nearest = own.into_iter().flatten().filter_map(|id| {
            let waiting = calls.get_mut(id)?;
            while waiting.back().is_some_and(|call| !is_open(steps, *call)) {
                waiting.pop_back();
            }
            waiting.back().copied()
        });
        match nearest.max() {
            Some(call) => join(steps, call, index, rule),
            None => lonely.push((index, own)),
        }
    }
    // These found no open call of their ids before them: the calls that are still open all follow.
    for (result, own) in lonely {
        let next = own.into_iter().flatten().filter_map(|id| {
            let waiting = calls.get_mut(id)?;
            while waiting.front().is_some_and(|call| !is_open(steps, *call)) {
                waiting.pop_front();
            }
            waiting.front().copied()
        });
        if let Some(call) = next.min() {
            join(steps, call, result, rule);
        } else if own.into_iter().flatten().any(|id| calls.contains_key(id))
            && let Some(step) = steps.get_mut(result)
        {
            step.is_duplicate = true;
        }
    }
}
