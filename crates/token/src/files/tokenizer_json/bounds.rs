//! Limits on the cost of a tokenizer file's steps. A file is refused before anything is counted, so that no count can fail.
//!
//! The growth of a text is calculated for the worst text. Once a step has cut, every byte is taken for a piece. A limit during counting
//! would be closer, but then every table, bill and budget would need a value for "not counted". The price is that the growths of two
//! replacements multiply even if they never apply to the same text.

use crate::error::EncodingError;
use crate::files::tokenizer_json::steps::{JsonNormalizer, JsonPattern, JsonPreTokenizer};
use crate::split::patterns::MAX_PATTERN_BYTES;
use crate::split::prefix::Prefix;

/// The most steps, those that normalise and those that cut together. Published files have up to ten.
const MAX_STEPS: usize = 64;

/// The length in bytes of the text for which growth is calculated.
const SHORT_TEXT: u64 = 16;

/// The most bytes that the steps may make of it: 64 times as many. NFKC, small letters and a sign for spaces make up to 50 times as many.
const MAX_GROWN: u64 = 64 * SHORT_TEXT;

/// Refuses a file with too many steps, or with steps that could make a text too long.
pub(super) fn check(
    normalizers: &[&JsonNormalizer],
    cutters: &[&JsonPreTokenizer],
) -> Result<(), EncodingError> {
    let refused = |problem: String| Err(EncodingError::Vocabulary(problem));
    let steps = normalizers.len() + cutters.len();
    if steps > MAX_STEPS {
        return refused(format!(
            "it normalises and cuts texts in {steps} steps; at most {MAX_STEPS} are read"
        ));
    }
    let patterns = normalizers.iter().filter_map(|step| step.pattern());
    let patterns = patterns.chain(cutters.iter().filter_map(|step| step.pattern()));
    let patterns: usize = patterns.map(JsonPattern::regex_bytes).sum();
    if patterns > MAX_PATTERN_BYTES {
        return refused(format!(
            "its patterns have {patterns} bytes; at most {MAX_PATTERN_BYTES} are read"
        ));
    }
    let mut grown = normalizers
        .iter()
        .fold(SHORT_TEXT, |bytes, step| step.grown(bytes));
    let mut pieces = 1;
    for step in cutters {
        grown = step.grown(grown, pieces);
        pieces = grown;
    }
    if grown > MAX_GROWN {
        return refused(format!(
            "its steps could make {grown} bytes of a text of {SHORT_TEXT}; at most {MAX_GROWN} are allowed"
        ));
    }
    Ok(())
}

impl JsonPattern {
    fn regex_bytes(&self) -> usize {
        match self {
            Self::String(_) => 0,
            Self::Regex(pattern) => pattern.len(),
        }
    }

    /// The length of the shortest match in bytes; 0 if it may be empty or is unknown.
    fn shortest(&self) -> u64 {
        let shortest = match self {
            Self::String(words) => Some(words.len()),
            Self::Regex(_) => self
                .regex()
                .and_then(|pattern| regex_syntax::parse(&pattern).ok()?.properties().minimum_len()),
        };
        shortest.map_or(0, |bytes| bytes as u64)
    }
}

impl JsonNormalizer {
    fn pattern(&self) -> Option<&JsonPattern> {
        match self {
            Self::Replace { pattern, .. } => Some(pattern),
            _ => None,
        }
    }

    /// The most bytes that it makes of `bytes`; a step that only the crate knows adds none.
    fn grown(&self, bytes: u64) -> u64 {
        match self {
            // The largest factors of UTF-8 in Unicode: those of U+1D160 and U+FDFA, and of U+0130.
            Self::Nfc => bytes.saturating_mul(3),
            Self::Nfkc => bytes.saturating_mul(11),
            Self::Lowercase => bytes.saturating_mul(3).div_ceil(2),
            Self::Prepend { prepend } => bytes.saturating_add(prepend.len() as u64),
            Self::Replace { pattern, content } => {
                let content = content.len() as u64;
                match pattern.shortest() {
                    // Empty matches are at both ends, too.
                    0 => bytes.saturating_add(bytes.saturating_add(1).saturating_mul(content)),
                    shortest => bytes.saturating_mul(content).div_ceil(shortest).max(bytes),
                }
            }
            Self::Sequence { .. } | Self::Other => bytes,
        }
    }
}

impl JsonPreTokenizer {
    fn pattern(&self) -> Option<&JsonPattern> {
        match self {
            Self::Split { pattern, .. } => Some(pattern),
            _ => None,
        }
    }

    /// The most bytes that it makes of `bytes` in `pieces` pieces.
    fn grown(&self, bytes: u64, pieces: u64) -> u64 {
        let (widest, is_put) = match self {
            Self::ByteLevel { add_prefix_space, .. } => (2, *add_prefix_space),
            Self::Metaspace { replacement, .. } => {
                (replacement.len_utf8() as u64, self.prefix() != Prefix::None)
            }
            _ => (1, false),
        };
        let put = if is_put { pieces } else { 0 };
        bytes.saturating_add(put).saturating_mul(widest)
    }
}
