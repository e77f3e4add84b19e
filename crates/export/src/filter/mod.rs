//! The filters of an export, and the reasons for which renderings are left out.

pub(crate) mod reasons;

use std::str::FromStr;

use serde::Serialize;

/// Filters that a rendering has to pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Filters {
    /// Only renderings that obey the rules of the dialect.
    pub valid: bool,
    /// Only renderings that end with a turn of this role.
    pub last_role: Option<String>,
    /// Only renderings that are not longer.
    pub max_tokens: Option<TokenLimit>,
    /// Only renderings without these losses.
    pub without: Vec<String>,
    /// Also renderings without a message before the answer, which the envelope would leave out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_unasked: bool,
    /// Only the first of equal rows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub distinct: bool,
}

/// The most tokens of a rendering, written `N@ENCODING`.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
