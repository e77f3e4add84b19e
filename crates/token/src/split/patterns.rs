//! The patterns that encodings cut texts with: the known families, and any other pattern that cuts every text.
//!
//! A family has a hand-written scanner, and places where every text may be cut. Nothing is assumed about any other pattern: it is run as
//! written, on whole texts. A pattern is refused if it needs to look around, except for the one look-ahead at the end of all published
//! patterns, or if it leaves some text in no piece.

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use regex_syntax::ast::{self, Ast};
use thiserror::Error;

use crate::split::finder::Finder;
use crate::split::scan::Style;
use crate::split::splitter::Splitter;
use crate::split::sync::BoundaryClasses;

/// Patterns that cut every text in the same way.
pub(crate) struct Family {
    /// The name that a pipeline gives.
    pub(crate) name: &'static str,
    pub(crate) style: Style,
    pub(crate) boundaries: BoundaryClasses,
    /// The spellings in use. The first one is given to the reference.
    pub(super) spellings: &'static [&'static str],
}

impl Family {
    /// The pattern as published.
    #[expect(clippy::indexing_slicing, reason = "every family was published")]
    pub(crate) fn published(&self) -> &'static str {
        self.spellings[0]
    }
}

/// The families, newest first.
pub(crate) static FAMILIES: &[&Family] = &[&O200K, &QWEN, &LLAMA3, &CL100K, &GPT2];

/// The family of `o200k_base`.
pub(crate) static O200K: Family = Family {
    name: "o200k",
    style: Style::O200K,
    boundaries: BoundaryClasses::MODERN,
    spellings: &[tiktoken_rs::O200K_BASE_PAT_STR],
};

/// The family of Qwen 2 and 3.
pub(crate) static QWEN: Family = Family {
    name: "qwen",
    style: Style::QWEN,
    boundaries: BoundaryClasses::QWEN,
    spellings: &[concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )],
};

/// The family of Llama 3.
pub(crate) static LLAMA3: Family = Family {
    name: "llama3",
    style: Style::LLAMA3,
    boundaries: BoundaryClasses::MODERN,
    spellings: &[concat!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )],
};

/// The family of `cl100k_base`.
pub(crate) static CL100K: Family = Family {
    name: "cl100k",
    style: Style::CL100K,
    boundaries: BoundaryClasses::MODERN,
    spellings: &[concat!(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+",
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    )],
};

/// The family of GPT-2, `r50k_base` and `p50k_base`.
pub(crate) static GPT2: Family = Family {
    name: "gpt2",
    style: Style::GPT2,
    boundaries: BoundaryClasses::GPT2,
    spellings: &[
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    ],
};

/// The pattern of Mistral's `tekken.json`: that of `o200k_base` without contractions, and with every digit a piece.
pub(crate) const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// The patterns of `DeepSeek`; each cuts the pieces of the ones before it.
pub(crate) const DEEPSEEK: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"##,
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
];

/// The ends of published patterns: a run of white space gives its last character to what follows.
const TAILS: [&str; 2] = [r"|\s+(?!\S)|\s+", r"|\s+(?!\S)|\s"];

/// The pattern of an encoding.
pub(crate) enum Pattern {
    /// The pattern of a known family.
    Known(&'static Family),
    /// Any other pattern.
    CustomEncoding {
        /// As written by the user.
        text: Box<str>,
        regex: Box<Regex>,
    },
}

impl Pattern {
    /// Reads the name of a family, or a pattern.
    pub(crate) fn read(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_PATTERN_BYTES {
            let problem = format!("has {} bytes; at most {MAX_PATTERN_BYTES} are read", text.len());
            return Err(PatternError(problem));
        }
        let named = FAMILIES.iter().find(|family| family.name == text);
        named.map_or_else(|| Self::spelled(text), |family| Ok(Self::Known(family)))
    }

    /// Reads a pattern, which may be that of a family.
    pub(crate) fn spelled(text: &str) -> Result<Self, PatternError> {
        if let Some(family) = family_of(text) {
            return Ok(Self::Known(family));
        }
        if text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
        {
            let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
            let problem = format!("`{text}` is not a known family; known are {}", names.join(", "));
            return Err(PatternError(problem));
        }
        let regex = compiled(text)?;
        check_cover(&regex)?;
        Ok(Self::CustomEncoding {
            text: text.into(),
            regex: Box::new(regex),
        })
    }

    /// The pattern as published, for the reference.
    pub(crate) fn published(&self) -> &str {
        match self {
            Self::Known(family) => family.published(),
            Self::CustomEncoding { text, .. } => text,
        }
    }

    /// Describes the cut in a few words, for the source of the encoding.
    pub(crate) fn cuts(&self) -> String {
        match self {
            Self::Known(family) => format!("cut as {} does", family.name),
            Self::CustomEncoding { .. } => "cut by its own pattern".to_owned(),
        }
    }

    /// The splitter, and the classes between which every text may be cut.
    pub(crate) fn into_cut(self) -> (Splitter, BoundaryClasses) {
        match self {
            Self::Known(family) => (Splitter::scan(family.style), family.boundaries),
            Self::CustomEncoding { text, regex } if &*text == TEKKEN => {
                (Splitter::Regex(regex), BoundaryClasses::QWEN)
            }
            Self::CustomEncoding { regex, .. } => (Splitter::Regex(regex), BoundaryClasses::NONE),
        }
    }
}

/// An error in a pattern: it cannot be computed, or it does not cut every text. The message continues "the pattern".
#[derive(Debug, PartialEq, Eq, Error)]
#[error("the pattern {0}")]
pub struct PatternError(pub(super) String);

/// The family with this pattern among its spellings.
pub(crate) fn family_of(pattern: &str) -> Option<&'static Family> {
    let mut families = FAMILIES.iter().copied();
    families.find(|family| family.spellings.contains(&pattern))
}

/// The finder of a pattern, which may leave text out.
pub(crate) fn finder(pattern: &str) -> Result<Finder, PatternError> {
    match family_of(pattern) {
        Some(family) => Ok(Finder::Family(family.style)),
        None => Ok(Finder::Regex(Box::new(compiled(pattern)?))),
    }
}

/// Compiles a pattern; a look-ahead at its end is replaced by plain white space as a second pattern.
pub(crate) fn compiled(text: &str) -> Result<Regex, PatternError> {
    let body = without_tail(text);
    check(body)?;
    let regex = if body.len() < text.len() {
        Regex::new_many(&[body, r"\s+"])
    } else {
        Regex::new(text)
    };
    regex.map_err(|_| PatternError("is too large to be computed".to_owned()))
}

/// The largest sum of the patterns in a file, in bytes. Published patterns have up to 400, and a search may take as many steps per
/// character as the pattern has bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 4 * 1024;

/// The pattern without the look-ahead at its end.
pub(crate) fn without_tail(text: &str) -> &str {
    let bodies = TAILS.iter().find_map(|tail| text.strip_suffix(tail));
    bodies.unwrap_or(text)
}

/// Checks that a pattern without its tail can be computed as the reference does.
fn check(body: &str) -> Result<(), PatternError> {
    let parsed = ast::parse::Parser::new()
        .parse(body)
        .map_err(|error| misread(error.span().start.offset, &error.kind().to_string()))?;
    ast::visit(&parsed, Possessive)?;
    let hir = regex_syntax::hir::translate::Translator::new()
        .translate(body, &parsed)
        .map_err(|error| misread(error.span().start.offset, &error.kind().to_string()))?;
    if !hir.properties().look_set().is_empty() {
        return Err(PatternError(
            r"looks around with `^`, `$` or `\b`; only a final `\s+(?!\S)|\s+` may".to_owned(),
        ));
    }
    // A part that matches nothing has an unknown length: `[^\s\S]*` is such a part, and it matches the empty text.
    if hir.properties().minimum_len().is_none_or(|bytes| bytes == 0) {
        return Err(PatternError(
            "matches the empty text, or nothing; every alternative must take a character".to_owned(),
        ));
    }
    Ok(())
}

/// Checks that a pattern leaves no text out.
fn check_cover(regex: &Regex) -> Result<(), PatternError> {
    let mut cache = regex.create_cache();
    let mut buffer = [0; 4];
    for character in '\0'..=char::MAX {
        let text: &str = character.encode_utf8(&mut buffer);
        let input = Input::new(text).anchored(Anchored::Yes);
        if regex.search_half_with(&mut cache, &input).is_none() {
            return Err(PatternError(format!(
                "leaves U+{:04X} in no piece; add an alternative for it, for example `|.` with `(?s)`",
                u32::from(character)
            )));
        }
    }
    Ok(())
}

fn misread(byte: usize, problem: &str) -> PatternError {
    PatternError(format!(
        r"is not understood at byte {byte}: {problem}; only a final `\s+(?!\S)|\s+` may look ahead"
    ))
}

/// Finds possessive quantifiers, such as `x++`: the reference does not backtrack into them, and the regular expression engine would read
/// them as nested repetitions.
struct Possessive;

impl ast::Visitor for Possessive {
    type Output = ();
    type Err = PatternError;

    fn finish(self) -> Result<(), PatternError> {
        Ok(())
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), PatternError> {
        match ast {
            Ast::Repetition(outer) if matches!(*outer.ast, Ast::Repetition(_)) => Err(PatternError(format!(
                "has a possessive quantifier at byte {}; write it without the last `+`, or name its family",
                outer.op.span.start.offset
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(pattern: &str) -> String {
        match Pattern::read(pattern) {
            Ok(_) => panic!("{pattern} was taken"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_family_is_known_by_its_name_and_by_every_spelling() {
        for family in FAMILIES {
            for word in family.spellings.iter().chain([&family.name]) {
                let found = Pattern::read(word).unwrap();
                assert!(
                    matches!(found, Pattern::Known(known) if known.name == family.name),
                    "{word}"
                );
            }
        }
    }

    #[test]
    fn a_pattern_of_ones_own_keeps_its_text_and_has_no_boundaries() {
        for text in [r"\p{L}+|[^\p{L}]", r" ?\w+|[^\s\w]+|\s+(?!\S)|\s+", r"(?s)."] {
            let pattern = Pattern::read(text).unwrap();
            assert_eq!(pattern.published(), text);
            assert!(pattern.into_cut().1 == BoundaryClasses::NONE);
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_computed_exactly_is_refused_with_a_way_out() {
        for (pattern, expected) in [
            ("llama4", "`llama4` is not a known family; known are o200k, qwen"),
            (r"(?<=a)b|.", "is not understood at byte 0: look-around"),
            (r"\w+(?!\d)|\W", "is not understood at byte 3: look-around"),
            (r"(\w)\1|\W", "is not understood at byte 4: backreferences"),
            (r"\w+$|\w|\W", "looks around with"),
            (r"\bx|\w|\W", "looks around with"),
            (r"\w*|\W", "matches the empty text"),
            (r"\w++|\W", "has a possessive quantifier at byte 3"),
            (r"\w{1,3}+|\W", "has a possessive quantifier at byte 7"),
            (r"\p{L}+|\s+(?!\S)|\s+", "leaves U+0000 in no piece"),
            (r"[^\n]+", "leaves U+000A in no piece"),
            (r"\w|\W|[^\s\S]*", "matches the empty text, or nothing"),
            (&r"\w|".repeat(2_000), "has 6000 bytes; at most 4096"),
            (r"(?:\w{500}){500}|\w|\W", "is too large"),
            (r"\w|[\W|\s+(?!\S)|\s+", "is not understood"),
        ] {
            let message = refused(pattern);
            assert!(message.contains(expected), "{pattern}: {message}");
        }
    }
}
