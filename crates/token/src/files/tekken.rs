//! Mistral's files (`tekken.json`): ranks in base64, and the pattern that cuts texts.
//!
//! A file lists more tokens than the model has: those of the highest ranks make room for its special tokens.

use serde::Deserialize;

use crate::error::EncodingError;
use crate::files::ranks::Ranks;

#[derive(Deserialize)]
struct Tekken {
    config: TekkenConfig,
    vocab: Vec<TekkenToken>,
}

#[derive(Deserialize)]
struct TekkenConfig {
    pattern: String,
    default_vocab_size: usize,
    default_num_special_tokens: usize,
}

#[derive(Deserialize)]
struct TekkenToken {
    rank: u32,
    token_bytes: String,
}

/// Reads the ranks and the pattern of such a file; `None` if it is no tekken file.
pub(crate) fn read(json: &str) -> Result<Option<(Ranks, String)>, EncodingError> {
    let Ok(file) = serde_json::from_str::<Tekken>(json) else {
        return Ok(None);
    };
    let config = file.config;
    let most = config
        .default_vocab_size
        .saturating_sub(config.default_num_special_tokens);
    let mut tokens = file.vocab;
    tokens.sort_by_key(|token| token.rank);
    tokens.truncate(most);
    let lines = tokens
        .iter()
        .map(|token| format!("{} {}\n", token.token_bytes, token.rank));
    let ranks = Ranks::read(&lines.collect::<String>())?;
    Ok(Some((ranks, config.pattern)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_give_way_to_special_ones_from_the_highest_rank_on() {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let tokens = bytes.chain([b"ab".to_vec(), b"abc".to_vec()]);
        let vocab: Vec<_> = (0..)
            .zip(tokens)
            .map(|(rank, token): (u32, _)| json!({"rank": rank, "token_bytes": base64_of(&token), "token_str": null}))
            .collect();
        let file = json!({
            "config": {"pattern": r"\w+|\W", "default_vocab_size": 260, "default_num_special_tokens": 3},
            "vocab": vocab,
            "special_tokens": [],
        });
        let encoding = crate::Encoding::from_tokenizer("acme", file.to_string()).unwrap();
        assert_eq!(encoding.about().source, "tekken file, cut by its own pattern");
        assert_eq!(encoding.about().vocabulary, 257);
        assert_eq!(encoding.counter().count("abc"), 2);
        assert!(read("{\"config\": {}}").unwrap().is_none());
    }

    fn base64_of(bytes: &[u8]) -> String {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }
}
