//! Rank files in the form of tiktoken: on each line a token in base64, a space and its rank.
//!
//! A vocabulary is refused rather than repaired: with a duplicate token, or a byte that is not a token, every count would be a guess.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustc_hash::FxHashMap;

use crate::bpe::vocabulary::MOST_TOKENS;
use crate::error::EncodingError;

/// The tokens of a vocabulary with their ranks, checked: tokens and ranks are unique, and every byte is a token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranks(Vec<(Vec<u8>, u32)>);

impl Ranks {
    /// Reads a rank file.
    pub(crate) fn read(text: &str) -> Result<Self, EncodingError> {
        let mut tokens = Vec::new();
        let mut line_of_token: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
        let mut line_of_rank: FxHashMap<u32, usize> = FxHashMap::default();
        for (line, content) in (1..).zip(text.lines()) {
            if content.trim().is_empty() {
                continue;
            }
            let (token, rank) = entry(line, content)?;
            if let Some(before) = line_of_token.insert(token.clone(), line) {
                let problem = format!("duplicate token: line {before} has it already; remove one of them");
                return Err(EncodingError::Line(line, problem));
            }
            if let Some(before) = line_of_rank.insert(rank, line) {
                let problem = format!("line {before} has the rank {rank} already; each rank must be unique");
                return Err(EncodingError::Line(line, problem));
            }
            tokens.push((token, rank));
        }
        Self::checked(tokens)
    }

    /// Checks tokens that are unique, and have unique ranks.
    pub(crate) fn checked(tokens: Vec<(Vec<u8>, u32)>) -> Result<Self, EncodingError> {
        if tokens.len() > MOST_TOKENS {
            let problem = format!(
                "it has {} tokens; at most {MOST_TOKENS} are supported",
                tokens.len()
            );
            return Err(EncodingError::Vocabulary(problem));
        }
        let mut known = [false; 256];
        for (token, _) in &tokens {
            if let [byte] = token.as_slice()
                && let Some(place) = known.get_mut(usize::from(*byte))
            {
                *place = true;
            }
        }
        if let Some(byte) = known.iter().position(|known| !known) {
            let problem = format!(
                "the byte 0x{byte:02x} is not a token; all 256 bytes must be tokens, or some texts have none"
            );
            return Err(EncodingError::Vocabulary(problem));
        }
        Ok(Self(tokens))
    }

    /// Tokens and ranks, in the order of the file.
    pub(crate) fn tokens(&self) -> &[(Vec<u8>, u32)] {
        &self.0
    }
}

fn entry(line: usize, content: &str) -> Result<(Vec<u8>, u32), EncodingError> {
    let mut words = content.split_ascii_whitespace();
    let (Some(token), Some(rank), None) = (words.next(), words.next(), words.next()) else {
        let problem = "a token in base64, a space and a rank were expected, for example `IQ== 0`";
        return Err(EncodingError::Line(line, problem.to_owned()));
    };
    let bytes = STANDARD
        .decode(token)
        .map_err(|error| EncodingError::Line(line, format!("the token is not base64: {error}")))?;
    if bytes.is_empty() {
        return Err(EncodingError::Line(line, "the token is empty".to_owned()));
    }
    let rank = rank.parse().ok().filter(|rank| *rank < u32::MAX).ok_or_else(|| {
        let problem = format!("the rank is not a whole number from 0 to {}", u32::MAX - 1);
        EncodingError::Line(line, problem)
    })?;
    Ok((bytes, rank))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// A rank file with every byte and these longer tokens.
    pub(crate) fn rank_file(longer: &[&[u8]]) -> String {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let tokens = bytes
            .iter()
            .map(<[u8; 1]>::as_slice)
            .chain(longer.iter().copied());
        lines((0..).zip(tokens))
    }

    /// The lines of a rank file.
    pub(crate) fn lines(tokens: impl Iterator<Item = (u32, impl AsRef<[u8]>)>) -> String {
        let mut file = String::new();
        for (rank, token) in tokens {
            writeln!(file, "{} {rank}", STANDARD.encode(token)).unwrap();
        }
        file
    }

    fn refused(text: &str) -> String {
        Ranks::read(text).unwrap_err().to_string()
    }

    #[test]
    fn a_rank_file_is_read_in_any_order_and_with_gaps() {
        let file = rank_file(&[b"ab", b"abc"]).replace(" 256\n", " 9000\r\n\n");
        let ranks = Ranks::read(&file).unwrap();
        assert_eq!(ranks.tokens().len(), 258);
        assert_eq!(ranks.tokens()[256], (b"ab".to_vec(), 9000));
    }

    #[test]
    fn a_malformed_entry_is_reported_with_its_line() {
        let good = rank_file(&[]);
        for (line, expected) in [
            ("YWI=", "line 257: a token in base64, a space and a rank"),
            ("YWI= 1 2", "line 257: a token in base64, a space and a rank"),
            ("Y!I= 256", "line 257: the token is not base64"),
            ("YWI 256", "line 257: the token is not base64"),
            ("YWI= -1", "line 257: the rank is not a whole number"),
            ("YWI= 4294967295", "line 257: the rank is not a whole number"),
            ("YWI= 99999999999", "line 257: the rank is not a whole number"),
            ("YWI= 97", "line 257: line 98 has the rank 97 already"),
            ("YQ== 256", "line 257: duplicate token: line 98 has it already"),
        ] {
            let message = refused(&format!("{good}{line}\n"));
            assert!(message.starts_with(expected), "{line}: {message}");
        }
    }

    #[test]
    fn a_byte_that_is_no_token_is_named() {
        let without = rank_file(&[]).replace("fw== 127\n", "");
        assert!(refused(&without).starts_with("the byte 0x7f is not a token"));
        assert!(refused("").starts_with("the byte 0x00 is not a token"));
    }
}
