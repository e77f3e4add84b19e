//! Ratings of the answers at one position, and what follows from
//! them: which one is better, and which ones are good or bad.
//!
//! Labels by rank are what TRL's `unpair_preference_dataset` would make of the
//! pairs at a position: an answer that only wins is good, one that only loses
//! is bad. An answer that does both would get both labels, and so has none.

use std::cmp::Ordering;

use chatmill_model::{AlternativeOrigin, Judgement, LabelBasis, Score};

use super::answers::StoredAnswer;

/// The rating of an answer; each field is absent if the record does not have it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rating {
    /// Whether the record calls the answer good or bad.
    pub(super) stated: Option<bool>,
    /// Its rank; the lowest is the best.
    pub(super) rank: Option<u64>,
    /// Its score; the highest is the best.
    pub(super) score: Option<f64>,
    /// Whether the answer has a separate question, which its rank and score refer to.
    pub(super) has_question: bool,
}

impl Rating {
    /// Returns the rating of an answer.
    pub(super) fn of(answer: &StoredAnswer) -> Self {
        Self::new(answer.origin, answer.judgement)
    }

    fn new(origin: AlternativeOrigin, Judgement { rank, score, label }: Judgement) -> Self {
        let by_side = match origin {
            AlternativeOrigin::Chosen => Some(true),
            AlternativeOrigin::Rejected => Some(false),
            _ => None,
        };
        Self {
            stated: label.or(by_side),
            rank,
            score: score.map(Score::value),
            has_question: origin == AlternativeOrigin::Branch,
        }
    }

    /// Compares two answers, as far as the data allows: by rank, else
    /// by score, else by labels if one is good and the other is not.
    pub(super) fn against(&self, other: &Self) -> Option<Ordering> {
        if let (Some(own), Some(other)) = (self.rank, other.rank) {
            return Some(other.cmp(&own));
        }
        if let (Some(own), Some(other)) = (self.score, other.score) {
            return own.partial_cmp(&other);
        }
        Some(self.stated?.cmp(&other.stated?))
    }
}

/// Returns the label of each answer at a position, with its basis. A label in the record has
/// priority over ranks, and ranks over scores; answers with equal ratings have no label.
pub(super) fn labels(place: &[Rating]) -> Vec<Option<(bool, LabelBasis)>> {
    let answers = || place.iter().filter(|rating| !rating.has_question);
    let ranks = ends(answers().filter_map(|rating| rating.rank));
    let scores = ends(answers().filter_map(|rating| rating.score));
    let label = |rating: &Rating| match (rating.stated, rating.rank, ranks) {
        (Some(stated), ..) => Some((stated, LabelBasis::Stated)),
        (None, ..) if rating.has_question => None,
        (None, Some(rank), Some(ranks)) => is_end(rank, ranks).map(|is_worst| (!is_worst, LabelBasis::Ranks)),
        _ => is_end(rating.score?, scores?).map(|is_best| (is_best, LabelBasis::Scores)),
    };
    place.iter().map(label).collect()
}

/// Returns the lowest and the highest of some values; `None` if all are equal.
fn ends<T: Copy + PartialOrd>(values: impl Iterator<Item = T> + Clone) -> Option<(T, T)> {
    let lowest = values
        .clone()
        .reduce(|one, other| if other < one { other } else { one })?;
    let highest = values.reduce(|one, other| if other > one { other } else { one })?;
    (lowest < highest).then_some((lowest, highest))
}

/// Returns whether a value is the highest; `None` if it is neither the highest nor the lowest.
fn is_end<T: Copy + PartialEq>(value: T, (lowest, highest): (T, T)) -> Option<bool> {
    (value == lowest || value == highest).then(|| value == highest)
}

#[cfg(test)]
mod tests {
    use super::*;

    use AlternativeOrigin::{Branch, Choice, Rejected};

    fn rating(
        origin: AlternativeOrigin,
        rank: Option<u64>,
        score: Option<f64>,
        label: Option<bool>,
    ) -> Rating {
        let score = score.and_then(Score::new);
        Rating::new(origin, Judgement { rank, score, label })
    }

    fn ranked(rank: u64) -> Rating {
        rating(Choice, Some(rank), None, None)
    }

    fn scored(score: f64) -> Rating {
        rating(Choice, None, Some(score), None)
    }

    /// Writes `+` for good, `-` for bad, `.` for no label, and lists the bases.
    fn labelled(place: &[Rating]) -> (String, Vec<&'static str>) {
        let labels = labels(place);
        let sign = |label: &Option<(bool, LabelBasis)>| match label {
            None => '.',
            Some((true, _)) => '+',
            Some((false, _)) => '-',
        };
        let mut bases: Vec<&str> = labels.iter().flatten().map(|(_, basis)| basis.as_str()).collect();
        bases.dedup();
        (labels.iter().map(sign).collect(), bases)
    }

    #[test]
    fn the_best_of_a_ranking_is_good_the_worst_bad_and_those_between_have_no_label() {
        assert_eq!(labelled(&[0, 2, 1].map(ranked)), ("+-.".into(), vec!["ranks"]));
        assert_eq!(
            labelled(&[3.5, 9.0, 1.0, 9.0].map(scored)),
            (".+-+".into(), vec!["scores"])
        );
    }

    #[test]
    fn ties_at_an_end_share_its_label_and_a_tie_of_all_has_none() {
        assert_eq!(labelled(&[0, 0, 1, 2, 2].map(ranked)).0, "++.--");
        assert_eq!(labelled(&[1, 1].map(ranked)).0, "..");
        assert_eq!(labelled(&[ranked(0)]).0, ".");
        assert_eq!(labelled(&[]).0, "");
    }

    #[test]
    fn a_stated_label_wins_over_a_rank_and_a_rank_over_a_score() {
        let place = [
            rating(Choice, Some(0), Some(1.0), Some(false)),
            rating(Choice, Some(1), Some(9.0), None),
            rating(Choice, None, Some(5.0), None),
        ];
        assert_eq!(labelled(&place), ("--.".into(), vec!["stated", "ranks"]));
        let side = rating(Rejected, None, Some(9.0), None);
        assert_eq!(labelled(&[side, scored(1.0)]).0, "--");
    }

    #[test]
    fn one_rank_among_scores_is_no_ranking_and_the_scores_decide() {
        let place = [rating(Choice, Some(0), Some(0.9), None), scored(0.1)];
        assert_eq!(labelled(&place), ("+-".into(), vec!["scores"]));
    }

    #[test]
    fn the_rank_of_a_question_is_no_label_of_its_answer() {
        let question = |rank| rating(Branch, Some(rank), None, None);
        assert_eq!(labelled(&[0, 1].map(question)).0, "..");
        assert_eq!(labelled(&[question(0), ranked(1), ranked(2)]).0, ".+-");
    }
}
