//! The filters of an export. Only the columns of a row decide whether its rendering is left out, never its text.

use crate::candidate::{Candidate, RenderingFacts};
use crate::filter::Filters;
use crate::filter::reasons::{LAST_ROLE, LOSS, NOT_VALID, TOO_LONG};

/// The reason of the first filter that excludes a rendering; `None` if it passes all filters.
pub(crate) fn reason(filters: &Filters, candidate: &Candidate<'_>) -> Option<String> {
    let facts = candidate.rendering;
    if filters.valid && !candidate.is_valid {
        // The name of the rule precedes its text.
        let rule = facts.violations.first().and_then(|rule| rule.split(':').next());
        return Some(NOT_VALID.because(rule.unwrap_or("no rule named")));
    }
    if let Some(wanted) = &filters.last_role
        && facts.last_role != Some(wanted)
    {
        return Some(LAST_ROLE.because(facts.last_role.unwrap_or("none")));
    }
    if let Some(most) = &filters.max_tokens
        && facts.tokens > most.tokens
    {
        return Some(TOO_LONG.because(format_args!("over {} {} tokens", most.tokens, most.encoding)));
    }
    let is_lost = |code: &&String| facts.loss_codes.contains(&code.as_str());
    let lost = filters.without.iter().find(is_lost)?;
    Some(LOSS.because(lost))
}

/// The prefix of the rule for a row that is too large: the rule names the turn, and contains no text of a message.
const TOO_LARGE: &str = "window.max_tokens: ";

/// The reason with the turn that is too large, if that is why the row is left out.
pub(crate) fn too_large(reason: &str, facts: &RenderingFacts<'_>) -> Option<String> {
    let rule = facts
        .violations
        .first()
        .filter(|rule| rule.starts_with(TOO_LARGE))?;
    (reason == NOT_VALID.because(TOO_LARGE.trim_end_matches(": "))).then(|| NOT_VALID.because(rule))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::TokenLimit;

    fn reason_of(filters: &Filters) -> Option<String> {
        let rendering = RenderingFacts {
            violations: &["OAC-06: a call has no result".to_owned()],
            last_role: Some("user"),
            tokens: 100,
            loss_codes: &["name-inlined", "truncated"],
            ..RenderingFacts::default()
        };
        reason(
            filters,
            &Candidate {
                rendering: &rendering,
                dialect: "openai-chat",
                is_valid: false,
                is_json: true,
            },
        )
    }

    #[test]
    fn no_rendering_is_left_out_by_default() {
        assert_eq!(reason_of(&Filters::default()), None);
    }

    type Ask<'a> = &'a dyn Fn(&mut Filters);

    #[test]
    fn each_filter_names_its_reason() {
        let most = |tokens| {
            Some(TokenLimit {
                tokens,
                encoding: "r50k_base".to_owned(),
            })
        };
        let cases: [(Ask<'_>, Option<&str>); 7] = [
            (&|asked| asked.valid = true, Some("not-valid: OAC-06")),
            (
                &|asked| asked.last_role = Some("assistant".to_owned()),
                Some("last-role: user"),
            ),
            (&|asked| asked.last_role = Some("user".to_owned()), None),
            (
                &|asked| asked.max_tokens = most(99),
                Some("too-long: over 99 r50k_base tokens"),
            ),
            (&|asked| asked.max_tokens = most(100), None),
            (
                &|asked| asked.without.push("truncated".to_owned()),
                Some("loss: truncated"),
            ),
            (&|asked| asked.without.push("media-dropped".to_owned()), None),
        ];
        for (ask, reason) in cases {
            let mut filters = Filters::default();
            ask(&mut filters);
            assert_eq!(reason_of(&filters).as_deref(), reason, "{filters:?}");
        }
    }
}
