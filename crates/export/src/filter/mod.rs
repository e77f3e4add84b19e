//! Which renderings are wanted: what stands in their row decides, never their text.

use std::str::FromStr;

use serde::Serialize;

use crate::reasons::{LAST_ROLE, LOSS, NOT_VALID, TOO_LONG};

/// What a rendering must be like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Filters {
    /// Only those that the dialect's consumer accepts.
    pub valid: bool,
    /// Only those whose last turn has this role.
    pub last_role: Option<String>,
    /// Only those that are not longer.
    pub max_tokens: Option<TokenLimit>,
    /// Only those without these losses.
    pub without: Vec<String>,
    /// Those, too, in which nobody asks before the answer, where the envelope would leave them out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_unasked: bool,
}

/// A number of tokens that is not exceeded, written `N@ENCODING`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TokenLimit {
    /// The number.
    pub tokens: u64,
    /// The encoding that counted them.
    pub encoding: String,
}

impl FromStr for TokenLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('@').and_then(|(tokens, encoding)| {
            Some(Self {
                tokens: tokens.parse().ok()?,
                encoding: Some(encoding.to_owned()).filter(|name| !name.is_empty())?,
            })
        });
        parsed.ok_or_else(|| format!("`{text}` is not N@ENCODING, for example 8192@o200k_base"))
    }
}

/// What the row of a rendering says about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) is_valid: bool,
    pub(crate) violations: Vec<String>,
    pub(crate) last_role: Option<&'a str>,
    /// Tokens in the encoding of [`Filters::max_tokens`].
    pub(crate) tokens: u64,
    pub(crate) loss_codes: Vec<String>,
}

impl Filters {
    /// Why a rendering is left out; none where it is wanted. The first reason counts.
    pub(crate) fn objection(&self, facts: &Facts<'_>) -> Option<String> {
        if self.valid && !facts.is_valid {
            // The rule's name stands before its words.
            let rule = facts.violations.first().and_then(|said| said.split(':').next());
            return Some(NOT_VALID.because(rule.unwrap_or("no rule named")));
        }
        if let Some(wanted) = &self.last_role
            && facts.last_role != Some(wanted)
        {
            return Some(LAST_ROLE.because(facts.last_role.unwrap_or("none")));
        }
        if let Some(most) = &self.max_tokens
            && facts.tokens > most.tokens
        {
            return Some(TOO_LONG.because(format_args!("over {} {} tokens", most.tokens, most.encoding)));
        }
        let lost = self.without.iter().find(|code| facts.loss_codes.contains(code))?;
        Some(LOSS.because(lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts<'static> {
        Facts {
            is_valid: false,
            violations: vec!["OAC-06: a call has no result".to_owned()],
            last_role: Some("user"),
            tokens: 100,
            loss_codes: vec!["name-inlined".to_owned(), "truncated".to_owned()],
        }
    }

    #[test]
    fn a_maximum_is_a_number_and_an_encoding() {
        let most: TokenLimit = "8192@o200k_base".parse().unwrap();
        assert_eq!((most.tokens, most.encoding.as_str()), (8192, "o200k_base"));
        for wrong in [
            "8192",
            "@o200k_base",
            "8192@",
            "-1@o200k_base",
            "8k@o200k_base",
            "",
        ] {
            assert!(
                wrong.parse::<TokenLimit>().unwrap_err().contains("N@ENCODING"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn nothing_is_left_out_unless_asked() {
        assert_eq!(Filters::default().objection(&facts()), None);
    }

    #[test]
    fn each_filter_names_its_reason() {
        let none = Filters::default;
        let most = |tokens| {
            Some(TokenLimit {
                tokens,
                encoding: "r50k_base".to_owned(),
            })
        };
        let role = |role: &str| Some(role.to_owned());
        let cases = [
            (
                Filters {
                    valid: true,
                    ..none()
                },
                Some("not-valid: OAC-06"),
            ),
            (
                Filters {
                    last_role: role("assistant"),
                    ..none()
                },
                Some("last-role: user"),
            ),
            (
                Filters {
                    last_role: role("user"),
                    ..none()
                },
                None,
            ),
            (
                Filters {
                    max_tokens: most(99),
                    ..none()
                },
                Some("too-long: over 99 r50k_base tokens"),
            ),
            (
                Filters {
                    max_tokens: most(100),
                    ..none()
                },
                None,
            ),
            (
                Filters {
                    without: vec!["truncated".to_owned()],
                    ..none()
                },
                Some("loss: truncated"),
            ),
            (
                Filters {
                    without: vec!["media-dropped".to_owned()],
                    ..none()
                },
                None,
            ),
        ];
        for (filters, reason) in cases {
            assert_eq!(filters.objection(&facts()).as_deref(), reason, "{filters:?}");
        }
    }
}
