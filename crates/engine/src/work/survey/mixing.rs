//! The balance of a mix: which conversations of each section stay, and what came of it.

use chatmill_diag::cut;
use serde::{Deserialize, Serialize};

use super::facts::SurveyFacts;
use super::{SurveyReason, SurveyStanding};
use crate::plan::{Balance, Plan};

/// What a mix asked for, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixOutcome {
    /// The unit of all amounts.
    pub unit: String,
    /// The most that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The sections of inputs, in the order of their first ones.
    pub sections: Vec<MixedInput>,
}

/// What came of one section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixedInput {
    /// The name of its first input.
    pub first: String,
    /// The weight that was asked for, where any section has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// What there was after selection and deduplication.
    pub found: u64,
    /// What stayed.
    pub retained: u64,
}

/// The conversations of a section that stay, and how much they are.
#[derive(Default)]
struct Members {
    /// Their places, by which they are taken in order, their numbers among all conversations, and their amounts.
    taken: Vec<(u64, usize, u64)>,
    amount: u64,
}

/// Leaves out what the weights and the total have no room for.
pub(super) fn mix<'f>(
    balance: &Balance,
    conversations: impl Iterator<Item = &'f SurveyFacts>,
    standings: &mut [SurveyStanding],
    plan: &Plan,
) -> MixOutcome {
    let firsts = plan.first_inputs();
    let mut sections: Vec<Members> = firsts.iter().map(|_| Members::default()).collect();
    for (number, (facts, standing)) in conversations.zip(&*standings).enumerate() {
        if let (None, Some((place, amount))) = (standing.left_out, facts.mixed) {
            let section = cut::at_mut(&mut sections, facts.section as usize);
            section.amount += amount;
            // Places are not negative, so their bits have the same order.
            section.taken.push((place.to_bits(), number, amount));
        }
    }
    for section in &mut sections {
        section.taken.sort_unstable();
    }
    let found: Vec<u64> = sections.iter().map(|section| section.amount).collect();
    if !balance.weights.is_empty() {
        let weighted = sections.iter_mut().zip(balance.weights.values());
        let weighted: Vec<(&mut Members, f64)> =
            weighted.map(|(section, weight)| (section, *weight)).collect();
        // The scarcest section for its weight is taken whole. Where there is nothing, others are not held back.
        let ratios = weighted
            .iter()
            .filter(|(section, weight)| section.amount > 0 && *weight > 0.0);
        let ratios = ratios.map(|(section, weight)| section.amount as f64 / weight);
        let scale = ratios.fold(f64::INFINITY, f64::min);
        for (section, weight) in weighted {
            section.cut_down(weight * scale, SurveyReason::Weight, standings);
        }
    }
    let whole: u64 = sections.iter().map(|section| section.amount).sum();
    if let Some(total) = balance.total.filter(|total| *total < whole) {
        let ratio = total as f64 / whole as f64;
        for section in &mut sections {
            section.cut_down(section.amount as f64 * ratio, SurveyReason::Total, standings);
        }
    }
    let outcomes = firsts.into_iter().zip(sections).zip(found).enumerate();
    let outcomes = outcomes.map(|(section, ((first, members), found))| MixedInput {
        first,
        weight: balance.weights.get(&section).copied(),
        found,
        retained: members.amount,
    });
    MixOutcome {
        unit: balance.unit(),
        total: balance.total,
        sections: outcomes.collect(),
    }
}

impl Members {
    /// Takes, in order, what still fits into a target; so it comes as near to it as whole conversations allow.
    fn cut_down(&mut self, target: f64, reason: SurveyReason, standings: &mut [SurveyStanding]) {
        let Self { taken, amount: sum } = self;
        *sum = 0;
        // What a division and a multiplication lose.
        let target = target * (1.0 + 1e-13);
        taken.retain(|(_, number, amount)| {
            let fits = (*sum + amount) as f64 <= target;
            if fits {
                *sum += amount;
            } else {
                cut::at_mut(standings, *number).left_out = Some(reason);
            }
            fits
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_never_exceeds_the_target_and_nothing_that_is_left_out_would_have_fit() {
        let amounts: Vec<u64> = (0..40).map(|number| number * 7 % 29).collect();
        let whole: u64 = amounts.iter().sum();
        for target in 0..whole + 20 {
            let taken = amounts.iter().enumerate();
            let mut members = Members {
                taken: taken.map(|(number, amount)| (0, number, *amount)).collect(),
                amount: whole,
            };
            let mut standings = vec![SurveyStanding::default(); amounts.len()];
            members.cut_down(target as f64, SurveyReason::Total, &mut standings);
            let left_out = |number: &usize| standings[*number].left_out.is_some();
            let (out, kept): (Vec<usize>, Vec<usize>) = (0..amounts.len()).partition(left_out);
            let kept: u64 = kept.iter().map(|number| amounts[*number]).sum();
            assert_eq!(kept, members.amount);
            assert!(kept <= target);
            assert!(out.iter().all(|number| kept + amounts[*number] > target));
        }
    }
}
