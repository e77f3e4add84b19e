//! Removes texts that are only white space where the dialect treats them as empty.

use super::{Pass, codes_if};
use crate::loss::{LossCode, reasons};
use crate::text::run::is_blank_character;
use crate::transcript::turns::{BlockContent, Kinds, Wording};

pub(super) const PASS: Pass = Pass {
    loses: |profile| codes_if(profile.blank_is_empty, &[LossCode::WhitespaceTrimmed]),
    run: |plan, _, profile| {
        if !profile.blank_is_empty || !plan.kinds.has(Kinds::BLANK) {
            return;
        }
        plan.each_block(|plan, _, block| {
            if let (BlockContent::Words(Wording::Text, words), Some(position)) =
                (block.content, block.position)
                && plan
                    .words(words)
                    .iter()
                    .all(|words| words.text.chars().all(is_blank_character))
            {
                plan.losses.at(reasons::WHITE_SPACE_IS_EMPTY, position);
                return None;
            }
            Some(block)
        });
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::profile::DialectProfile;
    use crate::passes::samples::{ANN, PLAIN, Sample, text};

    #[test]
    fn white_space_is_no_text_where_the_profile_drops_blanks() {
        let sample = Sample::new().post(ANN, vec![text(" \n\u{feff}"), text("b ")]);
        assert_eq!(sample.after(&[&PASS], &PLAIN).0, ["user:  \n\u{feff} | b "]);
        let strict = DialectProfile {
            blank_is_empty: true,
            ..PLAIN
        };
        let (turns, losses) = sample.after(&[&PASS], &strict);
        assert_eq!(turns, ["user: b "]);
        assert_eq!(losses, ["whitespace-trimmed 0 1"]);
    }
}
