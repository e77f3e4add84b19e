//! The progress of a command over all of its stages, as one number that only grows.
//!
//! Announced stages divide the progress in proportion to their weights. A stage that was not announced takes half of the rest, or all of it
//! if no other stage is announced.

/// The stages of a command.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    /// The stages that have not begun, with their weights.
    pending: Vec<(String, u64)>,
    from: f64,
    to: f64,
}

impl Course {
    /// Announces stages, which come before those that are already announced.
    pub(super) fn announce(&mut self, stages: &[(&str, u64)]) {
        let stages = stages.iter().map(|(name, weight)| ((*name).to_owned(), *weight));
        self.pending.splice(..0, stages);
    }

    /// Begins a stage. Stages that were announced before it and did not come are skipped.
    pub(super) fn enter(&mut self, name: &str) {
        let place = self.pending.iter().position(|(known, _)| known == name);
        let announced = place.and_then(|place| self.pending.drain(..=place).next_back());
        let rest: u64 = self.pending.iter().map(|(_, weight)| weight).sum();
        let weight = announced.map_or(rest, |(_, weight)| weight);
        let fraction = if rest == 0 {
            1.0
        } else {
            weight as f64 / (weight + rest) as f64
        };
        self.from = self.to;
        self.to += (1.0 - self.to) * fraction;
    }

    /// The progress from 0 to 1 at this fraction of the current stage.
    pub(super) fn at(&self, fraction: f64) -> f64 {
        self.from + self.length() * fraction.clamp(0.0, 1.0)
    }

    /// The share of the current stage in the whole progress.
    pub(super) fn length(&self) -> f64 {
        self.to - self.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fraction in percent.
    fn percent(fraction: f64) -> String {
        format!("{:.0}", fraction * 100.0)
    }

    fn ends(course: &mut Course, stages: &[&str]) -> String {
        let mut ends = Vec::new();
        for stage in stages {
            course.enter(stage);
            ends.push(percent(course.at(0.0)));
        }
        ends.push(percent(course.at(1.0)));
        ends.join(" ")
    }

    #[test]
    fn stages_divide_the_way_by_their_weights() {
        let mut course = Course::default();
        course.announce(&[("certify", 10)]);
        course.announce(&[("hash", 5), ("render", 80), ("seal", 5)]);
        assert_eq!(
            ends(&mut course, &["hash", "render", "seal", "certify"]),
            "0 5 85 90 100"
        );
        assert_eq!(percent(course.at(-1.0)), "90");
        assert_eq!(percent(course.at(7.0)), "100");
    }

    #[test]
    fn a_stage_that_does_not_come_or_was_not_announced_never_moves_the_bar_back() {
        let mut course = Course::default();
        course.announce(&[("hash", 10), ("compare", 40), ("render", 40), ("seal", 10)]);
        assert_eq!(
            ends(&mut course, &["hash", "render", "qualify ids", "seal"]),
            "0 10 82 91 100"
        );
        let mut alone = Course::default();
        assert_eq!(ends(&mut alone, &["check"]), "0 100");
    }
}
