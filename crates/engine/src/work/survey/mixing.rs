//! Balances a mix: decides which conversations of each section stay, and returns the result for the manifest.

use chatmill_dataset::overview::{Mix, MixSection};
use chatmill_diag::cut;

use super::facts::SurveyFacts;
use super::{SurveyDecision, SurveyReason};
use crate::plan::{Balance, Plan};

/// The conversations of a section that stay, and their total amount.
#[derive(Default)]
struct Members {
    /// Place in the order of the mix, index among all conversations, and amount of each.
    taken: Vec<(u64, usize, u64)>,
    amount: u64,
}

/// Leaves out the conversations that exceed the weights or the total.
pub(super) fn mix<'f>(
    balance: &Balance,
    conversations: impl Iterator<Item = &'f SurveyFacts>,
    decisions: &mut [SurveyDecision],
    plan: &Plan,
) -> Mix {
    let firsts = plan.first_inputs();
    let mut sections: Vec<Members> = firsts.iter().map(|_| Members::default()).collect();
    for (number, (facts, decision)) in conversations.zip(&*decisions).enumerate() {
        if let (None, Some((place, amount))) = (decision.left_out, facts.mixed) {
            let section = cut::at_mut(&mut sections, facts.section);
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
        // The section with the least for its weight is taken whole. Empty sections do not hold back others.
        let ratios = weighted
            .iter()
            .filter(|(section, weight)| section.amount > 0 && *weight > 0.0);
        let ratios = ratios.map(|(section, weight)| section.amount as f64 / weight);
        let scale = ratios.fold(f64::INFINITY, f64::min);
        for (section, weight) in weighted {
            section.cut_down(weight * scale, SurveyReason::Weight, decisions);
        }
    }
    let whole: u64 = sections.iter().map(|section| section.amount).sum();
    if let Some(total) = balance.total.filter(|total| *total < whole) {
        hand_out(total, whole, &mut sections, decisions);
    }
    let outcomes = firsts.into_iter().zip(sections).zip(found).enumerate();
    let outcomes = outcomes.map(|(section, ((first, members), found))| MixSection {
        first,
        weight: balance.weights.get(&section).copied(),
        found,
        retained: members.amount,
    });
    Mix {
        unit: balance.unit(),
        total: balance.total,
        sections: outcomes.collect(),
    }
}

/// Divides a total in proportion. A remainder smaller than a conversation passes
/// to the next section: else small totals of many sections would become nothing.
fn hand_out(total: u64, whole: u64, sections: &mut [Members], decisions: &mut [SurveyDecision]) {
    let ratio = total as f64 / whole as f64;
    let (mut found, mut taken) = (0, 0);
    for section in sections {
        found += section.amount;
        let target = found as f64 * ratio - taken as f64;
        section.cut_down(target, SurveyReason::Total, decisions);
        taken += section.amount;
    }
}

impl Members {
    /// Keeps conversations in order while they fit into a target, so
    /// that the sum comes as near to it as whole conversations allow.
    fn cut_down(&mut self, target: f64, reason: SurveyReason, decisions: &mut [SurveyDecision]) {
        let Self { taken, amount: sum } = self;
        *sum = 0;
        // Compensates the rounding of a division and a multiplication.
        let target = target * (1.0 + 1e-13);
        taken.retain(|(_, number, amount)| {
            let fits = (*sum + amount) as f64 <= target;
            if fits {
                *sum += amount;
            } else {
                cut::at_mut(decisions, *number).left_out = Some(reason);
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
            let mut decisions = vec![SurveyDecision::default(); amounts.len()];
            members.cut_down(target as f64, SurveyReason::Total, &mut decisions);
            let left_out = |number: &usize| decisions[*number].left_out.is_some();
            let (out, kept): (Vec<usize>, Vec<usize>) = (0..amounts.len()).partition(left_out);
            let kept: u64 = kept.iter().map(|number| amounts[*number]).sum();
            assert_eq!(kept, members.amount);
            assert!(kept <= target);
            assert!(out.iter().all(|number| kept + amounts[*number] > target));
        }
    }
    #[test]
    fn a_total_that_gives_no_section_a_whole_conversation_is_taken_all_the_same() {
        for total in 0..=12 {
            let mut sections: Vec<Members> = (0..6)
                .map(|section| Members {
                    taken: vec![(0, 2 * section, 1), (0, 2 * section + 1, 1)],
                    amount: 2,
                })
                .collect();
            let mut decisions = vec![SurveyDecision::default(); 12];
            hand_out(total, 12, &mut sections, &mut decisions);
            assert_eq!(sections.iter().map(|section| section.amount).sum::<u64>(), total);
        }
    }
}
