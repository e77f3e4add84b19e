//! The steps of a tokenizer file as they are written, and what of them can be done in a shorter way.

use serde::Deserialize;

use crate::bpe::reached::Alphabet;
use crate::error::EncodingError;
use crate::files::tokenizer_json::{Unread, Way};
use crate::split::finder::Finder;
use crate::split::oniguruma;
use crate::split::patterns::{self, DEEPSEEK, GPT2, Pattern};
use crate::split::prefix::Prefix;
use crate::split::splitter::Splitter;
use crate::split::sync::{BLANK, BoundaryClasses};
use crate::steps::normalizer::{NormalizationForm, Normalizer};
use crate::steps::pre_tokenizer::{Behavior, PreTokenizer};

#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum JsonNormalizer {
    #[serde(rename = "NFC")]
    Nfc,
    #[serde(rename = "NFKC")]
    Nfkc,
    Lowercase,
    Prepend {
        prepend: String,
    },
    Replace {
        pattern: JsonPattern,
        content: String,
    },
    Sequence {
        normalizers: Vec<JsonNormalizer>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) enum JsonPattern {
    Regex(String),
    String(String),
}

#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum JsonPreTokenizer {
    ByteLevel {
        #[serde(default = "yes")]
        add_prefix_space: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    Split {
        pattern: JsonPattern,
        behavior: Behavior,
        #[serde(default)]
        invert: bool,
    },
    Digits {
        individual_digits: bool,
    },
    Punctuation {
        #[serde(default = "isolated")]
        behavior: Behavior,
    },
    Whitespace,
    WhitespaceSplit,
    Metaspace {
        replacement: char,
        add_prefix_space: Option<bool>,
        prepend_scheme: Option<Prefix>,
        split: Option<bool>,
    },
    Sequence {
        pretokenizers: Vec<JsonPreTokenizer>,
    },
    #[serde(other)]
    Other,
}

const fn yes() -> bool {
    true
}

const fn isolated() -> Behavior {
    Behavior::Isolated
}

impl JsonPattern {
    fn finder(&self) -> Result<Finder, Unread> {
        match self {
            Self::String(words) if words.is_empty() => Err("it looks for the empty text".to_owned().into()),
            Self::String(words) => Ok(Finder::Text(words.clone())),
            Self::Regex(pattern) => finder(&oniguruma::translated(pattern)?),
        }
    }

    fn is_space(&self) -> bool {
        matches!(self, Self::String(words) if words == " ")
    }

    /// The regular expression in the syntax of the engines here.
    fn regex(&self) -> Option<String> {
        match self {
            Self::String(_) => None,
            Self::Regex(pattern) => oniguruma::translated(pattern).ok(),
        }
    }

    /// Bytes of the shortest match; 0 where it may be empty or is not known.
    fn shortest(&self) -> u64 {
        let bytes = match self {
            Self::String(words) => Some(words.len()),
            Self::Regex(_) => self
                .regex()
                .and_then(|pattern| regex_syntax::parse(&pattern).ok()?.properties().minimum_len()),
        };
        bytes.map_or(0, |bytes| bytes as u64)
    }
}

/// The finder of a pattern in the syntax of the engines here.
fn finder(pattern: &str) -> Result<Finder, Unread> {
    patterns::finder(pattern).map_err(|error| error.to_string().into())
}

/// Steps of a file: its normalizers and what cuts. Published files have up to ten.
const MAX_STEPS: usize = 64;

/// Bytes of a text for which the growth of texts is calculated, and what the steps may make of them: 64 times as many. NFKC, small
/// letters and a sign for spaces make up to 50 times as many.
const SHORT_TEXT: u64 = 16;
const MOST_MADE: u64 = 64 * SHORT_TEXT;

/// Whether a file has too many steps, or steps that could make a text too long, so that counting needs time and memory in
/// proportion to the text.
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
    let normalised = normalizers
        .iter()
        .fold(SHORT_TEXT, |bytes, step| step.grown(bytes));
    let (made, _) = cutters.iter().fold((normalised, 1), |(bytes, pieces), step| {
        let bytes = step.grown(bytes, pieces);
        (bytes, bytes)
    });
    if made > MOST_MADE {
        return refused(format!(
            "its steps could make {made} bytes of a text of {SHORT_TEXT}; at most {MOST_MADE} are allowed"
        ));
    }
    Ok(())
}

impl JsonNormalizer {
    /// The steps that it consists of.
    pub(super) fn flat(&self) -> Vec<&Self> {
        match self {
            Self::Sequence { normalizers } => normalizers.iter().flat_map(Self::flat).collect(),
            _ => vec![self],
        }
    }

    /// Bytes that it may make of so many.
    fn grown(&self, bytes: u64) -> u64 {
        match self {
            // By Unicode's own figures for UTF-8: what makes most of its bytes is U+1D160, and U+FDFA.
            Self::Nfc => bytes.saturating_mul(3),
            Self::Nfkc => bytes.saturating_mul(11),
            Self::Lowercase => bytes.saturating_mul(3).div_ceil(2),
            Self::Prepend { prepend } => bytes.saturating_add(prepend.len() as u64),
            Self::Replace { pattern, content } => {
                let content = content.len() as u64;
                match pattern.shortest() {
                    // Also before and behind every character.
                    0 => bytes.saturating_add(bytes.saturating_add(1).saturating_mul(content)),
                    shortest => bytes.saturating_mul(content).div_ceil(shortest).max(bytes),
                }
            }
            Self::Sequence { .. } | Self::Other => bytes,
        }
    }

    /// The step, or why only the crate can do it.
    pub(super) fn read(&self) -> Result<Normalizer, Unread> {
        Ok(match self {
            Self::Nfc => Normalizer::Form(NormalizationForm::Nfc),
            Self::Nfkc => Normalizer::Form(NormalizationForm::Nfkc),
            Self::Lowercase => Normalizer::Lowercase,
            Self::Prepend { prepend } => Normalizer::Prepend(prepend.clone()),
            Self::Replace { pattern, content } => Normalizer::Replace(pattern.finder()?, content.clone()),
            Self::Sequence { .. } | Self::Other => {
                let reason = "it normalises texts by more than NFC, NFKC, Prepend, Replace and Lowercase";
                return Err(reason.to_owned().into());
            }
        })
    }
}

impl JsonPreTokenizer {
    /// The steps that it consists of.
    pub(super) fn flat(&self) -> Vec<&Self> {
        match self {
            Self::Sequence { pretokenizers } => pretokenizers.iter().flat_map(Self::flat).collect(),
            _ => vec![self],
        }
    }

    pub(super) fn is_byte_level(&self) -> bool {
        matches!(self, Self::ByteLevel { .. })
    }

    /// Bytes that it may make of so many in so many pieces.
    fn grown(&self, bytes: u64, pieces: u64) -> u64 {
        let widest = |sign: u64, is_put: bool| {
            let signs = bytes.saturating_add(if is_put { pieces } else { 0 });
            signs.saturating_mul(sign)
        };
        match self {
            Self::ByteLevel { add_prefix_space, .. } => widest(2, *add_prefix_space),
            Self::Metaspace { replacement, .. } => {
                widest(replacement.len_utf8() as u64, self.prefix() != Prefix::None)
            }
            _ => bytes,
        }
    }

    /// The step, or why only the crate can do it.
    pub(super) fn read(&self) -> Result<PreTokenizer, Unread> {
        let split = |finder, behavior, invert| PreTokenizer::Split {
            finder,
            behavior,
            invert,
        };
        Ok(match self {
            Self::ByteLevel {
                add_prefix_space,
                use_regex,
            } => PreTokenizer::ByteLevel {
                prefix_space: *add_prefix_space,
                split: *use_regex,
            },
            Self::Split {
                pattern,
                behavior,
                invert,
            } => split(pattern.finder()?, *behavior, *invert),
            Self::Digits { individual_digits } => {
                let behavior = if *individual_digits {
                    Behavior::Isolated
                } else {
                    Behavior::Contiguous
                };
                split(Finder::Character(char::is_numeric), behavior, false)
            }
            Self::Punctuation { behavior } => split(finder(r"[\p{P}!-/:-@\[-`{-~]")?, *behavior, false),
            // The one pattern that `tokenizers` compiles with the engine here.
            Self::Whitespace => split(finder(r"\w+|[^\w\s]+")?, Behavior::Removed, true),
            Self::WhitespaceSplit => split(Finder::Character(char::is_whitespace), Behavior::Removed, false),
            Self::Metaspace {
                replacement, split, ..
            } => PreTokenizer::Metaspace {
                sign: *replacement,
                prefix: self.prefix(),
                split: split.unwrap_or(true),
            },
            Self::Sequence { .. } | Self::Other => {
                let reason = "its texts are cut by a step that is known to that crate alone";
                return Err(reason.to_owned().into());
            }
        })
    }

    /// The sign that `Metaspace` puts before pieces; no other step puts one.
    fn prefix(&self) -> Prefix {
        match self {
            Self::Metaspace {
                add_prefix_space,
                prepend_scheme,
                ..
            } if *add_prefix_space != Some(false) => prepend_scheme.unwrap_or(Prefix::UnlessBlank),
            _ => Prefix::None,
        }
    }
}

/// How bytes are cut, and where every text may be cut, where nothing else is done to them.
pub(super) fn bytes(steps: &[&JsonPreTokenizer]) -> Option<Way> {
    let (
        JsonPreTokenizer::ByteLevel {
            add_prefix_space: false,
            use_regex,
        },
        cuts,
    ) = steps.split_last()?
    else {
        return None;
    };
    let mut cuts: Vec<SplitRule> = cuts.iter().map(|step| step.cut()).collect::<Option<_>>()?;
    cuts.extend(use_regex.then(|| SplitRule::Pattern(GPT2.published().to_owned())));
    let way = |cut, splitter, boundaries| Way {
        cut,
        splitter,
        boundaries,
        ..Way::whole(Alphabet::Bytes, "", Prefix::None)
    };
    if let [SplitRule::Pattern(pattern)] = cuts.as_slice()
        && let Ok(pattern) = Pattern::spelled(pattern)
    {
        let said = pattern.cuts();
        let (splitter, boundaries) = pattern.into_cut();
        return Some(way(said, splitter, boundaries));
    }
    let boundaries = match cuts.as_slice() {
        [SplitRule::Digit, SplitRule::Pattern(pattern)] if pattern == GPT2.published() => {
            BoundaryClasses::GPT2_DIGITS
        }
        [
            SplitRule::Pattern(first),
            SplitRule::Pattern(second),
            SplitRule::Pattern(third),
        ] if [first, second, third] == DEEPSEEK.each_ref() => BoundaryClasses::MODERN,
        _ => BoundaryClasses::NONE,
    };
    let finders = cuts.iter().map(|cut| match cut {
        SplitRule::Digit => Some(Finder::Character(char::is_numeric)),
        SplitRule::Pattern(pattern) => patterns::finder(pattern).ok(),
    });
    let splitter = Splitter::Steps(finders.collect::<Option<_>>()?);
    Some(way("cut step by step".to_owned(), splitter, boundaries))
}

/// A step that leaves what it finds as pieces, and what lies between.
enum SplitRule {
    Digit,
    /// In the syntax of the engines here.
    Pattern(String),
}

impl JsonPreTokenizer {
    fn cut(&self) -> Option<SplitRule> {
        match self {
            Self::Digits {
                individual_digits: true,
            } => Some(SplitRule::Digit),
            Self::Split {
                pattern,
                behavior: Behavior::Isolated,
                invert: false,
            } => pattern.regex().map(SplitRule::Pattern),
            // Where a pattern covers every text, there is nothing between its matches.
            Self::Split {
                pattern,
                behavior: Behavior::Removed,
                invert: true,
            } => pattern
                .regex()
                .filter(|pattern| Pattern::spelled(pattern).is_ok())
                .map(SplitRule::Pattern),
            _ => None,
        }
    }
}

/// What stands before texts, where all that is done to them is to write a sign for each space.
pub(super) fn blanks(normalizers: &[&JsonNormalizer], steps: &[&JsonPreTokenizer]) -> Option<Prefix> {
    if let (
        [],
        [
            step @ JsonPreTokenizer::Metaspace {
                replacement: BLANK,
                split: Some(false),
                ..
            },
        ],
    ) = (normalizers, steps)
    {
        return Some(step.prefix());
    }
    let is_blank = |text: &str| text.chars().eq([BLANK]);
    let is_sign = |step: &JsonNormalizer| match step {
        JsonNormalizer::Replace { pattern, content } => pattern.is_space() && is_blank(content),
        _ => false,
    };
    let is_first = |step: &JsonNormalizer| match step {
        JsonNormalizer::Prepend { prepend } => is_blank(prepend),
        _ => false,
    };
    let before = match normalizers {
        [step] if is_sign(step) => Prefix::None,
        [one, other] if is_sign(one) && is_first(other) || is_first(one) && is_sign(other) => Prefix::Always,
        _ => return None,
    };
    // There is no space left that a split could find.
    let is_cut = |step: &&JsonPreTokenizer| match step {
        JsonPreTokenizer::Split { pattern, invert, .. } => *invert || !pattern.is_space(),
        _ => true,
    };
    (!steps.iter().any(is_cut)).then_some(before)
}
