//! Removes cache marks beyond the number that a dialect allows. The newest stay, because a mark covers everything before it.

use super::{Pass, codes_if};
use crate::loss::LossCode;
use crate::transcript::turns::Kinds;

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.cache_marks.is_some(), &[LossCode::CacheMarkCapped]),
    run: |plan, _, profile| {
        let Some((most, reason)) = profile.cache_marks.filter(|_| plan.kinds.has(Kinds::CACHE_MARKS)) else {
            return;
        };
        let mut left = most;
        let blocks = plan.blocks.iter_mut().rev().chain(plan.system.iter_mut().rev());
        for block in blocks.filter(|block| block.is_cached) {
            if left > 0 {
                left -= 1;
            } else {
                block.is_cached = false;
                if let Some(position) = block.position {
                    plan.losses.at((LossCode::CacheMarkCapped, reason), position);
                }
            }
        }
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Part;

    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, PLAIN, REASON, Sample, text};

    #[test]
    fn of_too_many_cache_marks_the_newest_stay() {
        let mut sample = Sample::new();
        for _ in 0..3 {
            sample = sample.post(ANN, vec![text("a"), Part::CacheMark]);
        }
        let two = DialectProfile {
            cache_marks: Some((2, REASON)),
            ..PLAIN
        };
        let passes: [&Pass; 2] = [&crate::passes::marks::PASS, &PASS];
        let (turns, losses) = sample.after(&passes, &two);
        assert_eq!(turns, ["user: a", "user: a*", "user: a*"]);
        assert_eq!(losses, ["cache-mark-capped 0 1"]);
    }
}
