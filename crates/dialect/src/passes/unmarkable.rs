//! Removes cache marks from blocks that cannot have one in the dialect.

use chatmill_diag::cut;

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::passes::profile::MarksOn;
use crate::transcript::turns::{BlockContent, Kinds};

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.cache_marks.is_some(), &[LossCode::CacheMarkDropped]),
    run: |plan, _, profile| {
        if profile.marks_on == MarksOn::Everything || !plan.kinds.has(Kinds::CACHE_MARKS) {
            return;
        }
        let losses = &mut plan.losses;
        for turn in &plan.turns {
            let blocks = cut::slice_mut(&mut plan.blocks, turn.range());
            for block in blocks.iter_mut().filter(|block| block.is_cached) {
                let reason = match block.content {
                    BlockContent::Call(_) => reasons::CALL_BEARS_NO_MARK,
                    BlockContent::Result(result)
                        if profile.marks_on == MarksOn::Texts || result.content.is_empty() =>
                    {
                        reasons::RESULT_HAS_NO_BLOCK
                    }
                    _ => continue,
                };
                block.is_cached = false;
                if let Some(position) = block.position {
                    losses.at(reason, position);
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
    use crate::passes::samples::{BOT, PLAIN, REASON, Sample, call, result, text};

    #[test]
    fn marks_on_calls_and_results_are_dropped_where_these_have_no_blocks() {
        let sample = Sample::new()
            .post(BOT, vec![text("a"), Part::CacheMark, call("c"), Part::CacheMark])
            .post(BOT, vec![result("c", "x"), Part::CacheMark]);
        let passes: [&Pass; 2] = [&crate::passes::marks::PASS, &PASS];
        let on = |marks_on| DialectProfile {
            cache_marks: Some((4, REASON)),
            marks_on,
            ..PLAIN
        };
        assert!(sample.after(&passes, &on(MarksOn::Everything)).1.is_empty());
        let (turns, losses) = sample.after(&passes, &on(MarksOn::TextsAndResults));
        assert_eq!(turns, ["assistant: a* | <call   >", "tool: <result   x>*"]);
        assert_eq!(losses, ["cache-mark-dropped 0 1"]);
        let (turns, losses) = sample.after(&passes, &on(MarksOn::Texts));
        assert_eq!(turns, ["assistant: a* | <call   >", "tool: <result   x>"]);
        assert_eq!(losses, ["cache-mark-dropped 0 1", "cache-mark-dropped 1 1"]);
    }
}
